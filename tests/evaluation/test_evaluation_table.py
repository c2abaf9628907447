"""The summary's rows from answers whose figures can be worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from elastic.answers.code import CodeGrader
from elastic.answers.sandbox import SandboxError, require
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.contracts.evaluation import Solutions
from elastic.decoding.frame import column_types
from elastic.errors import DataError, ElasticError
from elastic.evaluation.grading import graded_answers
from elastic.evaluation.table import COLUMNS, summary_markdown, summary_table
from elastic.metrics.intervals import mean_interval

DRAWN = {"confidence": 0.9, "resamples": 300, "seed": 3}
SOLUTION = {
    "run": "nested", "setting": "", "problem_id": "a", "sample": 0, "model": "r1", "solver": "r1", "method": "separate",
    "think_budget": 8, "solution_budget": 4, "limit": None, "depth": None, "draw": 0, "n_think": 5, "n_solution": 3,
    "n_forced": 0, "n_probe": 0, "closed": "natural", "finish": "eos", "logprob": -0.5, "solution_ids": [1, 2, 3],
    "solution_text": "\\boxed{5}",
}  # fmt: skip


def answer(problem: str, verdict: str = "correct", text: str | None = "5", **over: Any) -> dict[str, Any]:
    return SOLUTION | {"problem_id": problem, "verdict": verdict, "answer": text} | over


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    types = dict.fromkeys(("think_budget", "solution_budget", "limit"), pl.Int64)
    return pl.DataFrame(rows, schema_overrides=types).select(COLUMNS)


def test_figures_of_a_cell() -> None:
    rows = [
        answer("a", sample=0, n_probe=6, closed="forced", n_forced=1),
        answer("a", sample=1, text="10/2"),
        answer("a", "wrong", "4", sample=2),
        answer("b", "wrong", "1", sample=0, n_think=8, finish="budget"),
        answer("b", "wrong", "1", sample=1),
        answer("b", sample=2),
        answer("c", "no_answer", None, sample=0, closed="eos", n_solution=0),
        answer("c", "timeout", "9", sample=1),
        answer("c", "error", "9", sample=2),
    ]
    [row] = summary_table(frame(rows), "sums", **DRAWN)
    assert (row.accuracy, row.n_problems, row.n_samples, row.n_answers) == (pytest.approx(1 / 3), 3, 3, 9)
    # The fewest graded answers are two: C(1, 2) = 0 of C(3, 2) = 3 pairs of a hold no correct one, C(2, 2) = 1 of b's.
    assert (row.k, row.pass_at_k) == (2, pytest.approx((1 + 2 / 3 + 0) / 3))
    # 5 and 10/2 are one answer: a's majority is right, b's is not, and c votes for 9.
    voted = mean_interval(pl.Series([1.0, 0.0, 0.0]).to_numpy(), **DRAWN)
    assert (row.majority, row.majority_low, row.majority_high) == voted
    assert (row.mean_think_tokens, row.mean_solution_tokens) == (pytest.approx(48 / 9), pytest.approx(24 / 9))
    assert (row.mean_probe_tokens, row.mean_forced_tokens) == (pytest.approx(6 / 9), pytest.approx(1 / 9))
    assert row.p95_tokens == pytest.approx(pl.Series([14, 8, 8, 11, 8, 8, 5, 8, 8]).quantile(0.95, "linear"))
    shares = [row.forced_share, row.eos_in_think_share, row.truncated_solution_share, row.no_answer_share]
    assert [*shares, row.timeout_share, row.error_share] == [pytest.approx(1 / 9)] * 6


def test_cells_are_told_apart_and_stand_in_order() -> None:
    rows = [
        answer("a", run="swap:solver=r2", method="swap", solver="r2"),
        answer("a", method="unconstrained", think_budget=None, solution_budget=None, limit=64),
        answer("a", think_budget=16),
        answer("a"),
        *(
            answer("a", setting=text, run="l1_max", method="l1_max", think_budget=None, solution_budget=None, limit=64)
            for text in ("asked=100", "asked=24")
        ),
    ]
    table = summary_table(frame(rows), "sums", **DRAWN)
    assert [row.setting for row in table[:2]] == ["asked=24", "asked=100"]
    assert [(row.run, row.method, row.think) for row in table[1:]] == [
        ("l1_max", "l1_max", None),
        ("nested", "separate", 8),
        ("nested", "separate", 16),
        ("nested", "unconstrained", None),
        ("swap:solver=r2", "swap", 8),
    ]
    assert table == summary_table(frame(rows[::-1]), "sums", **DRAWN)
    lines = summary_markdown(table, confidence=0.9).splitlines()
    assert lines[0] == "# r1 on sums"
    assert "90% intervals" in lines[2]
    assert [line.split("|")[4].strip() for line in lines[7:]] == ["<= 64", "8+4", "16+4", "<= 64", "8+4"]
    assert lines[-1].startswith("| swap:solver=r2, solved by r2 |")
    assert len({line.count(" | ") for line in lines[4:5] + lines[6:]}) == 1


def test_a_cell_of_errors_alone_is_named() -> None:
    with pytest.raises(DataError, match="r1 on sums, nested, separate, 8, 4"):
        summary_table(frame([answer("a", "error")]), "sums", **DRAWN)


def test_programs_are_run_on_the_tests_of_their_problem() -> None:
    try:
        require()
    except (ElasticError, SandboxError) as refusal:
        pytest.skip(str(refusal))
    tests = CodeTests(
        kind="stdin", tests=tuple(CodeTest(input=f"{n}\n", outputs=(str(n + 1),)) for n in (1, 2))
    ).to_text()
    problems = pl.DataFrame(
        [("a", "Add one.", "", None, tests)],
        schema=dict.fromkeys(["problem_id", "question", "answer", "policy", "tests"], pl.String),
        orient="row",
    )
    programs = ["print(int(input()) + 1)", "print(2)", None]
    rows = [
        SOLUTION | {"sample": n, "solution_text": f"```python\n{text}\n```" if text else "no idea"}
        for n, text in enumerate(programs)
    ]
    graded = graded_answers(
        pl.DataFrame(rows, schema=column_types(Solutions)),
        problems,
        CodeGrader(workers=1),
        max_error_share=0.0,
        show_questions=True,
        progress=lambda _: None,
    )
    assert graded["verdict"].to_list() == ["correct", "wrong", "no_answer"]
    assert graded["pass_share"].to_list() == [1.0, 0.5, None]
