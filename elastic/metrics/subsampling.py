"""What a vote or a scorer would pick on average from fewer paths and draws of a lattice than were sampled.

pass@k of a part has a closed form (pass_curves); a vote has none. So paths, and at every path and depth the draws, are
put in random order over and over, and the first n' and m' of them are taken: nested parts of one order, which pairs
their comparison. Where all paths and draws are taken every order gives the same, the measure of `voting.majority` or
`best_of.best_of` itself. Ungraded draws come last, so that they are taken only where no graded one is left; a path none
of whose chosen answers was graded is no path, and a problem with fewer paths than are asked for has no value (nan).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np
import polars as pl

from elastic.metrics.best_of import scores_of
from elastic.metrics.lattice import Lattice
from elastic.metrics.voting import ANSWERED

DepthSets = Sequence[tuple[int, ...]]
# Cells of the largest array that several orders together may fill, which bounds memory.
_CELLS = 20_000_000


class Orders(NamedTuple):
    """One random order of draws, shape (P, n, H, m), and keys that order the paths, shape (P, n)."""

    draws: np.ndarray
    paths: np.ndarray


def _orders(lattice: Lattice, shuffles: int, seed: int) -> Iterator[Orders]:
    rng = np.random.default_rng(seed)
    for _ in range(shuffles):
        draws = np.argsort(rng.random(lattice.shape) + ~lattice.graded, axis=3)
        yield Orders(draws, rng.random(lattice.shape[:2]))


def _paths_in_order(lattice: Lattice, columns: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the paths in random order, ungraded ones last, shape (P, n), and where k paths are too many."""
    known = lattice.graded[:, :, columns].any(axis=(2, 3))
    order = np.argsort(keys + ~known, axis=1)
    return order, np.arange(1, lattice.shape[1] + 1) > known.sum(axis=1, keepdims=True)


def expected_majority(
    lattice: Lattice, frame: pl.DataFrame, depth_sets: DepthSets, *, shuffles: int, seed: int
) -> np.ndarray:
    """Majority vote over n' paths, a set of depths and m' draws.

    Args:
        lattice: of `frame`.
        frame: answers of one cell; `answer` is canonical, as in `voting.majority`.
        depth_sets: S sets of depths.
        shuffles: random orders that are averaged over.
        seed: of the orders.

    Returns:
        Shape (P, n, S, m): value of every problem by n' - 1, set and m' - 1.
    """
    rows = frame.select(
        answer=pl.when(ANSWERED & (pl.col("verdict") != "error")).then("answer"), problem="problem_id"
    ).select(code=(pl.col("answer").rank("dense").over("problem") - 1).fill_null(-1).cast(pl.Int64))
    codes = lattice.spread(rows["code"].to_numpy(), -1)
    problems, paths, depths, draws = lattice.shape
    right = _share_correct(codes, lattice.correct)
    together = max(1, _CELLS // (problems * draws * max(right.shape[1] + 1, paths * depths)))
    values = np.zeros((problems, paths, len(depth_sets), draws))
    for group in _grouped(_orders(lattice, shuffles, seed), together):
        drawn = [np.take_along_axis(codes, orders.draws, axis=3) for orders in group]
        for place, chosen in enumerate(depth_sets):
            columns = np.array(chosen) - 1
            votes = []
            for part, orders in zip(drawn, group, strict=True):
                order, too_many = _paths_in_order(lattice, columns, orders.paths)
                votes.append(np.take_along_axis(part[:, :, columns], order[:, :, None, None], axis=1))
                values[:, :, place][too_many] = np.nan
            found = _vote(np.concatenate(votes), np.tile(right, (len(group), 1)))
            values[:, :, place] += found.reshape(len(group), problems, paths, draws).sum(axis=0)
    return values / shuffles


def _grouped(orders: Iterator[Orders], size: int) -> Iterator[list[Orders]]:
    while group := list(islice(orders, size)):
        yield group


def _share_correct(codes: np.ndarray, correct: np.ndarray) -> np.ndarray:
    """Share of correct verdicts of every different answer, shape (P, K)."""
    shape = len(codes), max(int(codes.max()) + 1, 1)
    flat = (np.arange(len(codes)).reshape(-1, 1, 1, 1) * shape[1] + codes)[codes >= 0]
    votes = np.bincount(flat, minlength=shape[0] * shape[1])
    hits = np.bincount(flat, weights=correct[codes >= 0], minlength=shape[0] * shape[1])
    return (hits / np.maximum(votes, 1)).reshape(shape)


def _vote(codes: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Value of the vote over the first n' paths and m' draws, shape (R, n, m).

    The votes are cast one after the other, in all rows at once: each can only overtake the leaders or join them, so
    that nothing is ever counted again.

    Args:
        codes: answers in order, -1 for none, shape (R, n, depths, m).
        right: value of every answer, shape (R, K).
    """
    rows, paths, depths, draws = codes.shape
    kinds = right.shape[1] + 1  # one more, for no answer
    places = np.arange(rows) * kinds + np.where(codes < 0, kinds - 1, codes).transpose(1, 2, 3, 0)
    worth = np.concatenate([right, np.zeros((rows, 1))], axis=1).ravel()
    counts = np.zeros((draws, rows * kinds), dtype=np.int32)
    counts[:, kinds - 1 :: kinds] = np.iinfo(np.int32).min // 2
    top = np.zeros((draws, rows), dtype=np.int32)
    tied, hits = np.zeros((draws, rows)), np.zeros((draws, rows))
    values = np.empty((paths, draws, rows))
    for path in range(paths):
        for depth, draw in product(range(depths), range(draws)):
            cast = places[path, depth, draw]
            gain = worth[cast]
            new = counts[draw:, cast] + 1
            counts[draw:, cast] = new
            ahead, level = new > top[draw:], new == top[draw:]
            tied[draw:] = np.where(ahead, 1, tied[draw:] + level)
            hits[draw:] = np.where(ahead, gain, hits[draw:] + level * gain)
            np.maximum(top[draw:], new, out=top[draw:])
        values[path] = hits / np.maximum(tied, 1)
    return values.transpose(2, 0, 1)


class _Best(NamedTuple):
    """The highest score so far, how many answers have it, and how many of these are correct; equal shapes."""

    score: np.ndarray
    tied: np.ndarray
    correct: np.ndarray

    def at(self, *index: object) -> _Best:
        return _Best(self.score[index], self.tied[index], self.correct[index])  # type: ignore[index]

    def or_better(self, other: _Best) -> _Best:
        ours, theirs = self.score >= other.score, other.score >= self.score
        return _Best(
            np.maximum(self.score, other.score),
            self.tied * ours + other.tied * theirs,
            self.correct * ours + other.correct * theirs,
        )


def _running(best: _Best, axis: int) -> _Best:
    """The best of the first 1, 2, ... along an axis, which stays."""
    parts = [best.at(*(slice(None),) * axis, place) for place in range(best.score.shape[axis])]
    for place in range(1, len(parts)):
        parts[place] = parts[place - 1].or_better(parts[place])
    return _Best(*(np.stack(arrays, axis=axis) for arrays in zip(*parts, strict=True)))


def expected_best_of(
    lattice: Lattice, frame: pl.DataFrame, depth_sets: DepthSets, *, score: str, shuffles: int, seed: int
) -> np.ndarray:
    """Best-of over n' paths, a set of depths and m' draws.

    Args:
        lattice: of `frame`.
        frame: answers of one cell, with the scores.
        depth_sets: S sets of depths.
        score: column of the scores, as in `best_of.best_of`.
        shuffles: random orders that are averaged over.
        seed: of the orders.

    Returns:
        Shape (P, n, S, m): value of every problem by n' - 1, set and m' - 1.

    Raises:
        DataError: no answer has a score.
    """
    scores = lattice.spread(scores_of(frame, score).fill_null(-np.inf).to_numpy(), -np.inf)
    picked = np.isfinite(scores)
    answers = _Best(scores, picked.astype(np.int64), (picked & lattice.correct).astype(np.int64))
    values = np.zeros((*lattice.shape[:2], len(depth_sets), lattice.shape[3]))
    for orders in _orders(lattice, shuffles, seed):
        drawn = _running(_Best(*(np.take_along_axis(part, orders.draws, axis=3) for part in answers)), axis=3)
        for place, depths in enumerate(depth_sets):
            columns = np.array(depths) - 1
            order, too_many = _paths_in_order(lattice, columns, orders.paths)
            best = drawn.at(slice(None), slice(None), columns[0])
            for column in columns[1:]:
                best = best.or_better(drawn.at(slice(None), slice(None), column))
            best = _running(_Best(*(np.take_along_axis(part, order[:, :, None], axis=1) for part in best)), axis=1)
            values[:, :, place] += best.correct / np.maximum(best.tied, 1)
            values[:, :, place][too_many] = np.nan
    return values / shuffles
