from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.accuracy import mean_accuracies, pair_problems, problem_accuracies


def traces(**verdicts: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"problem_id": problem, "verdict": verdict} for problem, said in verdicts.items() for verdict in said]
    )


def test_accuracy_is_by_problem_and_errors_are_left_out() -> None:
    found = problem_accuracies(
        traces(b=["correct", "timeout", "no_answer", "wrong"], a=["correct", "error", "correct"], c=["error", "error"])
    )
    assert found.rows() == [("a", 1.0), ("b", 0.25)]


def test_cells_weigh_the_same_and_a_problem_must_stand_in_all() -> None:
    few = problem_accuracies(traces(a=["correct"], b=["wrong"], c=["correct"]))
    many = problem_accuracies(traces(b=["correct", "wrong", "wrong", "wrong"], a=["wrong"] * 4))
    assert mean_accuracies([few, many]).rows() == [("a", 0.5), ("b", 0.125)]


def test_models_are_paired_by_problem() -> None:
    model = pl.DataFrame({"problem_id": ["b", "a", "c"], "accuracy": [0.5, 1.0, 0.0]})
    control = pl.DataFrame({"problem_id": ["d", "a", "b"], "accuracy": [0.0, 0.25, 1.0]})
    values, control_values = pair_problems(model, control)
    assert np.array_equal(values, [1.0, 0.5])
    assert np.array_equal(control_values, [0.25, 1.0])
    with pytest.raises(DataError, match="share no graded problem"):
        pair_problems(model, control.filter(pl.col("problem_id") == "d"))
