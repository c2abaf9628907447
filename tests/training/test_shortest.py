"""The shortest correct response to each problem."""

from __future__ import annotations

import polars as pl

from elastic.training.shortest import shortest_correct

COLUMNS = ("problem_id", "sample", "question", "verdict", "finish", "closed", "n_think", "n_solution", "think_text")


def graded(*rows: tuple[object, ...]) -> pl.DataFrame:
    frame = pl.DataFrame(list(rows), schema=list(COLUMNS), orient="row")
    return frame.with_columns(solution_text=pl.col("think_text") + "!")


def test_the_shortest_in_both_phases_together_is_taken() -> None:
    frame = graded(
        ("b", 0, "qb", "correct", "eos", "natural", 9, 9, "long"),
        ("b", 1, "qb", "correct", "eos", "natural", 9, 2, "short"),
        ("b", 2, "qb", "correct", "eos", "natural", 5, 7, "middle"),
        ("a", 0, "qa", "correct", "eos", "natural", 1, 1, "only"),
    )
    assert shortest_correct(frame).rows() == [("qa", "only", "only!"), ("qb", "short", "short!")]


def test_wrong_cut_and_forced_responses_teach_nothing() -> None:
    frame = graded(
        ("a", 0, "q", "wrong", "eos", "natural", 1, 1, "wrong"),
        ("a", 1, "q", "correct", "budget", "natural", 2, 1, "cut"),
        ("a", 2, "q", "correct", "eos", "forced", 3, 1, "forced"),
        ("a", 3, "q", "correct", "eos", "natural", 9, 1, "good"),
        ("b", 0, "q", "wrong", "eos", "natural", 1, 1, "wrong"),
    )
    assert shortest_correct(frame).rows() == [("q", "good", "good!")]


def test_of_equally_short_ones_the_first_sample_is_taken() -> None:
    frame = graded(
        ("a", 1, "q", "correct", "eos", "natural", 3, 1, "second"),
        ("a", 0, "q", "correct", "eos", "natural", 2, 2, "first"),
    )
    assert shortest_correct(frame)["think_text"].to_list() == ["first"]
