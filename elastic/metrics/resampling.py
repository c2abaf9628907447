"""The bootstrap over problems for figures that are no mean over problems: ratios, areas, quantiles, fits.

Problems are drawn with replacement, as often as there are, and everything that was sampled for a problem comes with it.
The interval is the percentile one (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). Means over
problems have a better one in `elastic/metrics/intervals.py`.
"""

from __future__ import annotations

import numpy as np

from elastic.errors import DataError
from elastic.metrics.intervals import Interval


def problem_draws(problems: int, *, resamples: int, seed: int) -> np.ndarray:
    """How often every problem is drawn in every resample, shape (resamples, problems), each row adding up to problems.

    Equal seeds draw the same problems, which pairs the figures of two models.

    Raises:
        DataError: there are no problems.
    """
    if not problems:
        raise DataError("no problem was graded", remedy="look at the errors of the grader")
    rng = np.random.default_rng(seed)
    return rng.multinomial(problems, np.full(problems, 1 / problems), size=resamples).astype(float)


def percentile_interval(value: float, resampled: np.ndarray, confidence: float) -> Interval:
    """`value` between the quantiles of its resampled values, shape (resamples,); a nan among them is left out.

    Raises:
        DataError: no resample has a value.
    """
    known = resampled[~np.isnan(resampled)]
    if not len(known):
        raise DataError(
            "no resample of the problems gives this figure, so it has no interval", remedy="evaluate more problems"
        )
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def ratio_interval(numerators: np.ndarray, denominators: np.ndarray, draws: np.ndarray, confidence: float) -> Interval:
    """Sum of `numerators` over sum of `denominators`, and its interval.

    Args:
        numerators, denominators: one sum a problem, shape (n problems,); a problem without any has 0 in both.
        draws: from `problem_draws`; resamples without a denominator are left out.
        confidence: of the two-sided interval.

    Raises:
        DataError: the denominators add up to 0.
    """
    if np.sum(denominators) <= 0:
        raise DataError("a ratio over nothing: its denominators are all 0", remedy="leave this group out")
    below = draws @ denominators
    ratios = np.divide(draws @ numerators, below, out=np.full(len(draws), np.nan), where=below > 0)
    return percentile_interval(float(np.sum(numerators) / np.sum(denominators)), ratios, confidence)
