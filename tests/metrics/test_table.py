from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.intervals import mean_interval
from elastic.metrics.table import budget_table, grid_row

PLAIN = {"confidence": 0.95, "resamples": 500, "seed": 1}


def trace(problem: str, verdict: str = "correct", **over: Any) -> dict[str, Any]:
    return {
        "problem_id": problem,
        "split": "test",
        "model": "r1",
        "method": "separate",
        "think_budget": 8,
        "solution_budget": 4,
        "limit": None,
        "sample": 0,
        "n_think": 5,
        "n_solution": 3,
        "closed": "natural",
        "finish": "eos",
        "verdict": verdict,
    } | over


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    budgets = dict.fromkeys(("think_budget", "solution_budget", "limit"), pl.Int64)
    return pl.DataFrame(rows, schema_overrides=budgets)


def test_every_field_of_a_row() -> None:
    row = grid_row(
        frame(
            [
                trace("a", "correct", sample=0, n_think=8, n_solution=4, closed="forced", finish="budget"),
                trace("a", "wrong", sample=1, n_think=8, n_solution=2, closed="forced"),
                trace("b", "correct", sample=0, n_think=6, n_solution=3),
                trace("b", "correct", sample=1, n_think=2, n_solution=4, finish="budget"),
                trace("c", "no_answer", sample=0, n_think=7, n_solution=0, closed="eos"),
                trace("c", "timeout", sample=1, n_think=1, n_solution=1),
                trace("d", "no_answer", sample=0, n_think=8, n_solution=0, closed="never", finish="budget"),
                trace("d", "error", sample=1, n_think=0, n_solution=3),
                trace("e", "error", sample=0, n_think=0, n_solution=3),
                trace("e", "error", sample=1, n_think=0, n_solution=3),
            ]
        ),
        **PLAIN,
    )
    think, solution = np.array([8, 8, 6, 2, 7, 1, 8, 0, 0, 0]), np.array([4, 2, 3, 4, 0, 1, 0, 3, 3, 3])
    interval = mean_interval(np.array([0.5, 1.0, 0.0, 0.0]), **PLAIN)
    assert row.model_dump() == {
        "model": "r1",
        "split": "test",
        "method": "separate",
        "think": 8,
        "solution": 4,
        "limit": None,
        "accuracy": 0.375,
        "ci_low": interval.low,
        "ci_high": interval.high,
        "mean_think_tokens": 4.0,
        "mean_solution_tokens": 2.3,
        "p50_tokens": np.quantile(think + solution, 0.5),
        "p95_tokens": pytest.approx(np.quantile(think + solution, 0.95)),
        "p95_think_tokens": pytest.approx(np.quantile(think, 0.95)),
        "p95_solution_tokens": pytest.approx(np.quantile(solution, 0.95)),
        "forced_share": 0.2,
        "natural_share": 0.6,
        "eos_in_think_share": 0.1,
        "unclosed_share": 0.1,
        "truncated_solution_share": 0.2,
        "no_answer_share": 0.2,
        "timeout_share": 0.1,
        "error_share": 0.3,
        "n_problems": 4,
        "n_samples": 2,
    }


def test_a_solution_after_an_eos_inside_thinking_can_be_truncated() -> None:
    rows = [trace("a", closed="eos", finish="budget"), trace("b", closed="eos", finish="budget", n_solution=0)]
    assert grid_row(frame(rows), **PLAIN).truncated_solution_share == 0.5


def test_rows_stand_in_the_order_of_method_and_budget_whatever_the_order_of_traces() -> None:
    budgets = [
        ("unconstrained", None, None, 160),
        ("truncate", 8, 4, None),
        ("separate", 16, 4, None),
        ("separate", 8, 12, None),
        ("separate", 8, 4, None),
        ("separate", 0, 4, None),
    ]
    rows = [
        trace(problem, method=method, think_budget=think, solution_budget=solution, limit=limit)
        for method, think, solution, limit in budgets
        for problem in ("a", "b")
    ]
    table = budget_table(frame(rows), **PLAIN)
    found = [(row.method, row.think, row.solution, row.limit) for row in table]
    assert found == [*sorted(b for b in budgets if b[0] == "separate"), budgets[1], budgets[0]]
    assert {row.n_problems for row in table} == {2}
    assert budget_table(frame(rows[::-1]), **PLAIN) == table


def test_a_cell_of_errors_alone_is_an_error_that_names_it() -> None:
    with pytest.raises(DataError, match=r"r1 on test, separate \[8, 4, None\]"):
        grid_row(frame([trace("a", "error")]), **PLAIN)
