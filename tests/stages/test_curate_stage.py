"""The stage curate: what it writes from hand-made rows and from the laptop world, with real graders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from filled_frames import filled

from elastic.answers.graders import Grader
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.contracts.frames import SPLITS, Collected, Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.collect import CollectParams
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.policy import Policy
from elastic.contracts.records import Curation, Departure, read_record, write_json
from elastic.contracts.sources import NearDuplicates, SourceFacts
from elastic.data import splits
from elastic.data.ledger import place
from elastic.errors import DataError, GraderError
from stages import collect, curate
from stages.common import Context

GRADING = GradingParams(training="exact", evaluation="math")
PARAMS = CurateParams(held_out_share=0.4, training_share=0.5, validation=10, test=10, training=30, teaching=60)
FILES = {*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "curation.json"}


def _rows(count: int = 150) -> list[dict[str, Any]]:
    shared = {"source": "world", "role": "any", "thinking": "t", "solution": "s"}
    return [{**shared, "question": f"{i} + {i} = ?", "answer": str(2 * i)} for i in range(count)]


def _mine(question: str, answer: str) -> dict[str, Any]:
    return {"source": "mine", "role": "training", "question": question, "answer": answer}


def _facts(source: str, near: NearDuplicates | None = None) -> SourceFacts:
    return SourceFacts(
        name=source,
        description="",
        origin="",
        revision=None,
        role="any",
        licence="MIT",
        notes="",
        forbids=(),
        rows=1,
        near_duplicates=near,
        overlaps=(),
    )


def _curate(
    folder: Path,
    rows: list[dict[str, Any]],
    params: CurateParams = PARAMS,
    *,
    near: dict[str, NearDuplicates] | None = None,
    scratch: str | None = None,
) -> Curation:
    """Curate rows into folder/out; runs share the state of an interrupted one by the name `scratch` alone."""
    write_frame(Collected, filled(Collected, rows), folder / "collected.parquet")
    names = dict.fromkeys(row["source"] for row in rows)
    facts = [_facts(name, (near or {}).get(name)).model_dump(mode="json") for name in names]
    write_json(folder / "sources.json", facts)
    context = Context("curate", folder / (scratch or uuid4().hex))
    files = {"collected": folder / "collected.parquet", "sources": folder / "sources.json", "out": folder / "out"}
    curate.run(params, GRADING, context, **files)
    return read_record(Curation, folder / "out/curation.json")


def test_all_files_appear_and_every_row_is_accounted_for(tmp_path: Path) -> None:
    curation = _curate(tmp_path, _rows())
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert curation.collected == {"world": 150}
    assert curation.rows["world"]["validation"] == curation.rows["world"]["test"] == 10
    assert sum(curation.rows["world"].values()) + sum(curation.rejected.values()) == 150
    assert curation.grader["math"].startswith("math ")
    assert curation.rejected_by_source == {"world": curation.rejected}
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
    assert (row["reason"], row["detail"]) == ("gold graded no_answer", "\\frac{1}{2 by math")
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
        "met_question": met["question"],
        "measure": "same text",
        "share": 1.0,
    }
    assert curation.departures == []
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

    def leaking(ledger: pl.DataFrame, params: CurateParams, rules: splits.Rules) -> pl.DataFrame:
        spared = ledger.filter(pl.col("question") == "leak")
        cut = splits.cut_splits(ledger.filter(pl.col("question") != "leak"), params, rules)
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
    raw = {"problems": tmp_path / "raw.parquet", "sources": tmp_path / "sources.json"}
    collect.run(CollectParams.model_validate({"sources": [source]}), Context("collect", tmp_path), **raw)
    for name in ("one", "two"):
        inputs = {"collected": raw["problems"], "sources": raw["sources"]}
        curate.run(PARAMS, GRADING, Context("curate", tmp_path / f"scratch-{name}"), **inputs, out=tmp_path / name)
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert read_record(Curation, tmp_path / "one/curation.json").rejected.keys() == {
        "duplicate",
        "held out, not drawn",
        "over the limit of teaching",
        "over the limit of training",
    }


def test_copies_disagree_by_the_policy_of_the_first(tmp_path: Path) -> None:
    rounded = Policy(tolerance=0.01).to_text()
    rows = [_mine(question, answer) for question in ("how far?", "how near?") for answer in ("314", "315")]
    curation = _curate(tmp_path, [*_rows(), *({**row, "policy": rounded} for row in rows[:2]), *rows[2:]])
    assert curation.rejected_by_source["mine"] == {"conflicting answers": 2, "duplicate": 1}


def test_what_was_graded_before_a_kill_is_not_graded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(curate, "_CHUNK", 40)
    _curate(tmp_path, _rows(), scratch="fresh")
    fresh = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    grade, asked = curate.grade_frame, []

    def dying(rows: pl.DataFrame, grader: Grader) -> pl.DataFrame:
        asked.append(len(rows))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return grade(rows, grader)

    monkeypatch.setattr(curate, "grade_frame", dying)
    with pytest.raises(KeyboardInterrupt):
        _curate(tmp_path, _rows(), scratch="killed")
    _curate(tmp_path, _rows(), scratch="killed")
    assert asked == [40, 40, 40, 40, 30]
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == fresh


def _program(number: int, reference: str | None, tests: CodeTests | None = None) -> dict[str, Any]:
    doubled = CodeTests(
        kind="stdin", tests=(CodeTest(input="3\n", outputs=("6",)), CodeTest(input="0", outputs=("0",)))
    )
    return {
        "source": "programs",
        "source_id": str(number),
        "role": "training",
        "domain": "code",
        "question": f"Double the number, task {number}.",
        "answer": "",
        "tests": (tests or doubled).to_text(),
        "reference": reference,
    }


needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="programs run in bubblewrap, which is missing")


@needs_sandbox
def test_reference_programs_must_pass_their_tests_and_those_without_are_counted(tmp_path: Path) -> None:
    references = ["print(2 * int(input()))", "print(6)", None, "while True: pass"]
    quick = CodeTests(kind="stdin", tests=(CodeTest(input="3\n", outputs=("6",)),), seconds=1)
    rows = [_program(number, reference) for number, reference in enumerate(references[:3])]
    curation = _curate(tmp_path, [*_rows(), *rows, _program(3, references[3], quick)])
    assert curation.rows["programs"] == {"training": 2}
    assert curation.rejected_by_source["programs"] == {"reference graded wrong": 2}
    assert curation.unchecked == {"programs": 1}
    assert curation.grader["code"].startswith("code ")
    rejected = read_frame(Rejected, tmp_path / "out/rejected.parquet").filter(source="programs")
    assert rejected["detail"].to_list() == ["passes 0.5 of the tests", "passes 0.0 of the tests"]


@needs_sandbox
def test_a_grader_that_cannot_judge_more_than_allowed_stops_the_stage(tmp_path: Path) -> None:
    rows = [*_rows(), _program(0, "print(2 * int(input()))"), {**_program(1, "print(1)"), "tests": "{}"}]
    with pytest.raises(GraderError, match=r"could not judge 1 of 2 references, the first for 'Double .* task 1"):
        _curate(tmp_path, rows)
    assert not (tmp_path / "out").exists()
    allowed = PARAMS.model_copy(update={"max_error_share": 0.5})
    assert _curate(tmp_path, rows, allowed).rejected_by_source["programs"] == {"reference graded error": 1}


def test_what_validates_is_taken_out_of_training_and_named_as_a_departure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = NearDuplicates(threshold=0.8, words=3)
    exam = {"source": "exam", "role": "validation", "question": r"Find $\frac{1}{2}$ of the number 60.", "answer": "30"}
    trained = [_mine(r"find \(\tfrac12\) OF the number $60$", "30.0"), _mine("Find the number 7.", "7")]
    own = PARAMS.model_copy(update={"validation": 0})
    curation = _curate(tmp_path, [exam, *_rows(), *trained], own, near={"exam": rule})
    assert curation.departures == [Departure(source="mine", validates="exam", rows=1)]
    assert curation.rejected_by_source["mine"] == {"stands in validation": 1}
    (met,) = curation.contamination.removed
    assert (met.measure, met.question, met.met_question) == ("same words", trained[0]["question"], exam["question"])
    printed = capsys.readouterr().out
    assert "1 rows of mine do not train, unlike in the papers: exam validates" in printed
    assert "| mine   | rejected: stands in validation" in printed
