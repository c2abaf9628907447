"""Sources: worlds through reasoning-gym's interface, and folders of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from elastic.contracts.params.collect import FilesSource, GeneratedSource
from elastic.data.sources import collect_rows
from elastic.errors import DataError, ElasticError, ParamsError


def _generated(dataset: str, **values: Any) -> GeneratedSource:
    return GeneratedSource(
        **{"kind": "generated", "name": "world", "rows": 3, "seed": 5, "licence": "MIT", "dataset": dataset, **values}
    )


def test_chains_come_with_demonstrations_and_the_sources_facts() -> None:
    rows = list(collect_rows(_generated("elastic_chains", role="training", config={"min_terms": 3, "max_terms": 3})))
    assert len(rows) == 3
    for row in rows:
        assert (row["source"], row["role"], row["licence"]) == ("world", "training", "MIT")
        assert row["question"]
        assert row["thinking"]
        assert f"\\boxed{{{row['answer']}}}" in row["solution"]


def test_equal_seeds_give_equal_rows() -> None:
    first, again, other = (list(collect_rows(_generated("elastic_chains", seed=seed))) for seed in (7, 7, 99))
    assert first == again
    assert first != other


def test_any_dataset_of_reasoning_gym_works_without_demonstrations() -> None:
    rows = list(collect_rows(_generated("chain_sum", config={"min_terms": 2, "max_terms": 2, "max_digits": 1})))
    assert len(rows) == 3
    for row in rows:
        expression = row["question"].rpartition(":")[2].strip(" =")
        assert eval(expression) == int(row["answer"])
        assert row["thinking"] is None
        assert row["solution"] is None


@pytest.mark.parametrize(
    ("source", "error", "named"),
    [
        (_generated("chian_sum"), ParamsError, "'chian_sum'"),
        (_generated("chain_sum", config={"bogus": 1}), ParamsError, "bogus"),
        (_generated("elastic_chains", config={"bogus": 1}), ParamsError, "bogus"),
        (_generated("chain_sum", config={"seed": 1}), ParamsError, "seed"),
        (_generated("chain_sum", config={"min_terms": 9, "max_terms": 2}), ParamsError, "max_terms"),
        (_generated("chain_sum", config={"min_terms": "a"}), ParamsError, "refuses its configuration"),
        (_generated("elastic_chains", config={"max_total": 1}), ParamsError, "max_total"),
        (_generated("rush_hour"), DataError, "rush_hour"),
    ],
)
def test_a_source_that_cannot_be_drawn_is_an_error_that_names_the_fault(
    source: GeneratedSource, error: type[ElasticError], named: str
) -> None:
    with pytest.raises(error, match=named):
        list(collect_rows(source))


def _files(folder: str) -> FilesSource:
    return FilesSource(kind="files", name="incoming", folder=folder, licence="mine")


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("data/raw")
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("no problems here", encoding="utf-8")
    assert list(collect_rows(_files("data/raw"))) == []
    (folder / "b.jsonl").write_text('{"question": "second", "answer": 2}', encoding="utf-8")
    (folder / "a.jsonl").write_text('{"question": "first", "answer": "1"}\n', encoding="utf-8")
    assert list(collect_rows(_files("data/raw"))) == [
        {
            "source": "incoming",
            "source_id": str(number),
            "role": "training",
            "licence": "mine",
            "domain": "math",
            "thinking": None,
            "solution": None,
            **row,
        }
        for number, row in enumerate(({"question": "first", "answer": "1"}, {"question": "second", "answer": "2"}))
    ]


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamsError, match="no such folder: data/raw/mine"):
        list(collect_rows(_files("data/raw/mine")))


@pytest.mark.parametrize("folder", ["/data/raw", "data/other", "data/raw/../../x", "data/raws"])
def test_a_folder_that_is_not_versioned_is_refused(folder: str) -> None:
    with pytest.raises(ValidationError, match="data/raw"):
        _files(folder)
