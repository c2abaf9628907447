from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest
from made_runs import random_run
from scipy.stats import t, ttest_1samp

from elastic.errors import DataError
from elastic.metrics.intervals import mean_interval, paired_difference
from elastic.metrics.pass_at_k import mean_at_k, pass_at_k
from elastic.metrics.variation import decompose, interval_over_runs, measured_difference, on_shared_problems
from elastic.metrics.voting import majority

FREE = (-np.inf, np.inf)


def test_components_by_hand() -> None:
    """Problems 1, 2, 3 with runs -+ 0.5 and a rest of +- 0.1 in two of them: mean squares 2, 1.5 and 0.02 by hand."""
    rest = np.array([[0.1, -0.1], [-0.1, 0.1], [0.0, 0.0]])
    values = np.array([[1.0], [2.0], [3.0]]) + np.array([[-0.5, 0.5]]) + rest
    found = decompose(values)
    assert found.mean == pytest.approx(2)
    assert found.rest == pytest.approx(0.04 / 2)
    assert found.problems == pytest.approx((2 * 1 - 0.02) / 2)
    assert found.runs == pytest.approx((3 * 0.5 - 0.02) / 3)
    assert found.between_runs == pytest.approx((found.runs + 0.02 / 3) ** 0.5)
    assert found.between_sets == pytest.approx((found.problems / 3) ** 0.5)
    assert (found.n_problems, found.n_runs) == (3, 2)


def test_components_agree_with_the_moments_of_pairs() -> None:
    """Another way to the same: the expected product of two centred values that share a problem, a run, or neither."""
    values = np.random.default_rng(1).random((7, 5))
    problems, runs = values.shape
    square = (values**2).sum()
    same_problem = ((values.sum(axis=1) ** 2).sum() - square) / (problems * runs * (runs - 1))
    same_run = ((values.sum(axis=0) ** 2).sum() - square) / (problems * runs * (problems - 1))
    others = values.sum() ** 2 - (values.sum(axis=1) ** 2).sum() - (values.sum(axis=0) ** 2).sum() + square
    neither = others / (problems * runs * (problems - 1) * (runs - 1))
    found = decompose(values)
    assert found.problems == pytest.approx(max(0, same_problem - neither))
    assert found.runs == pytest.approx(max(0, same_run - neither))
    assert found.rest == pytest.approx(square / (problems * runs) - same_problem - same_run + neither)


def test_components_are_found_again_in_many_values() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 2, (400, 1)) + rng.normal(0, 0.5, (1, 300)) + rng.normal(0, 1, (400, 300))
    found = decompose(values)
    assert (found.problems, found.runs, found.rest) == pytest.approx((4, 0.25, 1), rel=0.2)


def test_without_run_effects_the_interval_is_that_over_problems() -> None:
    rng = np.random.default_rng(3)
    values = rng.random((30, 1)) + np.array([[0.01, -0.01]]) * rng.choice([-1, 1], (30, 1))
    values -= values.mean(axis=0)
    wanted = ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.95)
    assert interval_over_runs(values, confidence=0.95, bounds=FREE)[1:] == pytest.approx(wanted)


def test_without_problem_effects_the_interval_is_that_over_runs() -> None:
    runs = np.array([0.2, 0.5, 0.3, 0.6])
    values = np.tile(runs, (10, 1))
    half = t.ppf(0.95, 3) * runs.std(ddof=1) / 2
    assert interval_over_runs(values, confidence=0.9, bounds=FREE) == pytest.approx((0.4, 0.4 - half, 0.4 + half))
    assert interval_over_runs(values, confidence=0.99).low == 0


def test_the_interval_covers_other_problems_and_other_runs() -> None:
    rng = np.random.default_rng(4)
    covered, naive = 0, 0
    for _ in range(300):
        values = rng.normal(0, 1, (40, 1)) + rng.normal(0, 0.3, (1, 5)) + rng.normal(0, 1, (40, 5))
        low, high = interval_over_runs(values, confidence=0.9, bounds=FREE)[1:]
        covered += low <= 0 <= high
        low, high = ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.9)
        naive += low <= 0 <= high
    assert 0.86 <= covered / 300 <= 0.96
    assert naive < covered


def test_equal_values_fall_back_to_the_exact_interval() -> None:
    exact = mean_interval(np.ones(12), confidence=0.95, resamples=1, seed=0)
    assert interval_over_runs(np.ones((12, 3)), confidence=0.95) == exact


def test_one_run_or_one_problem_is_refused() -> None:
    for shape in ((5, 1), (1, 5)):
        with pytest.raises(DataError, match="nothing to tell their variances apart"):
            decompose(np.zeros(shape))


def test_any_measure_is_compared_on_the_problems_that_both_have() -> None:
    model, control = random_run(30, 4, 1, 1, seed=1), random_run(30, 4, 1, 1, seed=2)
    control = control.filter(pl.col("problem_id") >= "0010")
    plain = {"confidence": 0.95, "resamples": 300, "seed": 3}
    for measure in (mean_at_k, majority, partial(pass_at_k, k=3)):
        left = measure(model).filter(pl.col("problem_id") >= "0010")["value"].to_numpy()
        right = measure(control)["value"].to_numpy()
        assert measured_difference(model, control, measure, **plain) == paired_difference(left, right, **plain)
    values = on_shared_problems([model, control, model], mean_at_k)
    assert values.shape == (20, 3)
    assert np.array_equal(values[:, 0], values[:, 2])
    with pytest.raises(DataError, match="no problem was measured in all runs"):
        on_shared_problems([model.head(4), control], mean_at_k)
