"""Curves by score: the mean curve of the known problems whose scores of difficulty are nearest.

It assumes no shape, which a budget needs: accuracy jumps where the thinking of a problem just fits in. How many
neighbours are averaged is chosen by leaving each problem out in turn; all of them is among the choices, so that a score
which says nothing gives every problem the same curve.
"""

from __future__ import annotations

import numpy as np

from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predictor import Known
from elastic.errors import DataError

_SMALLEST = 8


class Nearest:
    """Nearest neighbours on one or more scores, each divided by its spread over the known rows.

    Args:
        scores: of the known rows, shape (rows,) or (rows, scores).
        known: their curves and problems; views of one problem never predict each other when neighbours are chosen.

    Attributes:
        neighbours: how many are averaged.
        error: mean squared error of the accuracies of problems left out.
    """

    def __init__(self, scores: np.ndarray, known: Known) -> None:
        spread = _columns(scores).std(axis=0)
        self._scale = np.where(spread > 0, spread, 1.0)
        self._scores, self._curves = _columns(scores) / self._scale, known.curves
        names = np.array(known.asked.problem_ids)
        apart = np.where(names[:, None] == names[None, :], np.inf, self._apart(self._scores))
        others = int(np.isfinite(apart).sum(axis=1).min())
        if not others:
            raise DataError(
                f"curves of {len(set(names))} problem(s) predict no other", remedy="learn from more validation problems"
            )
        sizes, size = [], _SMALLEST
        while size < others:
            sizes.append(size)
            size *= 2
        sizes.append(others)
        errors = [self._left_out_error(apart, neighbours) for neighbours in sizes]
        # Of equal errors the widest average, which is the last.
        self.error, self.neighbours = min(errors), sizes[len(errors) - 1 - int(np.argmin(errors[::-1]))]

    def _left_out_error(self, apart: np.ndarray, neighbours: int) -> float:
        weights = _weights(apart, neighbours)
        return float(np.mean((weights @ self._curves.accuracy - self._curves.accuracy) ** 2))

    def _apart(self, scores: np.ndarray) -> np.ndarray:
        """Distances of scaled scores to the known ones, shape (problems, rows)."""
        distances: np.ndarray = np.sqrt(((scores[:, None, :] - self._scores[None, :, :]) ** 2).sum(axis=2))
        return distances

    def curves(self, scores: np.ndarray) -> Curves:
        """Predicted curves of the scores, shape (problems, budgets) each."""
        weights = _weights(self._apart(_columns(scores) / self._scale), self.neighbours)
        return Curves(weights @ self._curves.accuracy, weights @ self._curves.used)


def _columns(scores: np.ndarray) -> np.ndarray:
    return scores[:, None] if scores.ndim == 1 else scores


def _weights(apart: np.ndarray, neighbours: int) -> np.ndarray:
    """Equal weights of the nearest rows, all that tie with the last of them included; shape of `apart`."""
    neighbours = min(neighbours, apart.shape[1])
    reach = np.partition(apart, neighbours - 1, axis=1)[:, neighbours - 1 : neighbours]
    near = (apart <= reach) & np.isfinite(apart)
    weights: np.ndarray = near / near.sum(axis=1, keepdims=True)
    return weights
