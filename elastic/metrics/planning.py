"""Which (n, H, m) to sample for a given cost, planned on one scored fractured run.

A run with n paths, H depths and m draws (Fractured Sampling, arXiv 2505.12992) holds every smaller one: n' paths, some
of the depths (evenly spaced with the last, or only the last few) and m' draws. Each has an expected value and a cost
B = n' (C_think + m' H' C_solution), from which the best under a cost is read. The published work picks them by hand.

The best of thousands looks better than it is, by luck. So plan on validation and measure on test; and what a plan is
surely better than, and what it may equal, is said with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.best_of import LOGPROB
from elastic.metrics.depths import evenly_spaced, last_depths
from elastic.metrics.intervals import Interval, mean_interval, paired_difference
from elastic.metrics.lattice import Lattice, lattice_of
from elastic.metrics.pass_curves import over_paths, path_hits
from elastic.metrics.subsampling import DepthSets, expected_best_of, expected_majority

PlannedMeasure = Literal["pass", "majority", "best_of"]
# Values closer than this are equal but for rounding.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Candidates:
    """Every configuration that a run holds.

    Attributes:
        table: by rising cost: paths, spacing (even or last), depths (list), draws, cost (B, tokens a problem), value;
            N rows.
        values: of every problem that has a value under all of them, shape (problems, N).
    """

    table: pl.DataFrame
    values: np.ndarray


@dataclass(frozen=True)
class Choice:
    """The best configuration under a cost.

    Attributes:
        paths, spacing, depths, draws, cost: what to sample, and B in tokens a problem.
        value: with its interval over problems.
        rivals: the cheaper configurations of the frontier: the columns of `Candidates.table`, `difference` (best minus
            rival, paired by problem) with `difference_low` and `difference_high`, and `overlaps`: whether the rival
            may be as good.
        n_problems: behind all of them.
    """

    paths: int
    spacing: str
    depths: tuple[int, ...]
    draws: int
    cost: float
    value: Interval
    rivals: pl.DataFrame
    n_problems: int


def _depth_sets(depths: int) -> dict[tuple[int, ...], str]:
    """Sets of depths and how they are spaced; where both spacings give a set it is an even one."""
    sets = {evenly_spaced(depths, count): "even" for count in range(1, depths + 1)}
    return sets | {last: "last" for count in range(2, depths) if (last := last_depths(depths, count)) not in sets}


def _expected_pass(lattice: Lattice, depth_sets: DepthSets) -> np.ndarray:
    """Chance of any correct answer, shape (P, n, S, m)."""
    draws = range(1, lattice.shape[3] + 1)
    by_set = [np.stack([over_paths(path_hits(lattice, chosen, m)) for m in draws], axis=2) for chosen in depth_sets]
    return np.stack(by_set, axis=2)


def candidates(
    frame: pl.DataFrame, measure: PlannedMeasure, *, shuffles: int, seed: int, score: str = LOGPROB
) -> Candidates:
    """Value and cost of every configuration.

    Args:
        frame: answers of one cell of a fractured run; `answer` is canonical where votes are counted.
        measure: pass (any answer is correct), majority, or best_of.
        shuffles: random parts of the run that votes and scores are averaged over; `pass` is exact.
        seed: of the parts.
        score: column of the scores, for best_of.

    Raises:
        DataError: the frame is no single cell, or no problem has a value under all configurations.
    """
    lattice = lattice_of(frame)
    _, paths, depths, draws = lattice.shape
    spacings = _depth_sets(depths)
    sets = list(spacings)
    if measure == "pass":
        values = _expected_pass(lattice, sets)
    elif measure == "majority":
        values = expected_majority(lattice, frame, sets, shuffles=shuffles, seed=seed)
    else:
        values = expected_best_of(lattice, frame, sets, score=score, shuffles=shuffles, seed=seed)
    values = values[~np.isnan(values).any(axis=(1, 2, 3))]
    if not len(values):
        raise DataError(
            "no problem has graded answers on every path, depth and draw", remedy="look at the errors of the grader"
        )
    n, m = np.arange(1.0, paths + 1)[:, None], np.arange(1.0, draws + 1)
    costs = np.stack([lattice.cost(n, chosen, m) for chosen in sets], axis=1)
    place = np.indices(costs.shape).reshape(3, -1)
    values = values.reshape(len(values), -1)
    order = np.lexsort((-values.mean(axis=0), costs.ravel()))
    values = values[:, order]
    table = pl.DataFrame(
        {
            "paths": place[0, order] + 1,
            "spacing": [spacings[sets[which]] for which in place[1, order]],
            "depths": [list(sets[which]) for which in place[1, order]],
            "draws": place[2, order] + 1,
            "cost": costs.ravel()[order],
            "value": values.mean(axis=0),
        }
    )
    return Candidates(table, values)


def frontier(table: pl.DataFrame) -> pl.DataFrame:
    """The configurations that are better than all cheaper ones, by rising cost."""
    before = pl.col("value").cum_max().shift(1, fill_value=-np.inf)
    return table.filter(pl.col("value") > before + _EQUAL)


def best_under(found: Candidates, cost: float, *, confidence: float, resamples: int, seed: int) -> Choice:
    """The configuration with the highest value at no more than a cost; the cheapest of equal ones.

    Args:
        found: from `candidates`.
        cost: the most tokens a problem may cost.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: nothing is as cheap.
    """
    ranked = found.table.with_row_index("place")
    affordable = frontier(ranked.filter(pl.col("cost") <= cost))
    if affordable.is_empty():
        raise DataError(
            f"nothing costs {cost:g} tokens a problem or less; the cheapest is {found.table['cost'][0]:g}",
            remedy="allow more, or think under a smaller budget",
        )
    *_, best = affordable.iter_rows(named=True)
    values = found.values[:, best["place"]]
    difference = partial(paired_difference, confidence=confidence, resamples=resamples, seed=seed)
    gains = [difference(values, found.values[:, place]) for place in affordable["place"][:-1]]
    rivals = affordable.head(-1).drop("place")
    for column, part in (("difference", "mean"), ("difference_low", "low"), ("difference_high", "high")):
        rivals = rivals.with_columns(pl.Series(column, [getattr(gain, part) for gain in gains], dtype=pl.Float64))
    return Choice(
        best["paths"],
        best["spacing"],
        tuple(best["depths"]),
        best["draws"],
        best["cost"],
        mean_interval(values, confidence=confidence, resamples=resamples, seed=seed),
        rivals.with_columns(overlaps=pl.col("difference_low") <= 0),
        len(values),
    )
