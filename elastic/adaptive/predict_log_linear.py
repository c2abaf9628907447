"""Difficulty classes from agreement at the small depths, and in each the log-linear law: accuracy = a + b ln(t + s).

The law is that of Fractured Sampling (arXiv 2505.12992), there of a whole benchmark over tokens used; here a line a
class and solution budget, over allowed tokens, since what is used is not known before. A solution budget that cuts the
answer off is no point on the line of one that does not, so each has its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastic.adaptive.evidence import Asked, Probing
from elastic.adaptive.nearest import Nearest
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predictor import Forecast, Known
from elastic.budget import Budget
from elastic.metrics.log_linear import fit_log_linear


@dataclass(frozen=True)
class LogLinearLaw:
    """The mean curve of the known problems whose probes agreed as much, straightened to the law."""

    probing: Probing
    name: str = "log-linear"

    def fit(self, known: Known) -> Forecast:
        """Learn the line of every degree of agreement."""
        nearest = Nearest(known.asked.agreement(), known)

        def forecast(asked: Asked) -> Curves:
            curves = nearest.curves(asked.agreement())
            return Curves(np.array([straightened(row, known.budgets) for row in curves.accuracy]), curves.used)

        return forecast


def straightened(accuracy: np.ndarray, budgets: tuple[Budget, ...]) -> np.ndarray:
    """One curve on the law, solution budget by solution budget, within 0 and 1.

    A solution budget with fewer than 3 thinking budgets has no line; its values stay.

    Args:
        accuracy: shape (budgets,).
        budgets: of the values.
    """
    found = accuracy.copy()
    for solution in {budget.solution for budget in budgets}:
        columns = [place for place, budget in enumerate(budgets) if budget.solution == solution]
        totals = [budgets[place].total for place in columns]
        line = fit_log_linear(totals, accuracy[columns].tolist())
        if line is not None:
            found[columns] = np.clip(line.a + line.b * np.log(totals), 0, 1)
    return found
