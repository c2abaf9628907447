"""What a predictor is: it learns from problems with golds, and predicts curves for problems without.

One predictor a file, `predict_NAME.py`. Golds reach a predictor through `fit` alone; what it forecasts from, `Asked`,
has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from elastic.adaptive.evidence import Asked, Observed, Probing
from elastic.adaptive.outcomes import Curves
from elastic.budget import Budget
from elastic.errors import DataError

# Predicted curves of the problems asked about, on the grid that was learnt from.
Forecast = Callable[[Asked], Curves]


@dataclass(frozen=True)
class Known:
    """Problems with golds, all views of `observe` below each other.

    Attributes:
        budgets: columns of the curves.
        asked: what could be known of each row before.
        curves: what came out; without nan.
    """

    budgets: tuple[Budget, ...]
    asked: Asked
    curves: Curves


class Predictor(Protocol):
    """Predicts what a problem's answers are worth and cost at every budget."""

    @property
    def name(self) -> str:
        """Of the policy in tables."""
        ...

    @property
    def probing(self) -> Probing | None:
        """What it asks of a problem before; None if the question is enough."""
        ...

    def fit(self, known: Known) -> Forecast:
        """Learn from problems with golds."""
        ...


def learnt_from(views: Sequence[Observed], budgets: tuple[Budget, ...]) -> Known:
    """Put views below each other, without rows that lack a graded answer at some budget.

    Raises:
        DataError: no row is left.
    """
    kept = [np.isfinite(view.curves.accuracy).all(axis=1) for view in views]
    rows = [(view.asked, int(row)) for view, mask in zip(views, kept, strict=True) for row in np.flatnonzero(mask)]
    if not rows:
        raise DataError("no problem to learn from was graded at every budget", remedy="look at the grader's errors")
    asked = Asked(
        tuple(asked.problem_ids[row] for asked, row in rows),
        tuple(asked.questions[row] for asked, row in rows),
        tuple(asked.probes[row] for asked, row in rows),
        np.array([asked.probe_used[row] for asked, row in rows]),
    )
    curves = Curves(
        np.concatenate([view.curves.accuracy[mask] for view, mask in zip(views, kept, strict=True)]),
        np.concatenate([view.curves.used[mask] for view, mask in zip(views, kept, strict=True)]),
    )
    return Known(budgets, asked, curves)
