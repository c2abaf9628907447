"""Accuracy as a straight line over the logarithm of tokens: accuracy = a + b ln(tokens).

The shape in which Fractured Sampling (arXiv 2505.12992) describes what more tokens buy; here over mean tokens used, not
over a budget, so that models which spend less move left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastic.errors import DataError


@dataclass(frozen=True)
class LogLinear:
    """Least-squares line; `b` is the gain of accuracy for e times the tokens, `r2` the share of variance explained."""

    a: float
    b: float
    r2: float


def fit_log_linear(tokens: Sequence[float], accuracies: Sequence[float]) -> LogLinear | None:
    """Fit accuracy = a + b ln(tokens).

    Args:
        tokens: mean thinking and solution tokens a trace, one a row of the table, above 0.
        accuracies: 0 to 1, one a row.

    Returns:
        The fit (r2 is 0 where accuracy does not vary); None with fewer than 3 distinct token counts, which a line
        would meet by chance.

    Raises:
        DataError: a row has no tokens.
    """
    counts, y = np.asarray(tokens, dtype=float), np.asarray(accuracies, dtype=float)
    if len(np.unique(counts)) < 3:
        return None
    if counts.min() <= 0:
        raise DataError("a row has no tokens, so its logarithm is not defined", remedy="leave it out of the fit")
    x = np.log(counts)
    dx, dy = x - x.mean(), y - y.mean()
    b = float(dx @ dy / (dx @ dx))
    spread = float(dy @ dy)
    r2 = float((dx @ dy) ** 2 / ((dx @ dx) * spread)) if spread > 0 else 0.0
    return LogLinear(float(y.mean() - b * x.mean()), b, r2)
