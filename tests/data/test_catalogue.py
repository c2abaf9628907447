"""The catalogue: a user's own data set, and every way in which a source is not what its file says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from elastic.contracts.params.collect import DatasetSource
from elastic.data.catalogue import CATALOGUE, dataset_facts, dataset_rows, load_source, read_source
from elastic.errors import DataError

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path.stem for path in (ROOT / CATALOGUE).glob("*.yaml"))
ROWS = [
    {"q": "What is 1 + 1?", "a": "2", "year": 2022},
    {"q": "What is 2 + 2?", "a": "4", "year": 2023},
    {"q": "What is 3 + 3?", "a": "6", "year": 2024},
]
MINE: dict[str, Any] = {
    "name": "mine",
    "description": "sums",
    "domain": "math",
    "origin": {"file": "mine.jsonl"},
    "licence": {"name": "CC0-1.0"},
    "uses": ["training", "validation", "test"],
    "reader": "plain",
    "fields": {"question": "q", "answer": "a"},
    "rows": 3,
    "near_duplicates": "exact",
}


def write(folder: Path, raw: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    values = {**MINE, **changes}
    (folder / f"{values['name']}.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    lines = [json.dumps(row) for row in raw or ROWS]
    (folder / "mine.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def wanted(role: str, name: str = "mine", **values: Any) -> DatasetSource:
    return DatasetSource.model_validate({"kind": "dataset", "name": name, "role": role, **values})


@pytest.mark.parametrize("name", SHIPPED)
def test_every_file_of_the_catalogue_is_valid(name: str) -> None:
    assert load_source(name, ROOT / CATALOGUE).name == name


@pytest.mark.parametrize("name", SHIPPED)
def test_every_source_may_be_used_for_something(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    facts = dataset_facts(wanted("test", name), 1)
    assert facts.licence
    assert facts.origin
    assert name.startswith("gpqa") == ("plain text" in facts.forbids)


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_a_source_of_ones_own_is_one_yaml_file_and_its_rows(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, origin={"file": f"mine.{suffix}"})
    if suffix == "json":
        (tmp_path / "mine.json").write_text(json.dumps(ROWS), encoding="utf-8")
    elif suffix == "csv":
        pl.DataFrame(ROWS).write_csv(tmp_path / "mine.csv")
    elif suffix == "parquet":
        pl.DataFrame(ROWS).write_parquet(tmp_path / "mine.parquet")
    rows = list(read_source("mine", tmp_path))
    assert [(row["question"], row["answer"], row["source_id"]) for row in rows] == [
        ("What is 1 + 1?", "2", "0"),
        ("What is 2 + 2?", "4", "1"),
        ("What is 3 + 3?", "6", "2"),
    ]
    assert all((row["source"], row["licence"], row["domain"]) == ("mine", "CC0-1.0", "math") for row in rows)


def test_a_csv_file_keeps_its_text(tmp_path: Path) -> None:
    write(tmp_path, origin={"file": "mine.csv"})
    (tmp_path / "mine.csv").write_text('q,a\none,007\ntwo,None\n"three, too","1,5"\n', encoding="utf-8")
    assert [row["answer"] for row in read_source("mine", tmp_path)] == ["007", "None", "1,5"]


def test_answers_of_mixed_kinds_are_read(tmp_path: Path) -> None:
    rows = [{"q": "one", "a": 2}, {"q": "two", "a": "\\frac{1}{2}"}, {"q": "three", "a": None}]
    answers = [row["answer"] for row in read_source("mine", write(tmp_path, rows))]
    assert answers == ["2", "\\frac{1}{2}", ""]


def test_a_filter_keeps_rows_by_value(tmp_path: Path) -> None:
    write(tmp_path, filter={"field": "year", "one_of": [2022, 2024]}, rows=2)
    assert [(row["source_id"], row["answer"]) for row in read_source("mine", tmp_path)] == [("0", "2"), ("2", "6")]


def test_a_filter_keeps_rows_by_date(tmp_path: Path) -> None:
    dates = ["2023-04-30T23:00:00", "2023-05-01T00:00:00", "2024-07-31T12:00:00", "2024-08-01T00:00:00"]
    rows = [{"q": f"number {number}", "a": "1", "date": date} for number, date in enumerate(dates)]
    write(tmp_path, rows, filter={"field": "date", "at_least": "2023-05-01", "below": "2024-08-01"}, rows=2)
    assert [row["source_id"] for row in read_source("mine", tmp_path)] == ["1", "2"]


def test_a_limit_keeps_the_first_rows_and_all_are_counted(tmp_path: Path) -> None:
    rows = list(dataset_rows(wanted("any", limit=2), write(tmp_path)))
    assert [row["answer"] for row in rows] == ["2", "4"]
    with pytest.raises(DataError, match=r"mine\.yaml: has 3 rows, not 4"):
        list(dataset_rows(wanted("any", limit=2), write(tmp_path, rows=4)))


def test_several_sources_are_one_set(tmp_path: Path) -> None:
    write(tmp_path, name="later", licence={"name": "MIT", "forbids": ["redistribution"]})
    joined = {"name": "both", "description": "both", "parts": ["mine", "later"], "rows": 6}
    (write(tmp_path) / "both.yaml").write_text(yaml.safe_dump(joined), encoding="utf-8")
    rows = list(dataset_rows(wanted("test", "both"), tmp_path))
    assert [row["source_id"] for row in rows] == [f"{part}/{n}" for part in ("mine", "later") for n in range(3)]
    assert {row["source"] for row in rows} == {"both"}
    facts = dataset_facts(wanted("test", "both"), 6, tmp_path)
    assert (facts.licence, facts.forbids) == ("CC0-1.0; MIT", ("redistribution",))
    joined["rows"] = 7
    (tmp_path / "both.yaml").write_text(yaml.safe_dump(joined), encoding="utf-8")
    with pytest.raises(DataError, match=r"both\.yaml: has 6 rows, not 7"):
        list(read_source("both", tmp_path))


def test_a_part_may_not_be_used_beyond_what_its_own_file_allows(tmp_path: Path) -> None:
    write(tmp_path, name="later", uses=["test"])
    joined = {"name": "both", "description": "both", "parts": ["mine", "later"], "rows": 6}
    (write(tmp_path) / "both.yaml").write_text(yaml.safe_dump(joined), encoding="utf-8")
    with pytest.raises(DataError, match="later is no source for training"):
        list(dataset_rows(wanted("training", "both"), tmp_path))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"rows": 2}, r"mine\.yaml: has 3 rows, not 2"),
        ({"rows": None}, r"mine\.yaml: nobody has counted its rows yet; 3 were read\n.*write rows: 3"),
        ({"fields": {"question": "q", "answer": "gold"}}, r"row 0: has no field 'gold', only q, a, year"),
        ({"fields": {"question": "q"}}, r"fields: the reader plain needs answer"),
        ({"fields": {"question": "q", "answer": "a", "points": "year"}}, r"fields: the reader plain knows no points"),
        ({"fields": {"question": "year", "answer": "a"}}, r"row 0: the reader plain cannot read it: holds a int"),
        ({"reader": "verl", "fields": {"chat": "q", "reward_model": "a"}}, r"row 0: the reader verl cannot read it"),
        ({"filter": {"field": "month", "one_of": [1]}}, r"row 0: has no field 'month'"),
        ({"filter": {"field": "year"}}, r"filter: give either one_of, or at_least and below"),
        ({"origin": {"file": "other.jsonl"}}, r"mine\.yaml: there is no file .*other\.jsonl"),
        ({"origin": {"file": "../mine.jsonl"}}, r"must be a name beside this YAML file, or a path in data/raw"),
        ({"origin": {"file": "mine.txt"}}, r"mine\.txt"),
        ({"origin": {"hub": "me/mine", "revision": "main"}}, r"origin\.hub\.revision: String should match"),
        ({"origin": {"page": "mine"}}, r"names neither a `hub` id, nor a `repository`, nor a `file`"),
        ({"licence": {"name": "X", "forbids": ["training"]}}, r"uses has training, which the licence forbids"),
        ({"licence": {"name": "X", "forbids": ["fun"]}}, r"licence\.forbids\.0"),
        ({"policy": {"bogus": 1}}, r"policy\.bogus"),
        ({"near_duplicates": {"threshold": 1.5, "words": 5}}, r"near_duplicates.*threshold"),
        ({"colour": "red"}, r"colour: .*remove the key"),
    ],
)
def test_a_source_that_is_not_what_its_file_says_is_refused(tmp_path: Path, changes: Any, named: str) -> None:
    with pytest.raises(DataError, match=f"(?s){named}"):
        list(dataset_rows(wanted("any"), write(tmp_path, **changes)))


def test_a_row_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"mine\.yaml, row 1: has no question"):
        list(read_source("mine", write(tmp_path, [ROWS[0], {**ROWS[1], "q": " "}, ROWS[2]])))


def test_a_file_that_cannot_be_parsed_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "mine.jsonl").write_text('{"q": "What', encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.yaml: cannot be read"):
        list(read_source("mine", tmp_path))


def test_a_source_that_nobody_described_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no source 'yours'\n.*use one of mine"):
        load_source("yours", write(tmp_path))
    (tmp_path / "mine.yaml").rename(tmp_path / "yours.yaml")
    with pytest.raises(DataError, match=r"yours\.yaml: its name is 'mine'"):
        load_source("yours", tmp_path)


@pytest.mark.parametrize("role", ["any", "training", "validation"])
def test_a_role_that_a_test_set_may_not_have_is_refused(tmp_path: Path, role: str) -> None:
    with pytest.raises(DataError, match=r"collect\.sources\.mine\.role: mine is no source for .*\n.*use one of test"):
        list(dataset_rows(wanted(role), write(tmp_path, uses=["test"])))


def test_a_role_that_the_licence_forbids_is_refused(tmp_path: Path) -> None:
    write(tmp_path, uses=["test"], licence={"name": "Odd-1.0", "forbids": ["training"]})
    with pytest.raises(DataError, match=r"its licence \(Odd-1\.0\) forbids training"):
        list(dataset_rows(wanted("training"), tmp_path))


def test_what_may_not_be_shown_in_plain_text_is_read_but_never_collected(tmp_path: Path) -> None:
    write(tmp_path, uses=["test"], licence={"name": "CC-BY-4.0", "forbids": ["plain text"]})
    with pytest.raises(DataError, match="must not appear in plain text"):
        list(dataset_rows(wanted("test"), tmp_path))
    assert len(list(read_source("mine", tmp_path))) == 3


def test_only_what_a_user_may_give_fits_the_params() -> None:
    with pytest.raises(ValueError, match="name"):
        wanted("test", "../mine")
    with pytest.raises(ValueError, match="role"):
        wanted("teaching")
