"""Difficulty from early agreement: problems whose cheap probes agree at a first depth are easy ones.

After the majority and early-stop rules of Fractured Sampling (arXiv 2505.12992), which stop on agreement; here
agreement is mapped to a whole curve by the validation problems that agreed as much.
"""

from __future__ import annotations

from dataclasses import dataclass

from elastic.adaptive.evidence import Asked, Probing
from elastic.adaptive.nearest import Nearest
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predictor import Forecast, Known


@dataclass(frozen=True)
class Agreement:
    """Curves of the known problems whose probes agreed as much."""

    probing: Probing
    name: str = "agreement"

    def fit(self, known: Known) -> Forecast:
        """Learn the curve of every degree of agreement."""
        nearest = Nearest(known.asked.agreement(), known)

        def forecast(asked: Asked) -> Curves:
            return nearest.curves(asked.agreement())

        return forecast
