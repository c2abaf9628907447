from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from cli import evaluate
from cli.main import app
from elastic.answers.exact import ExactGrader
from elastic.answers.verdict import Verdict
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.contracts.evaluation import Answers, Costs, Thinking
from elastic.contracts.evaluation_records import SummaryRow
from elastic.contracts.frames import read_frame
from elastic.errors import BudgetError, DataError, GraderError, ParamsError

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


def run(model: Path, problems: Path, *options: str, budgets: str = "8+24,8+2,0+9", grader: str = "exact") -> str:
    arguments = ["--model", str(model), "--problems", str(problems), "--out", "out", "--temperature", "0"]
    result = CliRunner().invoke(
        app, ["eval", *arguments, "--grader", grader, "--budgets", budgets, *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def table() -> dict[tuple[str, str, int | None, int | None], SummaryRow]:
    rows = [SummaryRow.model_validate(row) for row in json.loads(Path("out/summary.json").read_text(encoding="utf-8"))]
    return {(row.run, row.method, row.think, row.solution): row for row in rows}


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}


def test_figures_are_those_worked_out_by_hand(parrot: Path, problems: Path) -> None:
    output = run(parrot, problems, "--limit", "40", "--samples", "2")
    rows = table()
    whole = rows["nested", "separate", 8, 24]
    assert (whole.accuracy, whole.n_problems, whole.n_samples, whole.k) == (0.75, 4, 2, 2)
    assert (whole.pass_at_k, whole.majority) == (0.75, 0.75)
    assert whole.ci_low < 0.75 < whole.ci_high
    assert (whole.mean_think_tokens, whole.mean_solution_tokens) == (1, 4)
    assert (whole.natural_share, whole.forced_share) == (1, 0)
    cut = rows["nested", "separate", 8, 2]
    assert (cut.accuracy, cut.no_answer_share, cut.truncated_solution_share) == (0, 1, 1)
    assert (rows["nested", "separate", 0, 9].forced_share, rows["nested", "separate", 0, 9].mean_forced_tokens) == (
        1,
        1,
    )
    free = rows["nested", "unconstrained", None, None]
    assert rows["nested", "truncate", 8, 24].accuracy == free.accuracy == 0.75
    assert free.limit == 40
    assert {row.benchmark for row in rows.values()} == {"mine"}
    assert any(line.split()[:3] == ["separate", "8+24", "75.0%"] for line in output.splitlines())
    markdown = Path("out/summary.md").read_text(encoding="utf-8")
    assert "| nested | separate |  | 8+24 | 75.0 |" in markdown


def test_answers_thinking_and_costs_are_kept_with_their_problems(parrot: Path, problems: Path) -> None:
    run(parrot, problems)
    answers = read_frame(Answers, Path("out/answers/nested.parquet"))
    assert answers["problem_id"].unique(maintain_order=True).to_list() == ["sum", "7", "3", "4"]
    first = answers.row(
        by_predicate=(pl.col("problem_id") == "3")
        & (pl.col("solution_budget") == 24)
        & (pl.col("method") == "separate"),
        named=True,
    )
    assert (first["solution_text"], first["verdict"], first["question"], first["gold"]) == (
        "\\boxed{5}",
        "wrong",
        "3+3=?",
        "6",
    )
    thinking = read_frame(Thinking, Path("out/thinking/nested.parquet"))
    assert thinking["think_text"].to_list() == ["4"] * 4
    costs = read_frame(Costs, Path("out/costs/nested.parquet"))
    # Thinking and its delimiter once, the solution after it, and the one after no thinking.
    assert costs["sampled_tokens"].to_list() == [10] * 4
    assert (costs["seconds"] > 0).all()
    assert sorted(path.name for path in Path().iterdir()) == [".scratch", "mine.jsonl", "out"]
    assert not list(Path(".scratch").rglob("*.parquet"))


def test_what_is_there_is_not_sampled_again_and_runs_and_budgets_are_added(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(parrot, problems)
    before = contents()
    with monkeypatch.context() as patch:
        patch.setattr("elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded"))
        again = run(parrot, problems)
    assert contents() == before
    assert "nested: already there" in again
    assert again.splitlines()[-10:] == first.splitlines()[-10:]

    run(parrot, problems, "--strategy", "nested", "--strategy", "fractured:depths=2,draws=1")
    run(parrot, problems, budgets="8+24,4+24")
    after = contents()
    frames = [name for name in before if "summary" not in name and "evaluation.json" not in name]
    assert {name: after[name] for name in frames} == {name: before[name] for name in frames}
    rows = table()
    assert {run for run, *_ in rows} == {"nested", "fractured:depths=2,draws=1", "nested at 4+24 <= 32"}
    assert ("nested at 4+24 <= 32", "separate", 8, 24) not in rows
    assert rows["nested at 4+24 <= 32", "separate", 4, 24].accuracy == 0.75
    assert sorted(path.stem for path in Path("out/runs").iterdir()) == [
        "fractured_depths-2_draws-1",
        "nested",
        "nested_at_4+24_to_32",
    ]


def test_formats_of_other_tools_are_written_beside_and_sample_nothing(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(parrot, problems, budgets="8+24")
    monkeypatch.setattr(
        "elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded")
    )
    exports = ["--export", "lm-eval", "--export", "lighteval"]
    run(parrot, problems, *exports, budgets="8+24")
    once = contents()
    [results] = [json.loads(data) for name, data in once.items() if "lm-eval" in name and "/results_" in name]
    assert results["results"]["mine_nested_separate_8_24"]["exact_match,none"] == 0.75
    run(parrot, problems, *exports, budgets="8+24")
    assert contents() == once


def test_another_evaluation_is_refused_and_replaced_only_when_forced(parrot: Path, problems: Path) -> None:
    run(parrot, problems)
    before = contents()
    with pytest.raises(DataError, match="differs in samples"):
        run(parrot, problems, "--samples", "2")
    with problems.open("a", encoding="utf-8") as stream:
        stream.write('{"question": "2+3=?", "answer": "5"}\n')
    with pytest.raises(DataError, match="differs in problems"):
        run(parrot, problems)
    assert contents() == before
    Path("out/notes.txt").write_text("mine", encoding="utf-8")
    run(parrot, problems, "--force", budgets="8+24")
    rows = table()
    assert {(think, solution) for _, _, think, solution in rows} == {(8, 24), (None, None)}
    assert rows["nested", "separate", 8, 24].accuracy == 0.8
    assert Path("out/notes.txt").exists()


def test_an_evaluation_that_another_process_is_at_work_on_is_left_alone(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    with evaluate.held(mine, Path("out")), evaluate.held(other, Path("other")):
        refused = evaluate.held(mine, Path("out"))
        with pytest.raises(DataError, match="out: another evaluation is at work on it"):
            refused.__enter__()
    with evaluate.held(mine, Path("out")):
        pass


def test_a_folder_of_something_else_is_never_touched(parrot: Path, problems: Path) -> None:
    Path("out").mkdir()
    Path("out/thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match="exists and is no evaluation"):
        run(parrot, problems, "--force")
    assert Path("out/thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_another_grader_or_gold_grades_again_and_samples_nothing(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(parrot, problems)
    monkeypatch.setattr(
        "elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded")
    )
    assert "graded again, nothing sampled" in run(parrot, problems, grader="math")
    assert table()["nested", "separate", 8, 24].accuracy == 0.75
    grading = json.loads(Path("out/runs/nested.json").read_text(encoding="utf-8"))["grading"]
    assert grading["grader"].startswith("math")
    problems.write_text(problems.read_text(encoding="utf-8").replace('"6"', '"5"'), encoding="utf-8")
    assert "graded again, nothing sampled" in run(parrot, problems, grader="math")
    assert table()["nested", "separate", 8, 24].accuracy == 1


def test_a_fault_of_the_grader_loses_nothing(parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ExactGrader, "judge", lambda _, pairs: [Verdict.ERROR] * len(pairs))
        with pytest.raises(GraderError, match=r"run nested: 20 of 20 traces ended in an error of the grader exact"):
            run(parrot, problems, budgets="8+24,0+24")
    assert not Path("out").exists()
    monkeypatch.setattr(
        "elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded")
    )
    run(parrot, problems, budgets="8+24,0+24")
    assert table()["nested", "separate", 8, 24].accuracy == 0.75


def test_programs_are_judged_by_the_tests_of_their_rows(parrot: Path, problems: Path) -> None:
    tests = CodeTests(kind="stdin", tests=(CodeTest(input="", outputs=("5",)),)).to_text()
    problems.write_text(json.dumps({"question": "1+4=?", "answer": "", "tests": tests}) + "\n", encoding="utf-8")
    run(parrot, problems, grader="code", budgets="8+24")
    row = table()["nested", "separate", 8, 24]
    assert (row.accuracy, row.no_answer_share, row.error_share) == (0, 1, 0)


def test_one_model_thinks_and_another_solves(parrot: Path, checkpoint: Path, problems: Path) -> None:
    output = run(checkpoint, problems, "--strategy", "swap", "--solver", str(parrot), budgets="2+24")
    [row] = table().values()
    assert (row.method, row.model, row.solver, row.run) == (
        "swap",
        checkpoint.name,
        parrot.name,
        f"swap:solver={parrot.name}",
    )
    assert "swap" in output
    with pytest.raises(ParamsError, match="names a solver or an assignment that was not given"):
        run(checkpoint, problems, "--strategy", "swap:solver=r1", budgets="2+24")


def test_what_strategies_name_beside_the_model_is_never_left_out_in_silence(
    parrot: Path, checkpoint: Path, problems: Path
) -> None:
    Path("mine.json").write_text(json.dumps({"sum": "8+24"}), encoding="utf-8")
    swap = ["--strategy", "swap", "--solver", str(parrot)]
    for options, message in (
        (swap[2:], "--solver: no strategy uses"),
        (swap[:2], "swap needs --solver"),
        (["--strategy", "assigned"], "assigned needs --assignment"),
        ([*swap, "--assignment", "mine.json"], "--assignment: no strategy uses mine"),
        ([*swap, "--solver", f"elsewhere/{parrot.name}"], "have one name"),
    ):
        with pytest.raises(ParamsError, match=message):
            run(checkpoint, problems, *options, budgets="2+24")
    assert not Path("out").exists()


def test_an_assignment_is_held_against_problems_and_context_before_weights_are_loaded(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded")
    )
    Path("mine.json").write_text(json.dumps({"sum": "8+24", "7": "8+2", "3": "8+24"}), encoding="utf-8")
    with pytest.raises(DataError, match="1 problems have no budget, first 4"):
        run(parrot, problems, "--strategy", "assigned", "--assignment", "mine.json")
    far = {"sum": "8+24", "7": "8+2", "3": "8+24", "4": "90000+24"}
    Path("mine.json").write_text(json.dumps(far), encoding="utf-8")
    with pytest.raises(BudgetError, match="problem 4: "):
        run(parrot, problems, "--strategy", "assigned", "--assignment", "mine.json")


def test_options_that_cannot_be_sampled_are_named(parrot: Path, problems: Path) -> None:
    with pytest.raises(ParamsError, match=r"--top-p: .*greater than 0"):
        run(parrot, problems, "--top-p", "0")
    with pytest.raises(DataError, match="--budgets: are missing"):
        run(parrot, problems, budgets="")
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        run(Path("nowhere"), problems)
    with pytest.raises(DataError, match=r"none\.parquet: there is no such file"):
        run(parrot, Path("none.parquet"))


def test_a_damaged_file_of_the_folder_is_named_and_sampled_again_once_it_is_deleted(
    parrot: Path, problems: Path
) -> None:
    run(parrot, problems)
    file = Path("out/answers/nested.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    with pytest.raises(DataError, match=r"(?s)nested\.parquet: not a readable.*delete it, and the next evaluation"):
        run(parrot, problems, "--strategy", "independent")
    file.unlink()
    run(parrot, problems)
    assert file.read_bytes() == whole
    Path("out/evaluation.json").write_text("junk", encoding="utf-8")
    with pytest.raises(DataError, match=r"(?s)not JSON.*name a new folder"):
        run(parrot, problems)


def test_every_problem_can_have_a_budget_of_its_own(parrot: Path, problems: Path) -> None:
    Path("mine.json").write_text(json.dumps({"sum": "8+24", "7": "8+2", "3": "8+24", "4": "0+24"}), encoding="utf-8")
    run(parrot, problems, "--strategy", "assigned:budgets=mine", "--assignment", "mine.json")
    answers = read_frame(Answers, Path("out/answers/assigned_budgets-mine.parquet"))
    assert answers["verdict"].to_list() == ["correct", "no_answer", "wrong", "correct"]
    assert answers["closed"].to_list() == ["natural", "natural", "natural", "forced"]
    Path("mine.json").write_text(json.dumps({"sum": "8"}), encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.json: is no assignment: .*'8' is not a budget"):
        run(parrot, problems, "--strategy", "assigned:budgets=mine", "--assignment", "mine.json")


def test_a_benchmark_says_how_it_is_asked_and_departures_are_recorded(parrot: Path, problems: Path) -> None:
    text = """
name: mine
version: 3
description: sums
protocol: none
problems: {file: mine.jsonl}
prompt: {template: "{{ question }}"}
sampling: {temperature: 0.5, top_p: 0.9}
samples: 2
budgets: [8+24, 0+9]
limit: 40
grading: {grader: exact}
"""
    Path("mine.yaml").write_text(text, encoding="utf-8")
    rows = [{key: row[key] for key in ("question", "answer")} for row in ROWS]
    problems.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["eval", "--model", str(parrot), "--benchmark", "mine.yaml", "--out", "out", "--temperature", "0"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    protocol = json.loads(Path("out/evaluation.json").read_text(encoding="utf-8"))["protocol"]
    assert (protocol["temperature"], protocol["top_p"], protocol["samples"]) == (0, 0.9, 2)
    assert (protocol["benchmark"], protocol["changed"]) == ("mine v3", ["temperature"])
    assert table()["nested", "separate", 8, 24].accuracy == 0.75
    assert table()["nested", "unconstrained", None, None].limit == 40


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"question": "1+1=?"}', r"mine\.jsonl, line 5: answer: is missing, and there are no tests"),
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


def test_what_cannot_fit_is_refused_before_any_weights_are_loaded(
    parrot: Path, problems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "elastic.evaluation.checkpoint.load_engine", lambda *_, **__: pytest.fail("weights were loaded")
    )
    with pytest.raises(BudgetError, match="'8' is not a budget"):
        run(parrot, problems, budgets="8")
    with pytest.raises(BudgetError, match=r"problem sum: nested needs .*context holds 96"):
        run(parrot, problems, "--limit", "4000")
    # The prompt has 8 tokens: 8 + 60 + 1 + 27 fill the context, one more does not fit.
    with pytest.raises(BudgetError, match=r"s1_r1.* needs 8 prompt tokens \+ 60 \+ 1 \+ 28 = 97"):
        run(parrot, problems, "--strategy", "s1_r1:cue=check:", budgets="60+27")
    with pytest.raises(ParamsError, match="the tokenizer does not know all of"):
        run(parrot, problems, "--strategy", "s1_r1")
    with pytest.raises(DataError, match="there is no such folder"):
        run(Path("nowhere"), problems)
    assert not Path("out").exists()
