"""Mixtures of easy and hard problems, worked out by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.mixtures import PUBLISHED, Design, mixture_curve

SETTINGS = {"confidence": 0.95, "resamples": 400, "seed": 1}


def pool(name: str, accuracies: list[float], tokens: list[float]) -> pl.DataFrame:
    ids = [f"{name}{i}" for i in range(len(tokens))]
    return pl.DataFrame({"problem_id": ids, "accuracy": accuracies, "tokens": tokens})


EASY = pool("e", [1.0, 0.5, 1.0, 0.5], [10.0, 20, 10, 20])
HARD = pool("h", [0.0, 0.5], [100.0, 60])


def test_expectations_are_exact() -> None:
    """Means 0.75 and 0.25 in accuracy, 15 and 80 in tokens: half and half has 0.5 and 47.5."""
    curve = mixture_curve(EASY, HARD, 4, [0, 1, 2], **SETTINGS)
    assert [point.hard_share for point in curve.points] == [0, 0.25, 0.5]
    assert [point.accuracy.mean for point in curve.points] == pytest.approx([0.75, 0.625, 0.5])
    assert [point.tokens.mean for point in curve.points] == pytest.approx([15, 31.25, 47.5])
    assert [point.drawn_tokens.mean for point in curve.points] == pytest.approx([15, 31.25, 47.5])
    assert (curve.size, curve.easy_pool, curve.hard_pool, curve.replaced) == (4, 4, 2, ())


def test_a_set_of_the_whole_pool_can_only_be_drawn_in_one_way() -> None:
    curve = mixture_curve(EASY, HARD, 4, [0, 2], **SETTINGS)
    whole, half = curve.points
    assert whole.drawn_accuracy == pytest.approx((0.75, 0.75, 0.75))
    assert whole.accuracy.low < whole.accuracy.high  # the pool itself is a sample of problems
    # Two of the four easy ones, both hard ones: between (10 + 10 + 160) / 4 and (20 + 20 + 160) / 4.
    assert half.drawn_tokens == pytest.approx((47.5, 45, 50))


def test_a_pool_that_is_too_small_is_drawn_from_with_replacement_and_says_so() -> None:
    curve = mixture_curve(EASY, HARD, 10, [0, 5], **SETTINGS)
    assert curve.replaced == ("easy", "hard")
    assert mixture_curve(EASY, HARD, 4, [1, 3], **SETTINGS).replaced == ("hard",)
    low, high = curve.points[0].drawn_tokens[1:]
    assert 10 <= low < 15 < high <= 20


def test_drawn_sets_spread_as_sets_without_replacement_do() -> None:
    """5 of 20 problems, 10 of them right: the share right is hypergeometric; its 95 % interval by counting."""
    easy = pool("e", [1.0] * 10 + [0.0] * 10, [1.0] * 20)
    chances = [comb(10, right) * comb(10, 5 - right) / comb(20, 5) for right in range(6)]
    cumulated = np.cumsum(chances)
    low, high = (int(np.argmax(cumulated >= tail)) / 5 for tail in (0.025, 0.975))
    [point] = mixture_curve(easy, HARD, 5, [0], confidence=0.95, resamples=4000, seed=2).points
    assert (point.drawn_accuracy.low, point.drawn_accuracy.high) == pytest.approx((low, high))


def test_the_published_designs_end_at_sixty_hard_problems() -> None:
    assert [design.hard_counts(5) for design in PUBLISHED] == [[0, 15, 30, 45, 60]] * 2
    assert Design(10, 0.2).hard_counts(9) == [0, 1, 2]


def test_pools_that_make_no_mixture_are_refused() -> None:
    with pytest.raises(DataError, match="the hard pool has no problem"):
        mixture_curve(EASY, HARD.clear(), 4, [0], **SETTINGS)
    with pytest.raises(DataError, match="4 problems are both easy and hard, first e0"):
        mixture_curve(EASY, EASY, 4, [0], **SETTINGS)
    with pytest.raises(DataError, match=r"sets of 4 cannot have \[0, 5\]"):
        mixture_curve(EASY, HARD, 4, [0, 5], **SETTINGS)
