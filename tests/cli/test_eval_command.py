from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from cli import evaluate
from cli.main import app
from elastic.contracts.frames import Scored, read_frame
from elastic.contracts.records import GridRow
from elastic.errors import BudgetError, DataError

# The model thinks one token and answers 5 in four: three of four answers are right.
ROWS = [
    {"question": "1+4=?", "answer": 5, "id": "sum", "level": "easy"},
    {"question": "9-4=?", "answer": "5", "id": 7},
    {"question": "3+3=?", "answer": "6"},
    {"question": "8-3=?", "answer": "5"},
]


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


def run(model: Path, problems: Path, *options: str, budgets: str = "8+24,8+2,0+9") -> str:
    arguments = ["--model", str(model), "--problems", str(problems), "--out", "out", "--temperature", "0"]
    result = CliRunner().invoke(
        app, ["eval", *arguments, "--grader", "exact", "--budgets", budgets, *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def table() -> dict[tuple[str, int | None, int | None], GridRow]:
    rows = [GridRow.model_validate(row) for row in json.loads(Path("out/summary.json").read_text(encoding="utf-8"))]
    return {(row.method, row.think, row.solution): row for row in rows}


def test_figures_are_those_worked_out_by_hand(parrot: Path, problems: Path) -> None:
    output = run(parrot, problems, "--limit", "40", "--samples", "2")
    rows = table()
    whole = rows["separate", 8, 24]
    assert (whole.accuracy, whole.n_problems, whole.n_samples) == (0.75, 4, 2)
    assert whole.ci_low < 0.75 < whole.ci_high
    assert (whole.mean_think_tokens, whole.mean_solution_tokens) == (1, 4)
    assert (whole.natural_share, whole.forced_share) == (1, 0)
    cut = rows["separate", 8, 2]
    assert (cut.accuracy, cut.no_answer_share, cut.truncated_solution_share) == (0, 1, 1)
    assert rows["separate", 0, 9].forced_share == 1
    assert rows["truncate", 8, 24].accuracy == rows["unconstrained", None, None].accuracy == 0.75
    assert rows["unconstrained", None, None].limit == 40
    assert "separate           8+24     75.0%" in output


def test_traces_are_kept_with_their_problems(parrot: Path, problems: Path) -> None:
    run(parrot, problems)
    traces = read_frame(Scored, Path("out/traces.parquet"))
    assert traces["problem_id"].unique(maintain_order=True).to_list() == ["sum", "7", "3", "4"]
    assert set(traces["method"]) == {"separate"}
    assert set(traces["split"]) == {"mine"}
    first = traces.row(by_predicate=(pl.col("problem_id") == "3") & (pl.col("solution_budget") == 24), named=True)
    assert (first["think_text"], first["solution_text"], first["verdict"]) == ("4", "\\boxed{5}", "wrong")
    assert sorted(path.name for path in Path().iterdir()) == [".scratch", "mine.jsonl", "out"]
    assert not list(Path(".scratch").iterdir())


def test_the_same_call_reuses_what_is_there_and_another_does_not_replace_it(parrot: Path, problems: Path) -> None:
    first = run(parrot, problems)
    files = {path: path.stat().st_mtime_ns for path in Path("out").iterdir()}
    again = run(parrot, problems)
    assert {path: path.stat().st_mtime_ns for path in Path("out").iterdir()} == files
    assert "there already" in again
    assert again.splitlines()[1:] == first.splitlines()[-len(again.splitlines()) + 1 :]

    with pytest.raises(DataError, match="differs in budgets, samples"):
        run(parrot, problems, "--samples", "2", budgets="8+24")
    with problems.open("a", encoding="utf-8") as stream:
        stream.write('{"question": "2+3=?", "answer": "5"}\n')
    with pytest.raises(DataError, match="differs in problems"):
        run(parrot, problems)
    assert {path: path.stat().st_mtime_ns for path in Path("out").iterdir()} == files
    run(parrot, problems, "--force")
    assert table()["separate", 8, 24].accuracy == 0.8


def test_a_folder_of_something_else_is_never_touched(parrot: Path, problems: Path) -> None:
    Path("out").mkdir()
    Path("out/thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match="exists and is no evaluation"):
        run(parrot, problems, "--force")
    assert Path("out/thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_killed_run_goes_on_with_what_it_sampled(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(evaluate, "_grade", stop)
        with pytest.raises(RuntimeError, match="killed"):
            run(parrot, problems)
    assert not Path("out").exists()
    assert "chunk" not in run(parrot, problems)
    assert table()["separate", 8, 24].accuracy == 0.75


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"question": "1+1=?"}', r"mine\.jsonl, line 5: answer: Field required"),
        ('{"question": " ", "answer": "1"}', r"mine\.jsonl, line 5: question"),
        ('{"question": "1+1=?", "answer": "2", "id": "sum"}', "the id 'sum' stands twice"),
    ],
)
def test_a_bad_problem_is_named_and_nothing_is_written(parrot: Path, problems: Path, line: str, fault: str) -> None:
    with problems.open("a", encoding="utf-8") as stream:
        stream.write(line)
    with pytest.raises(DataError, match=fault):
        run(parrot, problems)
    assert list(Path().iterdir()) == [Path("mine.jsonl")]


def test_budgets_that_are_malformed_or_do_not_fit_are_refused(parrot: Path, problems: Path) -> None:
    with pytest.raises(BudgetError, match="'8' is not a budget"):
        run(parrot, problems, budgets="8")
    with pytest.raises(BudgetError, match=r"problem sum: .*context holds 96"):
        run(parrot, problems, "--limit", "4000")
    with pytest.raises(DataError, match=r"no such (model folder|file or folder)"):
        run(Path("nowhere"), problems)
    assert not Path("out").exists()
