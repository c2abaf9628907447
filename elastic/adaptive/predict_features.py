"""Difficulty from the question alone, learnt from the pass rates that the stage bucket keeps of training problems.

Features are lengths and hashed word n-grams; a ridge regression predicts the pass rate, and the predicted rate is
mapped to curves by the validation problems with nearly the same one. A pass rate was counted under one budget: problems
that are equally hard there can need different ones elsewhere, which their length may tell. Whether neighbours are near
in rate alone or in rate and words is chosen by the error on validation problems left out. Nothing is sampled before the
budget is chosen, so it costs no tokens.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elastic.adaptive.evidence import Asked
from elastic.adaptive.nearest import Nearest
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predictor import Forecast, Known
from elastic.errors import DataError

_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_HASHED = 512
_LENGTHS = 4
_RIDGES = tuple(10.0**power for power in range(-1, 5))


def words_of(questions: Sequence[str]) -> np.ndarray:
    """Number of words, shape (questions,): runs of letters, runs of digits and single signs."""
    return np.array([len(_WORD.findall(question)) for question in questions], dtype=float)


def features(questions: Sequence[str]) -> np.ndarray:
    """Lengths and hashed counts of words and pairs of words, shape (questions, 516).

    Words are as in `words_of`. Counts enter as ln(1 + count); the hash is CRC-32, which
    is the same in every process.
    """
    table = np.zeros((len(questions), _LENGTHS + _HASHED))
    for row, question in enumerate(questions):
        words = _WORD.findall(question.lower())
        numbers = sum(word.isdigit() for word in words)
        table[row, :_LENGTHS] = len(words), np.log1p(len(words)), len(question), numbers
        for gram in [*words, *map(" ".join, pairwise(words))]:
            table[row, _LENGTHS + zlib.crc32(gram.encode()) % _HASHED] += 1
    table[:, _LENGTHS:] = np.log1p(table[:, _LENGTHS:])
    return table


class Ridge:
    """Ridge regression on standardised features; the strength is the one with the least leave-one-out error.

    Args:
        table: shape (rows, features).
        targets: shape (rows,).
        weights: of the rows, for instance how many traces a pass rate was counted from; shape (rows,).
    """

    def __init__(self, table: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self._mean = np.average(table, axis=0, weights=weights)
        spread = np.sqrt(np.average((table - self._mean) ** 2, axis=0, weights=weights))
        self._scale = np.where(spread > 0, spread, 1.0)
        self._intercept = float(np.average(targets, weights=weights))
        root = np.sqrt(weights)
        x = (table - self._mean) / self._scale * root[:, None]
        y = (targets - self._intercept) * root
        left, values, right = np.linalg.svd(x, full_matrices=False)
        # The intercept is a mean, which takes its share of every row's leverage (Hastie et al., section 7.10.1).
        flat = weights / weights.sum()
        best = np.inf
        for strength in _RIDGES:
            shrunk = values**2 / (values**2 + strength)
            residual = y - left @ (shrunk * (left.T @ y))
            leverage = np.minimum((left**2 * shrunk).sum(axis=1) + flat, 1 - 1e-9)
            error = float(np.mean((residual / (1 - leverage)) ** 2))
            if error < best:
                best, self.strength = error, strength
                self._slopes = right.T @ (values / (values**2 + strength) * (left.T @ y))

    def predict(self, table: np.ndarray) -> np.ndarray:
        """Predicted targets, not clipped: beyond 0 and 1 they still order problems."""
        predicted: np.ndarray = (table - self._mean) / self._scale @ self._slopes + self._intercept
        return predicted


@dataclass(frozen=True)
class QuestionFeatures:
    """Curves of the known problems with nearly the same predicted pass rate, and length where that tells more.

    Attributes:
        questions: of training problems.
        pass_rates: theirs, 0 to 1, shape (problems,).
        graded: traces behind each rate, shape (problems,).
    """

    questions: tuple[str, ...]
    pass_rates: np.ndarray
    graded: np.ndarray
    name: str = "features"
    probing: None = None

    def __post_init__(self) -> None:
        if len(self.questions) < 2 or not len(self.questions) == len(self.pass_rates) == len(self.graded):
            raise DataError(
                f"{len(self.questions)} questions, {len(self.pass_rates)} pass rates and {len(self.graded)} counts",
                remedy="pass at least 2 training problems, each with its pass rate and graded traces",
            )

    def fit(self, known: Known) -> Forecast:
        """Learn pass rates from training problems, then curves by predicted rate from the known ones."""
        ridge = Ridge(features(self.questions), np.asarray(self.pass_rates, float), np.asarray(self.graded, float))

        def scores(asked: Asked, count: int) -> np.ndarray:
            rates = ridge.predict(features(asked.questions))
            return np.column_stack([rates, words_of(asked.questions)])[:, :count]

        fits = {count: Nearest(scores(known.asked, count), known) for count in (1, 2)}
        chosen = min(fits, key=lambda count: fits[count].error)

        def forecast(asked: Asked) -> Curves:
            return fits[chosen].curves(scores(asked, chosen))

        return forecast
