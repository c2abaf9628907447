from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from elastic.adaptive.evidence import Probing, observe
from elastic.adaptive.outcomes import common_budgets, read_outcomes
from elastic.adaptive.predictor import learnt_from
from elastic.budget import Budget
from elastic.errors import BudgetError, DataError

GRID = [Budget(8, 4), Budget(16, 4)]


def row(problem: str, sample: int, think: int, verdict: str = "correct", **over: Any) -> dict[str, Any]:
    return {
        "problem_id": problem,
        "sample": sample,
        "method": "separate",
        "think_budget": think,
        "solution_budget": 4,
        "n_think": think,
        "n_solution": 3,
        "verdict": verdict,
        "answer": "7",
    } | over


def two_problems() -> list[dict[str, Any]]:
    return [
        row("b", 0, 8, "wrong", answer=" 6"),
        row("b", 1, 8, "no_answer", answer=None, n_solution=4),
        row("b", 0, 16, n_think=12),
        row("b", 1, 16, "timeout"),
        row("a", 0, 8, "error"),
        row("a", 1, 8),
        row("a", 0, 16),
        row("a", 1, 16),
    ]


def test_curves_by_problem_leave_errors_out() -> None:
    outcomes = read_outcomes(pl.DataFrame(two_problems()), [Budget(16, 4), Budget(8, 4)])
    assert outcomes.problem_ids == ("a", "b")
    assert outcomes.budgets == tuple(GRID)
    curves = outcomes.curves()
    assert curves.accuracy.tolist() == [[1, 1], [0, 0.5]]
    assert curves.used.tolist() == [[11, 19], [11.5, 17]]
    assert np.isnan(outcomes.curves([0]).accuracy).tolist() == [[True, False], [False, False]]


def test_a_problem_without_a_graded_answer_somewhere_drops_out() -> None:
    rows = two_problems()
    rows[5]["verdict"] = "error"
    assert read_outcomes(pl.DataFrame(rows), GRID).problem_ids == ("b",)


def test_answers_must_be_a_full_grid_of_one_run() -> None:
    rows = two_problems()
    with pytest.raises(DataError, match="several answers at 8"):
        read_outcomes(pl.DataFrame([*rows, rows[0]]), GRID)
    with pytest.raises(DataError, match="no full grid"):
        read_outcomes(pl.DataFrame(rows[1:]), GRID)
    with pytest.raises(DataError, match="no full grid"):
        read_outcomes(pl.DataFrame(rows), [*GRID, Budget(32, 4)])


def test_only_shared_budgets_of_separate_budgeting_count() -> None:
    more = pl.DataFrame([*two_problems(), row("a", 0, 32), row("a", 0, 64, method="truncate")])
    other = pl.DataFrame([row("c", 0, think) for think in (8, 16, 64)])
    assert common_budgets([more, other]) == tuple(GRID)
    with pytest.raises(DataError, match=r"share 1 budget\(s\): 8\+4"):
        common_budgets([more, pl.DataFrame([row("c", 0, 8)])])


def test_probes_are_the_answers_of_the_first_depths() -> None:
    outcomes = read_outcomes(pl.DataFrame(two_problems()), GRID)
    [view] = observe(outcomes, {"a": "A", "b": "B"}, Probing((8,), 4, paths=2))
    assert view.asked.questions == ("A", "B")
    assert view.asked.probes == (("7", "7"), ("6", None))
    assert view.asked.agreement().tolist() == [1, 0.5]
    # Both solutions, and the thinking of the path that does not go on.
    assert view.asked.probe_used.tolist() == [3 + 3 + 8, 3 + 4 + 8]
    assert view.curves.accuracy.tolist() == [[1, 1], [0, 0.5]]


def test_each_probed_path_is_a_view_of_its_own() -> None:
    outcomes = read_outcomes(pl.DataFrame(two_problems()), GRID)
    first, second = observe(outcomes, {"a": "A", "b": "B"}, Probing((8, 16), 4))
    assert first.asked.probes == (("7", "7"), ("6", "7"))
    assert second.asked.probes == (("7", "7"), (None, "7"))
    assert first.asked.probe_used.tolist() == [6, 6]
    assert second.curves.accuracy.tolist() == [[1, 1], [0, 0]]
    # The first view of problem a has an error of the grader at 8+4.
    known = learnt_from([first, second], outcomes.budgets)
    assert known.asked.problem_ids == ("b", "a", "b")
    assert np.isfinite(known.curves.accuracy).all()


def test_probing_costs_what_the_final_answer_does_not_pay() -> None:
    assert Probing((8,), 4, paths=3).allowed == 2 * 8 + 3 * 4
    assert Probing((8, 16), 4).allowed == 2 * 4


def test_impossible_probing_is_refused() -> None:
    outcomes, questions = read_outcomes(pl.DataFrame(two_problems()), GRID), {"a": "A", "b": "B"}
    with pytest.raises(BudgetError, match=r"no answers at 8\+2"):
        observe(outcomes, questions, Probing((8,), 2))
    with pytest.raises(DataError, match="cannot give probes of 3 paths"):
        observe(outcomes, questions, Probing((8,), 4, paths=3))
    with pytest.raises(DataError, match="no question of problem b"):
        observe(outcomes, {"a": "A"}, None)
    with pytest.raises(BudgetError, match="rising depths"):
        Probing((16, 8), 4)
