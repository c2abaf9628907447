"""The bootstrap of figures that are no means."""

from __future__ import annotations

import numpy as np
import pytest

from elastic.errors import DataError
from elastic.metrics.resampling import percentile_interval, problem_draws, ratio_interval


def test_every_resample_draws_as_many_problems_as_there_are() -> None:
    draws = problem_draws(7, resamples=40, seed=1)
    assert draws.shape == (40, 7)
    assert (draws.sum(axis=1) == 7).all()
    assert (draws == problem_draws(7, resamples=40, seed=1)).all()
    assert not (draws == problem_draws(7, resamples=40, seed=2)).all()


def test_the_interval_holds_its_share_of_the_resamples() -> None:
    found = percentile_interval(50.0, np.arange(101.0), 0.9)
    assert found == pytest.approx((50.0, 5.0, 95.0))
    assert percentile_interval(1.0, np.array([np.nan, 1, 1, 1]), 0.9) == (1.0, 1.0, 1.0)


def test_a_mean_as_a_ratio_has_the_spread_that_scipy_finds() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(5).exponential(size=80)
    found = ratio_interval(values, np.ones(80), problem_draws(80, resamples=4000, seed=6), 0.95)
    other = bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(7))
    low, high = other.confidence_interval
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == (pytest.approx(low, rel=0.05), pytest.approx(high, rel=0.05))


def test_a_constant_ratio_has_no_spread() -> None:
    sizes = np.array([1.0, 2, 3, 0])
    found = ratio_interval(2 * sizes, sizes, problem_draws(4, resamples=200, seed=8), 0.95)
    assert found == (2.0, 2.0, 2.0)


def test_nothing_has_no_interval() -> None:
    with pytest.raises(DataError, match="no problem"):
        problem_draws(0, resamples=2, seed=1)
    with pytest.raises(DataError, match="all 0"):
        ratio_interval(np.ones(2), np.zeros(2), problem_draws(2, resamples=2, seed=1), 0.95)
