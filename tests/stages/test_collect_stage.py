"""The stage collect on a small world and a folder of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastic.contracts.frames import Collected, read_frame
from elastic.contracts.params.collect import CollectParams
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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw").mkdir(parents=True)
    return tmp_path


def test_sources_follow_each_other_in_the_order_of_params(folder: Path) -> None:
    (folder / "data/raw/a.jsonl").write_text('{"question": "1+1=?", "answer": 2}\n', encoding="utf-8")
    context = Context("collect", folder)
    run(PARAMS, context, out=Path("out.parquet"))
    frame = read_frame(Collected, Path("out.parquet"))
    assert frame["source"].to_list() == ["mine"] + ["world"] * 20
    first = frame.select("source", "role", "licence", "question", "answer", "thinking", "solution").row(0)
    assert first == ("mine", "training", "CC0", "1+1=?", "2", None, None)
    assert context.facts == {"mine": 1, "world": 20}


def test_equal_params_give_equal_bytes(folder: Path) -> None:
    for name in ("one.parquet", "two.parquet"):
        run(PARAMS, Context("collect", folder), out=Path(name))
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()


def test_a_bad_row_leaves_nothing_behind(folder: Path) -> None:
    (folder / "data/raw/bad.jsonl").write_text('{"question": "1+1=?"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"data/raw/bad\.jsonl, line 1: answer"):
        run(PARAMS, Context("collect", folder), out=Path("out.parquet"))
    assert not Path("out.parquet").exists()


def test_no_rows_at_all_are_an_error(folder: Path) -> None:
    empty = CollectParams(sources=PARAMS.sources[:1])
    with pytest.raises(DataError, match="holds no rows"):
        run(empty, Context("collect", folder), out=Path("out.parquet"))
