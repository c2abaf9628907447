"""pass@k of a fractured run along its paths, depths and draws, with the cost that makes them comparable.

Fractured Sampling (arXiv 2505.12992): along n, full paths with one answer each; along H, k evenly spaced depths of one
path, the last among them; along m, k answers to one whole path; jointly, a path is right if any of its H x m answers
is. The cost is B = n (C_think + m H C_solution), and pass@k is described as a straight line over ln B.

Where the published code takes the first draws, every subset of them is averaged over, exactly: the same expectation
with less noise. A path none of whose chosen answers was graded is no path there, and a problem with fewer paths than
are asked for has no value (nan).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.depths import evenly_spaced
from elastic.metrics.intervals import mean_interval, paired_difference
from elastic.metrics.lattice import Lattice
from elastic.metrics.pass_at_k import chance_of_none


def path_hits(lattice: Lattice, depths: tuple[int, ...], draws: int) -> np.ndarray:
    """Chance that any of a path's answers at the depths is correct, with `draws` of its draws at each; shape (P, n).

    nan for a path without graded answers there. A depth with fewer graded answers gives all that it has.
    """
    columns = np.array(depths) - 1
    graded, correct = (array[:, :, columns].sum(axis=3) for array in (lattice.graded, lattice.correct))
    hits = 1 - chance_of_none(graded, correct, draws).prod(axis=2)
    return np.where(graded.any(axis=2), hits, np.nan)


def over_paths(hits: np.ndarray) -> np.ndarray:
    """Chance that any of k paths is right, averaged over every k of a problem's paths; k = 1 to n, shape (P, n).

    With chances of 0 and 1 this is pass@k; with others it is 1 - e_k(1 - p) / C(n, k), e_k being the elementary
    symmetric polynomial, by a recurrence over the paths whose terms are all means.

    Args:
        hits: from `path_hits`, shape (P, n); paths of nan are left out.

    Returns:
        One column a k; nan where a problem has fewer than k paths.
    """
    problems, paths = hits.shape
    sizes = np.arange(1, paths + 1)
    # Column k: the mean over k of the paths so far of the chance that all of them miss.
    missing = np.zeros((problems, paths + 1))
    missing[:, 0] = 1.0
    seen = np.zeros((problems, 1))
    for path in range(paths):
        known = ~np.isnan(hits[:, path, None])
        miss = np.where(known, 1 - hits[:, path, None], 0.0)
        share = np.minimum(sizes / (seen + 1), 1.0)
        updated = share * miss * missing[:, :-1] + (1 - share) * missing[:, 1:]
        missing[:, 1:] = np.where(known, updated, missing[:, 1:])
        seen += known
    return np.where(sizes <= seen, 1 - missing[:, 1:], np.nan)


@dataclass(frozen=True)
class Curve:
    """pass@k of configurations along one axis, in order of rising k.

    Attributes:
        axis: n, H or m; or what is held fixed along n ("n, H=4, m=2").
        sizes: (n, H, m) of every configuration; K of them.
        costs: B in tokens a problem, shape (K,).
        problems: ids, shape (P,).
        values: shape (P, K), nan where a problem has none.
    """

    axis: str
    sizes: list[tuple[int, int, int]]
    costs: np.ndarray
    problems: pl.Series
    values: np.ndarray


def along_paths(lattice: Lattice, *, depths: int = 1, draws: int = 1) -> Curve:
    """pass@k for k = 1 to n paths, each with `draws` answers at `depths` evenly spaced depths: the joint form.

    With one of each it is the form along n. The k paths share C_think and C_solution.
    """
    chosen = evenly_spaced(lattice.shape[2], depths)
    values = over_paths(path_hits(lattice, chosen, draws))
    sizes = [(k, depths, draws) for k in range(1, lattice.shape[1] + 1)]
    axis = "n" if depths == draws == 1 else f"n, H={depths}, m={draws}"
    return Curve(axis, sizes, np.array([lattice.cost(k, chosen, draws) for k, _, _ in sizes]), lattice.problems, values)


def along_depths(lattice: Lattice, *, draws: int = 1) -> Curve:
    """pass@k for k = 1 to H evenly spaced depths of one path, averaged over the paths."""
    chosen = [evenly_spaced(lattice.shape[2], k) for k in range(1, lattice.shape[2] + 1)]
    values = [over_paths(path_hits(lattice, depths, draws))[:, 0] for depths in chosen]
    axis = "H" if draws == 1 else f"H, m={draws}"
    costs = np.array([lattice.cost(1, depths, draws) for depths in chosen])
    return Curve(
        axis, [(1, len(depths), draws) for depths in chosen], costs, lattice.problems, np.stack(values, axis=1)
    )


def along_draws(lattice: Lattice) -> Curve:
    """pass@k for k = 1 to m answers to one whole path, averaged over the paths."""
    last = evenly_spaced(lattice.shape[2], 1)
    sizes = [(1, 1, k) for k in range(1, lattice.shape[3] + 1)]
    values = [over_paths(path_hits(lattice, last, k))[:, 0] for _, _, k in sizes]
    costs = np.array([lattice.cost(1, last, k) for _, _, k in sizes])
    return Curve("m", sizes, costs, lattice.problems, np.stack(values, axis=1))


def curve_table(curves: Sequence[Curve], *, confidence: float, resamples: int, seed: int) -> pl.DataFrame:
    """Every point of the curves.

    Returns:
        Columns axis, n, depths, draws, cost (B, tokens a problem), value, low, high, n_problems. Points that no problem
        has a value for are left out.
    """
    rows = []
    for curve in curves:
        for (paths, depths, draws), cost, values in zip(curve.sizes, curve.costs, curve.values.T, strict=True):
            known = values[~np.isnan(values)]
            if len(known):
                interval = mean_interval(known, confidence=confidence, resamples=resamples, seed=seed)
                rows.append((curve.axis, paths, depths, draws, float(cost), *interval, len(known)))
    names = ["axis", "n", "depths", "draws", "cost", "value", "low", "high", "n_problems"]
    return pl.DataFrame(rows, schema=names, orient="row")


def at_cost(curve: Curve, cost: float) -> np.ndarray:
    """pass@k of every problem at a cost B between two configurations, on a straight line over ln B; shape (P,).

    Raises:
        DataError: no configuration of the curve is as cheap, or none as dear.
    """
    for (cheap, dear), (left, right) in zip(pairwise(curve.costs), pairwise(curve.values.T), strict=True):
        if cheap <= cost <= dear and cheap < dear:
            share = np.log(cost / cheap) / np.log(dear / cheap)
            return np.where(share == 0, left, np.where(share == 1, right, (1 - share) * left + share * right))
    if cost == curve.costs[0]:
        return curve.values[:, 0]
    raise DataError(
        f"a cost of {cost:g} tokens a problem lies outside {curve.costs[0]:g} to {curve.costs[-1]:g}",
        where=f"the curve along {curve.axis}",
        remedy="compare at a cost that all curves reach, or sample more",
    )


def equal_cost(curves: Sequence[Curve], cost: float, *, confidence: float, resamples: int, seed: int) -> pl.DataFrame:
    """The curves at one cost, each also as a paired difference from the first; over the problems that all have.

    Returns:
        Columns axis, value, low, high, difference, difference_low, difference_high (null for the first), n_problems.

    Raises:
        DataError: a curve does not reach the cost, or no problem has a value on all of them.
    """
    values = np.stack([at_cost(curve, cost) for curve in curves])
    values = values[:, ~np.isnan(values).any(axis=0)]
    interval = partial(mean_interval, confidence=confidence, resamples=resamples, seed=seed)
    difference = partial(paired_difference, confidence=confidence, resamples=resamples, seed=seed)
    rows = []
    for place, curve in enumerate(curves):
        gain = difference(values[place], values[0]) if place else (None, None, None)
        rows.append((curve.axis, *interval(values[place]), *gain, values.shape[1]))
    names = ["axis", "value", "low", "high", "difference", "difference_low", "difference_high", "n_problems"]
    return pl.DataFrame(rows, schema=names, orient="row")
