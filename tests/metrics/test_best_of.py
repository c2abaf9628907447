from __future__ import annotations

import math

import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.best_of import best_of


def candidates(**problems: list[tuple[str | None, str, int, float | None]]) -> pl.DataFrame:
    """Answer, verdict, depth and score."""
    return pl.DataFrame(
        [(problem, *row) for problem, rows in problems.items() for row in rows],
        schema={
            "problem_id": pl.String,
            "answer": pl.String,
            "verdict": pl.String,
            "depth": pl.Int64,
            "logprob": pl.Float64,
        },
        orient="row",
    )


def test_the_highest_score_decides_and_ties_count_as_a_fair_draw() -> None:
    frame = candidates(
        good=[("7", "correct", 1, -0.1), ("8", "wrong", 1, -0.2)],
        bad=[("7", "correct", 1, -0.3), ("8", "wrong", 1, -0.2)],
        tie=[("7", "correct", 1, -0.2), ("8", "wrong", 1, -0.2), ("9", "wrong", 1, -0.2), ("5", "correct", 1, -0.9)],
    )
    assert best_of(frame).rows() == [("bad", 0.0), ("good", 1.0), ("tie", pytest.approx(1 / 3))]


def test_only_graded_answers_with_a_score_can_be_picked() -> None:
    frame = candidates(
        a=[("8", "error", 1, 0.0), (None, "no_answer", 1, -0.01), ("6", "wrong", 1, None), ("7", "correct", 1, -2.0)],
        b=[(None, "no_answer", 1, -0.5), ("7", "correct", 1, None)],
        c=[("7", "error", 1, -0.5)],
    )
    assert best_of(frame).rows() == [("a", 1.0), ("b", 0.0)]


def test_weights_multiply_probabilities_so_that_deep_answers_gain() -> None:
    early, late = math.log(0.8), math.log(0.3)
    frame = candidates(a=[("8", "wrong", 1, early), ("7", "correct", 3, late)])
    assert best_of(frame).rows() == [("a", 0.0)]
    assert best_of(frame, weighted_by_depth=True).rows() == [("a", 1.0)]  # 0.8 * 1 < 0.3 * 3
    assert best_of(frame.with_columns(depth=pl.Series([1, 2])), weighted_by_depth=True).rows() == [("a", 0.0)]


def test_another_column_may_hold_the_scores() -> None:
    frame = candidates(a=[("8", "wrong", 1, -0.1), ("7", "correct", 1, -0.2)]).with_columns(prm=pl.Series([0.2, 0.9]))
    assert best_of(frame, score="prm").rows() == [("a", 1.0)]
    with pytest.raises(DataError, match="negative scores"):
        best_of(frame.with_columns(prm=pl.Series([-1.0, 0.5])), score="prm", weighted_by_depth=True)


def test_scores_that_are_all_missing_are_refused() -> None:
    with pytest.raises(DataError, match="no answer has a score in the column logprob"):
        best_of(candidates(a=[("7", "correct", 1, None)]))
