from __future__ import annotations

import polars as pl
import pytest

from elastic.metrics.depths import at_depths
from elastic.metrics.voting import majority


def votes(**problems: list[tuple[str | None, str, int]]) -> pl.DataFrame:
    """Answer, verdict and depth, one row a vote."""
    return pl.DataFrame(
        [(problem, *vote) for problem, rows in problems.items() for vote in rows],
        schema={"problem_id": pl.String, "answer": pl.String, "verdict": pl.String, "depth": pl.Int64},
        orient="row",
    )


def test_the_answer_with_the_most_votes_decides() -> None:
    frame = votes(
        right=[("7", "correct", 1), ("7", "correct", 2), ("8", "wrong", 3)],
        outvoted=[("7", "correct", 1), ("9", "wrong", 2), ("9", "wrong", 3)],
    )
    assert majority(frame).rows() == [("outvoted", 0.0), ("right", 1.0)]


def test_a_tie_counts_as_a_fair_draw_between_the_tied_answers() -> None:
    frame = votes(
        three=[("7", "correct", 1), ("8", "wrong", 1), ("9", "wrong", 1)],
        two=[("7", "correct", 1), ("8", "wrong", 1), ("7", "correct", 1), ("8", "wrong", 1), ("5", "wrong", 1)],
    )
    assert majority(frame).rows() == [("three", pytest.approx(1 / 3)), ("two", 0.5)]


def test_absent_answers_do_not_vote_and_errors_are_left_out() -> None:
    frame = votes(
        a=[(None, "no_answer", 1)] * 3 + [("7", "correct", 1)] + [("8", "error", 1)] * 2,
        b=[(None, "no_answer", 1), (None, "no_answer", 2)],
        c=[("7", "error", 1)],
        d=[("7", "no_answer", 1)] * 2 + [("8", "correct", 1)],
    )
    assert majority(frame).rows() == [("a", 1.0), ("b", 0.0), ("d", 1.0)]


def test_one_text_with_two_verdicts_counts_as_its_share_of_correct_ones() -> None:
    frame = votes(a=[("7", "correct", 1), ("7", "timeout", 1), ("7", "correct", 1), ("8", "wrong", 1)])
    assert majority(frame).rows() == [("a", pytest.approx(2 / 3))]


def test_weights_by_depth_let_late_answers_outvote_early_ones() -> None:
    early = [("8", "wrong", 1), ("8", "wrong", 2), ("8", "wrong", 3)]
    frame = votes(a=[*early, ("7", "correct", 4), ("7", "correct", 4)])
    assert majority(frame).rows() == [("a", 0.0)]  # 3 against 2
    assert majority(frame, weighted_by_depth=True).rows() == [("a", 1.0)]  # 1 + 2 + 3 against 4 + 4
    assert majority(at_depths(frame, (3, 4))).rows() == [("a", 1.0)]


def test_weighted_ties_are_exact() -> None:
    frame = votes(a=[("8", "wrong", 1), ("8", "wrong", 2), ("7", "correct", 3)])
    assert majority(frame, weighted_by_depth=True).rows() == [("a", 0.5)]
