"""Accuracy and tokens as hard problems are mixed into easy ones.

ALP: Just Enough Thinking (arXiv 2506.05256) mixes AIME into MATH: from 0 to 12 % of 500 problems and from 0 to 60 % of
100. A model that fits its thinking to a problem spends as much as the mixture needs; one with a fixed length does not.

No response is sampled for it: a mixture's expected accuracy is made from that of every problem of an easy and of a hard
pool. Two intervals say two things: over problems, how well the pools tell the expectation of such a mixture (both pools
are resampled), and over mixtures, how far one drawn set of that size lies from it. A set is drawn without replacement
where its pools are large enough; a pool that is smaller than the most that a set needs of it is drawn with replacement,
which `MixtureCurve.replaced` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.intervals import Interval
from elastic.metrics.resampling import percentile_interval

MEASURES = ("accuracy", "tokens")


@dataclass(frozen=True)
class Design:
    """Sets of `size` problems whose share of hard ones goes from 0 to `most`."""

    size: int
    most: float

    def hard_counts(self, points: int) -> list[int]:
        """Hard problems at each of `points` shares, evenly spaced and rounded to whole problems, without repeats."""
        return sorted({round(self.size * self.most * i / (points - 1)) for i in range(points)})


# ALP's two designs: up to 60 problems of AIME in both.
PUBLISHED = (Design(500, 0.12), Design(100, 0.6))


@dataclass(frozen=True)
class Mixture:
    """Sets with the same share of hard problems.

    Attributes:
        hard_share: hard problems over all, 0 to 1.
        accuracy, tokens: expectation over drawn sets, exactly, with its interval over the problems of the pools.
        drawn_accuracy, drawn_tokens: the same expectation, with the interval in which a drawn set lies.
    """

    hard_share: float
    accuracy: Interval
    tokens: Interval
    drawn_accuracy: Interval
    drawn_tokens: Interval


@dataclass(frozen=True)
class MixtureCurve:
    """Mixtures of one size.

    Attributes:
        size: problems of a set.
        easy_pool, hard_pool: how many problems sets are drawn from.
        replaced: which pools are drawn from with replacement: "easy", "hard", both or none.
        points: by rising share of hard problems.
    """

    size: int
    easy_pool: int
    hard_pool: int
    replaced: tuple[str, ...]
    points: tuple[Mixture, ...]


def _running_sums(values: np.ndarray, picks: np.ndarray) -> np.ndarray:
    """Sums of the first 0, 1, 2, ... picked problems, shape (draws, 1 + picks)."""
    return np.pad(np.cumsum(values[picks], axis=1), ((0, 0), (1, 0)))


def mixture_curve(
    easy: pl.DataFrame,
    hard: pl.DataFrame,
    size: int,
    hard_counts: Sequence[int],
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> MixtureCurve:
    """Accuracy and tokens of sets with more and more hard problems.

    Args:
        easy, hard: from `problem_means`: columns problem_id, accuracy and tokens of each pool.
        size: problems of a set.
        hard_counts: of them, how many are hard, at every point; `Design.hard_counts` has the published ones.
        confidence, resamples, seed: of the intervals; equal seeds draw the same problems of equal pools.

    Raises:
        DataError: a pool is empty, or both have a problem in common; a set has fewer than 0 or more than `size` hard
            problems.
    """
    for name, pool in (("easy", easy), ("hard", hard)):
        if pool.is_empty():
            raise DataError(f"the {name} pool has no problem", where="mixtures", remedy="choose another border")
    if common := set(easy["problem_id"]) & set(hard["problem_id"]):
        raise DataError(
            f"{len(common)} problems are both easy and hard, first {min(common)}",
            where="mixtures",
            remedy="cut the pools so that each problem is in one",
        )
    if not hard_counts or min(hard_counts) < 0 or max(hard_counts) > size:
        raise DataError(
            f"sets of {size} cannot have {list(hard_counts)} hard problems",
            where="mixtures",
            remedy="use 0 to the size",
        )
    rng = np.random.default_rng(seed)
    replaced, resampled, drawn, means = [], {}, {}, {}
    for name, pool, needed in (("easy", easy, size - min(hard_counts)), ("hard", hard, max(hard_counts))):
        n = len(pool)
        again = rng.integers(0, n, size=(resamples, n))
        if needed > n:
            replaced.append(name)
            picks = rng.integers(0, n, size=(resamples, needed))
        else:
            picks = rng.permuted(np.tile(np.arange(n), (resamples, 1)), axis=1)[:, :needed]
        for measure in MEASURES:
            values = pool[measure].to_numpy()
            means[name, measure] = float(values.mean())
            resampled[name, measure] = values[again].mean(axis=1)
            drawn[name, measure] = _running_sums(values, picks)

    def figures(measure: str, count: int) -> tuple[Interval, Interval]:
        easy_share, hard_share = (size - count) / size, count / size
        expected = easy_share * means["easy", measure] + hard_share * means["hard", measure]
        over_problems = easy_share * resampled["easy", measure] + hard_share * resampled["hard", measure]
        over_sets = (drawn["easy", measure][:, size - count] + drawn["hard", measure][:, count]) / size
        return (
            percentile_interval(expected, over_problems, confidence),
            percentile_interval(expected, over_sets, confidence),
        )

    points = []
    for count in sorted(hard_counts):
        (accuracy, drawn_accuracy), (tokens, drawn_tokens) = (figures(measure, count) for measure in MEASURES)
        points.append(Mixture(count / size, accuracy, tokens, drawn_accuracy, drawn_tokens))
    return MixtureCurve(size, len(easy), len(hard), tuple(replaced), tuple(points))
