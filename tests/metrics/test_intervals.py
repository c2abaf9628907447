from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from elastic.errors import DataError
from elastic.metrics.intervals import mean_interval, paired_difference

PLAIN = {"confidence": 0.95, "resamples": 4000, "seed": 1}


@pytest.mark.parametrize(("values", "k"), [([0.0] * 10, 0), ([1.0] * 10, 10), ([1.0], 1), ([0.0] * 256, 0)])
def test_where_all_problems_agree_the_interval_is_the_exact_binomial_one(values: list[float], k: int) -> None:
    exact = binomtest(k, len(values)).proportion_ci(0.95, method="exact")
    interval = mean_interval(np.array(values), **PLAIN)
    assert interval == pytest.approx((k / len(values), exact.low, exact.high))


def test_equal_values_between_the_bounds_move_as_far_as_an_unseen_share_allows() -> None:
    share = binomtest(0, 10).proportion_ci(0.95, method="exact").high
    assert mean_interval(np.full(10, 0.5), **PLAIN) == pytest.approx((0.5, 0.5 - share / 2, 0.5 + share / 2))
    zero = paired_difference(np.full(10, 0.3), np.full(10, 0.3), **PLAIN)
    assert zero == pytest.approx((0.0, -share, share))
    assert paired_difference(np.full(10, 7.0), np.full(10, 2.0), bounds=None, **PLAIN) == (5.0, 5.0, 5.0)


def test_a_known_case_by_the_bias_corrected_and_accelerated_formula() -> None:
    """Efron and Tibshirani, equations 14.9, 14.10 and 14.15, worked out with numpy on resamples of our own."""
    values = np.array([0.0] * 90 + [0.5] * 20 + [1.0] * 10)
    means = np.random.default_rng(5).choice(values, (40_000, len(values))).mean(axis=1)
    bias = norm.ppf((np.sum(means < values.mean()) + np.sum(means <= values.mean())) / (2 * len(means)))
    jackknife = (values.sum() - values) / (len(values) - 1)
    away = jackknife.mean() - jackknife
    acceleration = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    ends = []
    for z in norm.ppf([0.025, 0.975]):
        level = norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        ends.append(np.quantile(means, level))
    interval = mean_interval(values, confidence=0.95, resamples=40_000, seed=2)
    assert interval.mean == pytest.approx(1 / 6)
    assert interval[1:] == pytest.approx(ends, abs=0.004)


def test_close_to_the_normal_interval_where_that_is_right() -> None:
    values = np.random.default_rng(3).binomial(4, 0.5, 400) / 4
    half = t.ppf(0.975, 399) * values.std(ddof=1) / 20
    interval = mean_interval(values, **PLAIN)
    assert interval == pytest.approx((values.mean(), values.mean() - half, values.mean() + half), abs=0.004)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        values = rng.binomial(2, rng.beta(1, 3, 100)) / 2
        interval = mean_interval(values, confidence=0.9, resamples=500, seed=0)
        covered += interval.low <= 0.25 <= interval.high
    assert 0.84 <= covered / 200 <= 0.96


def test_pairing_takes_out_what_problems_share() -> None:
    rng = np.random.default_rng(6)
    difficulty = rng.random(200)
    control = (difficulty > 0.5).astype(float)
    model = (difficulty > 0.4).astype(float)
    difference = paired_difference(model, control, **PLAIN)
    apart = mean_interval(model, **PLAIN).low - mean_interval(control, **PLAIN).high
    assert difference.mean == pytest.approx(np.mean(model - control))
    assert difference.low > 0 > apart


def test_equal_seeds_give_equal_intervals_and_others_do_not() -> None:
    values = np.random.default_rng(7).random(50)
    assert mean_interval(values, **PLAIN) == mean_interval(values, **PLAIN)
    assert mean_interval(values, **PLAIN) != mean_interval(values, **(PLAIN | {"seed": 2}))


def test_a_wider_confidence_is_a_wider_interval() -> None:
    values = np.random.default_rng(8).random(50)
    wide, narrow = (mean_interval(values, **(PLAIN | {"confidence": c})) for c in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_no_problems_are_an_error() -> None:
    with pytest.raises(DataError, match="no problem"):
        mean_interval(np.array([]), **PLAIN)
