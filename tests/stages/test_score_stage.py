"""The stage score on hand-made traces, graded by the real graders."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from filled_frames import filled

from elastic.contracts.frames import Problems, Scored, Traces, read_frame, write_frame
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.score import ScoreParams
from elastic.contracts.records import GridRow, Record, read_json, read_record
from elastic.errors import DataError, GraderError
from stages.common import Context
from stages.score import run

ROOT = Path(__file__).parents[2]
PARAMS = ScoreParams(confidence=0.95, resamples=200, max_error_share=0.01, seed=6)
GRADING = GradingParams(training="exact", evaluation="exact")
GOLDS = {"a" * 16: "7", "b" * 16: "12"}


def problems(golds: dict[str, str] = GOLDS) -> pl.DataFrame:
    return filled(Problems, [{"problem_id": name, "answer": gold} for name, gold in golds.items()])


def trace(problem: str, sample: int, solution: str, **changes: Any) -> dict[str, Any]:
    return {
        "problem_id": problem * 16,
        "model": "r1",
        "think_budget": 4,
        "solution_budget": 3,
        "sample": sample,
        "solution_ids": [5, 6, 7],
        "n_solution": 3,
        "think_text": "so",
        "solution_text": solution,
    } | changes


def silent(closed: str, finish: str) -> dict[str, Any]:
    return {"closed": closed, "finish": finish, "solution_ids": [], "n_solution": 0}


FREE = {"method": "unconstrained", "think_budget": None, "solution_budget": None, "limit": 9}
TRACES = [
    trace("a", 0, r"\boxed{7}"),
    trace("a", 1, r"\boxed{8}"),
    trace("b", 0, r"\boxed{12}", closed="forced"),
    trace("b", 1, r"\boxed{12", closed="forced", finish="budget"),
    trace("a", 0, "", **FREE, **silent("eos", "eos")),
    trace("a", 1, r"\boxed{7}", **FREE, **silent("never", "budget")),
    trace("b", 0, r"\boxed{\frac{24}{2}}", **FREE),
    trace("b", 1, r"<think>\boxed{12}", **FREE),
    trace("a", 0, r"\boxed{7}", method="truncate", closed="eos"),
    trace("a", 1, r"\boxed{12}", method="truncate"),
    trace("b", 0, r"\boxed{7}", method="truncate"),
    trace("b", 1, r"\boxed{12}", method="truncate"),
]
VERDICTS = [
    *("correct", "wrong", "correct", "no_answer"),
    *("no_answer", "no_answer", "correct", "no_answer"),
    *("correct", "wrong", "wrong", "correct"),
]


def traces(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return filled(Traces, rows)


def score(
    folder: Path,
    rows: pl.DataFrame,
    grading: GradingParams = GRADING,
    params: ScoreParams = PARAMS,
    golds: dict[str, str] = GOLDS,
) -> Context:
    write_frame(Problems, problems(golds), folder / "problems.parquet")
    write_frame(Traces, rows, folder / "traces.parquet")
    context = Context("score@r1-validation", folder / "scratch")
    run(
        params,
        grading,
        "r1",
        "validation",
        folder / "traces.parquet",
        folder / "problems.parquet",
        folder / "out",
        context,
    )
    return context


@pytest.mark.parametrize("grader", ["exact", "math"])
def test_every_trace_gets_its_verdict_and_stays_where_it_was(tmp_path: Path, grader: str) -> None:
    context = score(tmp_path, traces(TRACES), GradingParams.model_validate({"training": "exact", "evaluation": grader}))
    scored = read_frame(Scored, tmp_path / "out/scored.parquet")
    assert scored["verdict"].to_list() == VERDICTS
    assert scored["gold"].to_list() == [GOLDS[row["problem_id"]] for row in TRACES]
    assert scored["answer"].to_list()[:4] == ["7", "8", "12", None]
    assert scored["found_by"].to_list()[:4] == ["box", "box", "box", None]
    assert scored.select(Traces.to_schema().columns.keys()).equals(traces(TRACES))
    assert context.facts["grader"]["name"] == grader
    assert context.facts["errors"] == 0


def test_the_table_has_one_row_a_method_and_budget(tmp_path: Path) -> None:
    score(tmp_path, traces(TRACES))
    rows = [GridRow.model_validate(row) for row in read_json(tmp_path / "out/grid.json")]
    assert [(row.method, row.think, row.solution, row.limit) for row in rows] == [
        ("separate", 4, 3, None),
        ("truncate", 4, 3, None),
        ("unconstrained", None, None, 9),
    ]
    assert [row.accuracy for row in rows] == [0.5, 0.5, 0.25]
    assert [row.no_answer_share for row in rows] == [0.25, 0.0, 0.75]
    assert {(row.model, row.split, row.n_problems, row.n_samples) for row in rows} == {("r1", "validation", 2, 2)}


def test_equal_inputs_give_equal_bytes_and_nothing_else_is_left(tmp_path: Path) -> None:
    digests = []
    for _ in range(2):
        score(tmp_path, traces(TRACES))
        files = sorted((tmp_path / "out").iterdir())
        digests.append([(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files])
    assert digests[0] == digests[1]
    assert [name for name, _ in digests[0]] == ["grid.json", "scored.parquet"]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*TRACES, trace("a", 0, "")], "2 traces that stand twice|1 traces that stand twice"),
        ([*TRACES, trace("c", 0, "")], "not in .*problems.parquet, the first of problem c"),
        (TRACES[:2], "1 problems of .* without traces"),
        ([*TRACES, trace("a", 2, "", model="r2")], "another model or split"),
        ([*TRACES, trace("a", 2, "", split="test")], "another model or split"),
    ],
)
def test_traces_that_do_not_belong_stop_the_stage(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        score(tmp_path, traces(rows))
    assert not (tmp_path / "out").exists()


def test_errors_are_counted_and_above_their_share_they_stop_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grader whose library breaks on a gold: that is a fault of ours, an error and no wrong answer."""
    (tmp_path / "math_verify.py").write_text(
        "def parse(text, *_, **__):\n    return [text] if 'z' not in text else 1 / 0\n"
        "def verify(gold, answer, **__):\n    return '1' in gold[0]\n"
        "class LatexExtractionConfig:\n    def __init__(self, **_):\n        pass\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    grading = GradingParams(training="exact", evaluation="math")
    golds = {"a" * 16: "7", "b" * 16: r"\int_0^1 z\,dz"}
    rows = traces([*TRACES[:4], trace("a", 2, r"\boxed{y}"), trace("b", 2, r"\boxed{13}")])
    with pytest.raises(GraderError, match="2 of 6 traces"):
        score(tmp_path, rows, grading, golds=golds)
    assert not (tmp_path / "out").exists()
    context = score(tmp_path, rows, grading, PARAMS.model_copy(update={"max_error_share": 0.4}), golds=golds)
    assert context.facts["errors"] == 2
    [row] = [GridRow.model_validate(row) for row in read_json(tmp_path / "out/grid.json")]
    assert (row.error_share, row.accuracy, row.n_samples) == (
        pytest.approx(2 / 6),
        pytest.approx((1 / 3 + 0) / 2),  # of b one trace is left, which has no answer
        3,
    )


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stages.score", *arguments],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_scores_writes_its_record_and_names_a_file_that_was_cut_short(tmp_path: Path) -> None:
    params = yaml.safe_load((ROOT / "params/laptop.yaml").read_text(encoding="utf-8"))
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    source = tmp_path / "results/traces/validation/r1/traces.parquet"
    write_frame(Problems, problems(), tmp_path / "data/curated/validation.parquet")
    write_frame(Traces, traces(TRACES), source)
    done = command(tmp_path, "r1", "validation")
    assert done.returncode == 0, done.stderr
    record = read_record(Record, tmp_path / "records/score@r1-validation.json")
    assert list(record.outputs) == ["results/scores/validation/r1"]
    assert record.facts["grader"]["name"] == params["grading"]["evaluation"]

    source.write_bytes(source.read_bytes()[:-100])
    cut = command(tmp_path, "r1", "validation")
    assert cut.returncode == 1
    assert "results/traces/validation/r1/traces.parquet" in cut.stderr
    assert "Traceback" not in cut.stderr

    assert "as in `python -m stages.score base test`" in command(tmp_path, "r1", "training").stderr
