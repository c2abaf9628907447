"""Accuracy as a straight line over the logarithm of tokens: accuracy = a + b ln(tokens).

The shape in which Fractured Sampling (arXiv 2505.12992) describes what more tokens buy; here over mean tokens used, not
over a budget, so that models which spend less move left. Read the other way round, the line says what an accuracy
costs, as far as it was measured: outside the tokens that it was fitted over it says nothing, and where it does not rise
no budget buys accuracy. Both are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastic.errors import DataError
from elastic.metrics.resampling import problem_draws


@dataclass(frozen=True)
class LogLinear:
    """Least-squares line; `b` is the gain of accuracy for e times the tokens, `r2` the share of variance explained."""

    a: float
    b: float
    r2: float


@dataclass(frozen=True)
class PredictedTokens:
    """What an accuracy costs.

    Attributes:
        accuracy: that was asked for, 0 to 1.
        tokens: at which the line reaches it.
        low, high: interval of the tokens, over problems; None where that end lies outside the tokens that were
            measured, so that all the line says is that it is less, or more.
    """

    accuracy: float
    tokens: float
    low: float | None
    high: float | None


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


def residuals(fit: LogLinear, tokens: Sequence[float], accuracies: Sequence[float]) -> np.ndarray:
    """How far every row lies above the line, in accuracy, shape (n rows,).

    Residuals of one sign in the middle and of the other at both ends say that the law is not logarithmic here.
    """
    return np.asarray(accuracies, dtype=float) - (fit.a + fit.b * np.log(np.asarray(tokens, dtype=float)))


def predict_tokens(
    accuracy: float, tokens: np.ndarray, accuracies: np.ndarray, *, confidence: float, resamples: int, seed: int
) -> PredictedTokens:
    """The tokens at which the line reaches a wanted accuracy.

    The line is fitted over the means of the rows; every resample of the problems has a line of its own. A resample
    whose line does not rise never reaches the accuracy and counts as more tokens than were measured.

    Args:
        accuracy: wanted, 0 to 1.
        tokens: by row and problem, shape (n rows, n problems): mean tokens of a response. Rows of budgets instead of
            used tokens have their budget at every problem; the prediction then is a budget.
        accuracies: share of correct responses, in the same order.
        confidence, resamples, seed: of the interval.

    Raises:
        DataError: there are fewer than 3 distinct rows, the line does not rise, or it reaches the accuracy outside the
            tokens that were measured.
    """
    tokens, accuracies = np.asarray(tokens, dtype=float), np.asarray(accuracies, dtype=float)
    spent = tokens.mean(axis=1)
    fit = fit_log_linear(list(spent), list(accuracies.mean(axis=1)))
    where = f"tokens for an accuracy of {accuracy:.3f}"
    if fit is None:
        raise DataError(
            "a line needs at least 3 rows that differ in their tokens", where=where, remedy="evaluate more budgets"
        )
    if fit.b <= 0:
        raise DataError(
            "more tokens buy no accuracy here: the line does not rise", where=where, remedy="read the table instead"
        )
    least, most = float(spent.min()), float(spent.max())
    log_tokens = (accuracy - fit.a) / fit.b
    if not np.log(least) <= log_tokens <= np.log(most):
        reached = [fit.a + fit.b * float(np.log(end)) for end in (least, most)]
        raise DataError(
            f"the line was fitted over {least:.1f} to {most:.1f} tokens and goes from {reached[0]:.3f} to "
            f"{reached[1]:.3f} there; beyond it says nothing",
            where=where,
            remedy="ask for an accuracy between these, or evaluate budgets that reach it",
        )
    draws = problem_draws(tokens.shape[1], resamples=resamples, seed=seed) / tokens.shape[1]
    x, y = np.log(draws @ tokens.T), draws @ accuracies.T
    dx, dy = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    spread = (dx * dx).sum(axis=1)
    slope = np.divide((dx * dy).sum(axis=1), spread, out=np.zeros(len(draws)), where=spread > 0)
    rises = slope > 0
    reaches = np.full(len(draws), np.inf)
    np.divide(accuracy - y.mean(axis=1), slope, out=reaches, where=rises)
    reaches += np.where(rises, x.mean(axis=1), 0.0)
    tail = (1 - confidence) / 2
    ends = np.quantile(reaches, [tail, 1 - tail], method="inverted_cdf")
    low, high = (float(np.exp(end)) if np.log(least) <= end <= np.log(most) else None for end in ends)
    return PredictedTokens(accuracy, float(np.exp(log_tokens)), low, high)
