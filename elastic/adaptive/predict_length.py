"""Difficulty from the number of words of the question: the least that a predictor from the question must beat.

Words are counted as in `predict_features`; it needs no training problems.
"""

from __future__ import annotations

from dataclasses import dataclass

from elastic.adaptive.evidence import Asked
from elastic.adaptive.nearest import Nearest
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predict_features import words_of
from elastic.adaptive.predictor import Forecast, Known


@dataclass(frozen=True)
class QuestionLength:
    """Curves of the known problems with as many words."""

    name: str = "length"
    probing: None = None

    def fit(self, known: Known) -> Forecast:
        """Learn the curve of every length."""
        nearest = Nearest(words_of(known.asked.questions), known)

        def forecast(asked: Asked) -> Curves:
            return nearest.curves(words_of(asked.questions))

        return forecast
