"""The adaptation ratio, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from elastic.errors import DataError
from elastic.metrics.adaptation import adaptation_ratio, resampled_ratios, same_adaptation_p


def test_hard_over_easy_by_hand() -> None:
    # 10 problems, 30 % are 3: hard 90, 80, 70 (mean 80), easy 10, 20, 30 (mean 20)
    rates = np.arange(10) / 10
    tokens = np.array([90, 80, 70, 60, 50, 40, 35, 30, 20, 10])
    assert adaptation_ratio(tokens, rates, 0.3) == pytest.approx(80 / 20)


def test_a_model_that_spends_alike_has_ratio_1() -> None:
    assert adaptation_ratio(np.full(7, 42.0), np.linspace(0, 1, 7), 0.3) == pytest.approx(1.0)


def test_ties_at_the_border_share_the_room() -> None:
    # 4 problems, half of them are 2: rate 0 takes one place, the two of rate 1/2 share the other
    rates, tokens = np.array([0, 0.5, 0.5, 1]), np.array([40.0, 10, 30, 5])
    hard, easy = 40 + (10 + 30) / 2, 5 + (10 + 30) / 2
    assert adaptation_ratio(tokens, rates, 0.5) == pytest.approx(hard / easy)
    swapped = tokens[[0, 2, 1, 3]]
    assert adaptation_ratio(swapped, rates, 0.5) == pytest.approx(hard / easy)


def test_equal_rates_tell_no_problems_apart() -> None:
    assert adaptation_ratio(np.array([1.0, 100, 7]), np.ones(3), 0.3) == pytest.approx(1.0)


def test_equal_seeds_resample_the_same_problems() -> None:
    rates = np.arange(20) / 20
    tokens = 100 - 90 * rates
    first = resampled_ratios(tokens, rates, 0.3, resamples=50, seed=3)
    assert resampled_ratios(2 * tokens, rates, 0.3, resamples=50, seed=3) == pytest.approx(first)
    assert first.min() < adaptation_ratio(tokens, rates, 0.3) < first.max()


def test_models_that_adapt_alike_are_not_told_apart() -> None:
    rates, rng = np.arange(40) / 40, np.random.default_rng(0)
    flat, steep = np.full(40, 50.0), 100 - 90 * rates
    p = same_adaptation_p(steep, flat, rates, 0.3, swaps=999, rng=rng)
    assert p == pytest.approx(1 / 1000)
    assert same_adaptation_p(steep, steep, rates, 0.3, swaps=99, rng=rng) == 1.0


def test_the_swap_test_is_exact_on_two_problems() -> None:
    # hard 30 against 10, easy 10 against 10: ratios 3 and 1. Any swap leaves a distance of 2
    rates = np.array([0.0, 1.0])
    one, other = np.array([30.0, 10]), np.array([10.0, 10])
    assert same_adaptation_p(one, other, rates, 0.5, swaps=50, rng=np.random.default_rng(1)) == 1.0


def test_impossible_input_is_refused() -> None:
    with pytest.raises(DataError, match="no problem"):
        adaptation_ratio(np.array([]), np.array([]), 0.3)
    with pytest.raises(DataError, match="easy problems"):
        adaptation_ratio(np.array([5.0, 0]), np.array([0.0, 1]), 0.5)


def test_groups_of_different_size_are_compared_by_their_means() -> None:
    """The hardest fifth (60, 40) has a mean of 50, the easiest half (10 each) one of 10."""
    tokens = np.array([60.0, 40, 30, 20, 20, 10, 10, 10, 10, 10])
    rates = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert adaptation_ratio(tokens, rates, 0.2, 0.5) == pytest.approx(5.0)
