"""The stage collect on a small world and a folder of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastic.contracts.frames import Collected, read_frame
from elastic.contracts.params.collect import CollectParams
from elastic.contracts.records import read_rows
from elastic.contracts.sources import NearDuplicates, SourceFacts
from elastic.errors import DataError
from stages.collect import run
from stages.common import Context

PARAMS = CollectParams.model_validate(
    {
        "sources": [
            {"kind": "files", "name": "mine", "folder": "data/raw", "licence": "CC0"},
            {
                "kind": "generated",
                "name": "world",
                "dataset": "elastic_chains",
                "rows": 20,
                "seed": 1,
                "licence": "MIT",
            },
        ]
    }
)
OUT, FACTS = Path("out/problems.parquet"), Path("out/sources.json")
MINE = """
name: mine_too
description: sums
domain: math
origin: {file: mine.csv}
licence: {name: CC-BY-NC-4.0, notes: they are mine, forbids: [commercial use]}
uses: [training]
reader: plain
fields: {question: q, answer: a}
rows: 2
near_duplicates: {threshold: 0.8, words: 5}
overlaps: [none that is known]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw").mkdir(parents=True)
    return tmp_path


def test_sources_follow_each_other_in_the_order_of_params(folder: Path) -> None:
    (folder / "data/raw/a.jsonl").write_text('{"question": "1+1=?", "answer": 2}\n', encoding="utf-8")
    context = Context("collect", folder)
    run(PARAMS, context, problems=OUT, sources=FACTS)
    frame = read_frame(Collected, OUT)
    assert frame["source"].to_list() == ["mine"] + ["world"] * 20
    first = frame.select("source", "role", "licence", "question", "answer", "thinking", "solution").row(0)
    assert first == ("mine", "training", "CC0", "1+1=?", "2", None, None)
    assert context.facts == {"mine": 1, "world": 20}


def test_equal_params_give_equal_bytes(folder: Path) -> None:
    for name in ("one", "two"):
        run(PARAMS, Context("collect", folder), problems=Path(name, "p.parquet"), sources=Path(name, "s.json"))
    for name in ("p.parquet", "s.json"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_a_bad_row_leaves_nothing_behind(folder: Path) -> None:
    (folder / "data/raw/bad.jsonl").write_text('{"question": "1+1=?"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"data/raw/bad\.jsonl, line 1: answer"):
        run(PARAMS, Context("collect", folder), problems=OUT, sources=FACTS)
    assert not OUT.exists()
    assert not FACTS.exists()


def test_no_rows_at_all_are_an_error(folder: Path) -> None:
    empty = CollectParams(sources=PARAMS.sources[:1])
    with pytest.raises(DataError, match="holds no rows"):
        run(empty, Context("collect", folder), problems=OUT, sources=FACTS)


def _with_dataset(role: str, **values: object) -> CollectParams:
    dataset = {"kind": "dataset", "name": "mine_too", "role": role, **values}
    return CollectParams.model_validate({"sources": [dataset, PARAMS.sources[0].model_dump()]})


def test_a_data_set_of_the_catalogue_comes_with_its_facts(folder: Path) -> None:
    Path("data/sources").mkdir()
    Path("data/sources/mine_too.yaml").write_text(MINE, encoding="utf-8")
    Path("data/sources/mine.csv").write_text("q,a\n1+1=?,02\n2+2=?,None\n", encoding="utf-8")
    run(_with_dataset("training", limit=1), Context("collect", folder), problems=OUT, sources=FACTS)
    frame = read_frame(Collected, OUT)
    assert frame.select("source", "source_id", "role", "licence", "question", "answer", "policy").rows() == [
        ("mine_too", "0", "training", "CC-BY-NC-4.0", "1+1=?", "02", None)
    ]
    facts = read_rows(SourceFacts, FACTS)
    assert facts[0] == SourceFacts(
        name="mine_too",
        description="sums",
        origin="the file mine.csv",
        revision=None,
        role="training",
        licence="CC-BY-NC-4.0",
        notes="they are mine",
        forbids=("commercial use",),
        rows=1,
        near_duplicates=NearDuplicates(threshold=0.8, words=5),
        overlaps=("none that is known",),
    )
    assert (facts[1].name, facts[1].origin, facts[1].rows, facts[1].near_duplicates) == (
        "mine", "files in data/raw", 0, None,
    )  # fmt: skip


def test_a_data_set_in_a_role_that_it_may_not_have_leaves_nothing_behind(folder: Path) -> None:
    Path("data/sources").mkdir()
    Path("data/sources/mine_too.yaml").write_text(MINE, encoding="utf-8")
    Path("data/sources/mine.csv").write_text("q,a\n1+1=?,2\n2+2=?,4\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"collect\.sources\.mine_too\.role: mine_too is no source for test"):
        run(_with_dataset("test"), Context("collect", folder), problems=OUT, sources=FACTS)
    assert not OUT.exists()
