"""Lengths by verdict, and samples at budgets, by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hand_made_answers import answers

from elastic.errors import DataError
from elastic.metrics.lengths import length_histogram, length_quantiles, log_edges, samples_at_budgets

SETTINGS = {"confidence": 0.95, "resamples": 300, "seed": 1}


def answer(problem: str, verdict: str, tokens: int, budget: int = 8) -> dict[str, object]:
    return {"problem_id": problem, "verdict": verdict, "n_think": tokens - 2, "n_probe": 1, "think_budget": budget}


ANSWERS = answers(
    answer("a", "correct", 4),
    answer("a", "correct", 6),
    answer("b", "correct", 10),
    answer("b", "wrong", 20),
    answer("c", "no_answer", 12),
    answer("c", "error", 400),
    answer("c", "correct", 8, budget=16),
)


def test_quantiles_by_cell_and_verdict() -> None:
    found = length_quantiles(ANSWERS, [0.5, 0.9, 1.0], **SETTINGS)
    assert found["verdict"].unique(maintain_order=True).to_list() == ["correct", "wrong", "no_answer"]
    right = found.filter(think_budget=8, verdict="correct")
    assert right["figure"].to_list() == ["mean", "q50", "q90", "q100"]
    assert right["tokens"].to_list() == pytest.approx([20 / 3, 6, 10, 10])
    assert right.select("n_answers", "n_problems").row(0) == (3, 2)
    assert found.filter(think_budget=16)["tokens"].to_list() == [8, 8, 8, 8]
    assert found.filter(verdict="no_answer", figure="q50")["tokens"].to_list() == [12]


def test_a_problem_is_drawn_with_all_of_its_answers() -> None:
    """Resamples of two problems hold both, a twice or b twice: the median is 6, 4 or 10, the mean 20/3, 5 or 10."""
    right = length_quantiles(ANSWERS, [0.5], **SETTINGS).filter(think_budget=8, verdict="correct")
    assert right.filter(figure="q50").select("low", "high").row(0) == (4, 10)
    assert right.filter(figure="mean").select("low", "high").row(0) == (5, 10)


def test_bins_are_whole_and_grow_with_the_length() -> None:
    assert log_edges(8, 1) == [1, 2, 4, 8, 16]
    assert log_edges(7, 1) == [1, 2, 4, 8]
    assert log_edges(10, 2) == [1, 2, 3, 4, 6, 8, 11]
    for longest in range(1, 200):
        for per_doubling in (1, 2, 3, 4):
            edges = log_edges(longest, per_doubling)
            assert edges[0] == 1
            assert edges[-2] <= longest < edges[-1]
    with pytest.raises(DataError, match="no bins"):
        log_edges(0, 1)


def test_a_histogram_counts_every_answer_once() -> None:
    found = length_histogram(ANSWERS, log_edges(20, 1))
    right = found.filter(think_budget=8, verdict="correct")
    assert right.select("low", "high", "n_answers").rows() == [
        (1, 2, 0), (2, 4, 0), (4, 8, 2), (8, 16, 1), (16, 32, 0),
    ]  # fmt: skip
    assert right["share"].to_list() == pytest.approx([0, 0, 2 / 3, 1 / 3, 0])
    assert found["n_answers"].sum() == len(ANSWERS.filter(pl.col("verdict") != "error"))
    with pytest.raises(DataError, match="do not fit into bins of 1 to 16"):
        length_histogram(ANSWERS, [1, 16])


def test_mean_and_pass_at_every_budget() -> None:
    """a: 1 of 4 right, b: 2 of 4: pass@2 is 1 - C(3, 2) / C(4, 2) = 1/2 and 1 - 1/6; lengths 6 and 10."""
    rows = [answer("a", "correct" if i < 1 else "wrong", 6) for i in range(4)]
    rows += [answer("b", "correct" if i < 2 else "no_answer", 10) for i in range(4)]
    wide = [answer("a", "correct", 20, budget=16) for _ in range(2)]
    found = samples_at_budgets(answers(*wide, *rows), 2, **SETTINGS)
    assert found.select("think_budget", "figure", "n_problems").rows() == [
        (8, "mean", 2), (8, "pass", 2), (8, "tokens", 2), (16, "mean", 1), (16, "pass", 1), (16, "tokens", 1),
    ]  # fmt: skip
    assert found["value"].to_list() == pytest.approx([3 / 8, (1 / 2 + 5 / 6) / 2, 8, 1, 1, 20])
    assert found.filter(think_budget=8, figure="pass").select("low", "high").row(0) == pytest.approx((0.5, 5 / 6))
    with pytest.raises(DataError, match="pass@3"):
        samples_at_budgets(answers(*wide), 3, **SETTINGS)
