"""The stage curate: what it writes from hand-made rows and from the laptop world, with real graders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from elastic.contracts.frames import SPLITS, Collected, Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.collect import CollectParams
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.records import Curation, read_record
from elastic.data import splits
from elastic.data.ledger import place
from elastic.errors import DataError
from stages import collect, curate
from stages.common import Context

GRADING = GradingParams(training="exact", evaluation="math")
PARAMS = CurateParams(held_out_share=0.4, training_share=0.5, validation=10, test=10, training=30, teaching=60)
FILES = {*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "curation.json"}


def _rows(count: int = 150) -> list[dict[str, Any]]:
    shared = {"source": "world", "role": "any", "licence": "MIT", "thinking": "t", "solution": "s"}
    return [{**shared, "question": f"{i} + {i} = ?", "answer": str(2 * i)} for i in range(count)]


def _mine(question: str, answer: str) -> dict[str, Any]:
    return {"source": "mine", "role": "training", "licence": "CC0", "question": question, "answer": answer}


def _curate(folder: Path, rows: list[dict[str, Any]], params: CurateParams = PARAMS) -> Curation:
    collected = pl.DataFrame(rows, schema=dict.fromkeys(Collected.to_schema().columns, pl.String))
    write_frame(Collected, collected, folder / "collected.parquet")
    curate.run(params, GRADING, Context("curate", folder), collected=folder / "collected.parquet", out=folder / "out")
    return read_record(Curation, folder / "out/curation.json")


def test_all_files_appear_and_every_row_is_accounted_for(tmp_path: Path) -> None:
    curation = _curate(tmp_path, _rows())
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert curation.collected == {"world": 150}
    assert curation.rows["world"]["validation"] == curation.rows["world"]["test"] == 10
    assert sum(curation.rows["world"].values()) + sum(curation.rejected.values()) == 150
    assert curation.grader["name"] == "math"
    kept = pl.concat([read_frame(Problems, tmp_path / f"out/{split}.parquet") for split in SPLITS])
    assert kept["problem_id"].n_unique() == len(kept)
    counted = read_frame(Rejected, tmp_path / "out/rejected.parquet")["reason"].value_counts()
    assert dict(counted.iter_rows()) == curation.rejected


def test_a_gold_that_does_not_grade_itself_is_rejected_with_its_verdict(tmp_path: Path) -> None:
    bad = [_mine("unclosed", "\\frac{1}{2"), _mine("fine", "\\frac{1}{2}"), _mine("wrapped", "$3.0$")]
    _curate(tmp_path, [*_rows(), *bad])
    rejected = read_frame(Rejected, tmp_path / "out/rejected.parquet").filter(source="mine")
    (row,) = rejected.iter_rows(named=True)
    assert (row["question"], row["answer"]) == ("unclosed", "\\frac{1}{2")
    assert row["reason"] == "gold does not grade itself"
    assert row["detail"].startswith("graded ")
    training = read_frame(Problems, tmp_path / "out/training.parquet").filter(source="mine").sort("question")
    assert training.select("question", "answer", "answer_original").rows() == [
        ("fine", "\\frac{1}{2}", "\\frac{1}{2}"),
        ("wrapped", "3", "$3.0$"),
    ]


def test_answers_of_equal_value_do_not_conflict_and_others_do(tmp_path: Path) -> None:
    doubled = [_mine("half", "1/2"), _mine("HALF", "0.5"), _mine("third", "1/3"), _mine("third", "0.3")]
    curation = _curate(tmp_path, [*_rows(), *doubled])
    assert curation.rejected["conflicting answers"] == 2
    training = read_frame(Problems, tmp_path / "out/training.parquet").filter(source="mine")
    assert training.select("question", "answer").rows() == [("half", "1/2")]


def test_a_users_copy_of_a_test_problem_is_turned_away_and_listed(tmp_path: Path) -> None:
    _curate(tmp_path, _rows())
    met = read_frame(Problems, tmp_path / "out/test.parquet").row(0, named=True)
    copy = met["question"].replace(" ", "")
    curation = _curate(tmp_path, [*_rows(), _mine(copy, met["answer"]), _mine("new one", "5")])
    (removed,) = curation.contamination.removed
    assert removed.model_dump() == {
        "split": "training",
        "source": "mine",
        "question": copy,
        "met_split": "test",
        "met_problem_id": met["problem_id"],
        "met_source": "world",
    }
    assert curation.contamination.overlaps == []
    training = read_frame(Problems, tmp_path / "out/training.parquet")
    assert curation.contamination.checked == len(training) + len(
        read_frame(Problems, tmp_path / "out/teaching.parquet")
    )
    assert curation.contamination.against == 20
    assert training.filter(source="mine")["question"].to_list() == ["new one"]


def test_a_leaking_cut_stops_the_stage_and_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _curate(tmp_path, _rows())
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def leaking(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
        spared = ledger.filter(pl.col("question") == "leak")
        cut = splits.cut_splits(ledger.filter(pl.col("question") != "leak"), params)
        question = cut.filter(split="test")["question"][0]
        leak = place(spared, spared["order"], "training").with_columns(question=pl.lit(question))
        return pl.concat([cut, leak.select(cut.columns)])

    monkeypatch.setattr(curate, "cut_splits", leaking)
    with pytest.raises(DataError, match="1 taught rows stand in an evaluation set"):
        _curate(tmp_path, [*_rows(), _mine("leak", "1")])
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert not list(tmp_path.glob(".out*"))


def test_too_few_problems_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"curate\.test: test needs 10 problems"):
        _curate(tmp_path, _rows(20), PARAMS.model_copy(update={"validation": 1}))
    assert not (tmp_path / "out").exists()


def test_the_laptop_world_is_curated_the_same_twice(tmp_path: Path) -> None:
    source = {
        "kind": "generated",
        "name": "chains",
        "dataset": "elastic_chains",
        "rows": 600,
        "seed": 1,
        "licence": "x",
    }
    collect.run(
        CollectParams.model_validate({"sources": [source]}), Context("collect", tmp_path), out=tmp_path / "raw.parquet"
    )
    for name in ("one", "two"):
        curate.run(
            PARAMS, GRADING, Context("curate", tmp_path), collected=tmp_path / "raw.parquet", out=tmp_path / name
        )
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert read_record(Curation, tmp_path / "one/curation.json").rejected.keys() == {
        "duplicate",
        "held out, not drawn",
        "over the limit of teaching",
        "over the limit of training",
    }
