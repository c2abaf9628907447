"""Confidence intervals of means and of paired differences, over problems.

Samples of one problem are no independent observations, so problems are resampled, never traces. The interval is the
bias-corrected and accelerated bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 14), which
follows the skew of accuracies near 0 and 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import bootstrap

from elastic.errors import DataError

_BATCH_CELLS = 2_000_000


class Interval(NamedTuple):
    """A mean over problems and its confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(
    values: np.ndarray,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Interval:
    """The mean of one value a problem, and its interval.

    Where all values are equal (or there is only one) resampling says nothing. Then the interval is the exact binomial
    one for the share of problems that would differ, of which 0 in n were seen (Clopper and Pearson), each differing as
    far as `bounds` allow. For accuracies that are all 0 or all 1 this is the binomial interval of the accuracy itself.

    Args:
        values: shape (n problems,), within `bounds`.
        confidence: of the two-sided interval.
        resamples: of the bootstrap.
        seed: of the bootstrap; equal seeds and values give equal intervals.
        bounds: what a value can be; None for values without bounds, whose interval is a point where all are equal.

    Raises:
        DataError: there are no values.
    """
    values = np.asarray(values, dtype=float)
    if not len(values):
        raise DataError("no problem was graded", remedy="look at the errors of the grader")
    if np.ptp(values) == 0:
        mean = float(values[0])
        low, high = bounds or (mean, mean)
        unseen = 1 - ((1 - confidence) / 2) ** (1 / len(values))
        return Interval(mean, mean - unseen * (mean - low), mean + unseen * (high - mean))
    found = bootstrap(
        (values,),
        np.mean,
        vectorized=True,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, _BATCH_CELLS // len(values)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(np.mean(values)), float(found.low), float(found.high))


def paired_difference(
    model: np.ndarray,
    control: np.ndarray,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> Interval:
    """Mean of model minus control over the same problems, and its interval.

    Args:
        model, control: one value a problem in the same order, shape (n problems,); `pair_problems` joins accuracies.
        confidence, resamples, seed: as for `mean_interval`.
        bounds: what a difference can be; the default is that of accuracies.

    Raises:
        DataError: there are no problems.
    """
    differences = np.asarray(model, dtype=float) - np.asarray(control, dtype=float)
    return mean_interval(differences, confidence=confidence, resamples=resamples, seed=seed, bounds=bounds)
