"""Curves by score: the mean curve of the known problems whose score of difficulty is nearest.

It assumes no shape, which a budget needs: accuracy jumps where the thinking of a problem just fits in. How many
neighbours are averaged is chosen by leaving each problem out in turn; all of them is among the choices, so that a score
which says nothing gives every problem the same curve.
"""

from __future__ import annotations

import numpy as np

from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predictor import Known

_SMALLEST = 8


class Nearest:
    """Nearest neighbours on one score.

    Args:
        scores: of the known rows, shape (rows,).
        known: their curves and problems; views of one problem never predict each other when neighbours are chosen.
    """

    def __init__(self, scores: np.ndarray, known: Known) -> None:
        self._scores, self._curves = scores, known.curves
        names = np.array(known.asked.problem_ids)
        apart = np.where(names[:, None] == names[None, :], np.inf, np.abs(scores[:, None] - scores[None, :]))
        others = int(np.isfinite(apart).sum(axis=1).min())
        sizes, size = [], _SMALLEST
        while size < others:
            sizes.append(size)
            size *= 2
        sizes.append(max(others, 1))
        errors = [self._left_out_error(apart, neighbours) for neighbours in sizes] if others else [0.0]
        # Of equal errors the widest average, which is the last.
        self.neighbours = sizes[len(errors) - 1 - int(np.argmin(errors[::-1]))]

    def _left_out_error(self, apart: np.ndarray, neighbours: int) -> float:
        weights = _weights(apart, neighbours)
        return float(np.mean((weights @ self._curves.accuracy - self._curves.accuracy) ** 2))

    def curves(self, scores: np.ndarray) -> Curves:
        """Predicted curves of the scores, shape (problems, budgets) each."""
        weights = _weights(np.abs(scores[:, None] - self._scores[None, :]), self.neighbours)
        return Curves(weights @ self._curves.accuracy, weights @ self._curves.used)


def _weights(apart: np.ndarray, neighbours: int) -> np.ndarray:
    """Equal weights of the nearest rows, all that tie with the last of them included; shape of `apart`."""
    neighbours = min(neighbours, apart.shape[1])
    reach = np.partition(apart, neighbours - 1, axis=1)[:, neighbours - 1 : neighbours]
    near = (apart <= reach) & np.isfinite(apart)
    weights: np.ndarray = near / near.sum(axis=1, keepdims=True)
    return weights
