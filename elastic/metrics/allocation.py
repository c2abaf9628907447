"""Where a model spends its tokens: on the hard problems or on the easy ones.

ALP: Just Enough Thinking (arXiv 2506.05256). The *cumulative token curve* has the problems in order of difficulty, the
easiest first, along x (as shares of all problems) and the share of all tokens spent on them along y. The *efficiency
score* is 1 minus the area under it,

    E = 1 - sum over problems i of (y[i-1] + y[i]) / 2 * (x[i] - x[i-1]),    x[0] = y[0] = 0,

so that 0.5 is the same number of tokens for every problem and 1 is all tokens on the hardest one. The paper says
"normalised area" and prints no formula; both axes as shares is the reading under which its own figures fit together:
L1-Exact, which spends half of its tokens on the easier half, has the diagonal; and a convex curve through the 21 % that
ALP spends there scores 0.645 or more, as ALP's published 0.68 does.

Problems of equal difficulty have no order, so the curve is straight across them and no figure depends on how ties are
ordered. The paper does not say whose solve rates difficulty is measured by; here the caller does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.adaptation import adaptation_ratio, resampled_ratios
from elastic.metrics.intervals import Interval, mean_interval
from elastic.metrics.resampling import percentile_interval, problem_draws

# Both published definitions of the adaptation ratio: shares of the problems that are hard, and that are easy.
ADAPTATION_DEFINITIONS = {"hardest 30 % over easiest 30 %": (0.3, 0.3), "hardest 20 % over easiest 50 %": (0.2, 0.5)}


def sample_halves(answers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers of the even sample numbers and of the odd ones: what orders problems, and what is measured on them.

    All budgets of a nested sample share its thinking. Ordered by the samples that are measured, a problem whose
    thinking ran long by chance would be both hard and dear for it.

    Raises:
        DataError: there is one sample a problem.
    """
    even, odd = (answers.filter(pl.col("sample") % 2 == rest) for rest in (0, 1))
    if odd.is_empty():
        raise DataError(
            "one sample a problem cannot both say which problems are hard and be measured on them",
            remedy="sample every problem twice or more",
        )
    return even, odd


@dataclass(frozen=True)
class Allocation:
    """How one model's tokens are spread over problems, each figure with its interval over problems.

    Attributes:
        adaptation: adaptation ratio by its definition (ADAPTATION_DEFINITIONS).
        efficiency: efficiency score.
        easier_half: share of all tokens that the easier half of the problems gets.
        n_problems: how many.
    """

    adaptation: dict[str, Interval]
    efficiency: Interval
    easier_half: Interval
    n_problems: int


@dataclass(frozen=True)
class Spending:
    """Mean tokens on a group of problems.

    Attributes:
        group: a level of the set, or a range of difficulty.
        tokens: mean over its problems.
        n_problems: how many.
    """

    group: str
    tokens: Interval
    n_problems: int


def _checked(tokens: np.ndarray, other: np.ndarray) -> np.ndarray:
    tokens = np.asarray(tokens, dtype=float)
    if len(tokens) != len(other):
        raise DataError(
            f"{len(tokens)} problems with tokens, but {len(other)} with a difficulty", remedy="join them by problem"
        )
    if not len(tokens) or tokens.sum() <= 0:
        raise DataError("no token was spent, so there is nothing to share out", remedy="look at the traces")
    return tokens


def _curves(tokens: np.ndarray, difficulty: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the curves of several resamples, each of shape (resamples, 1 + distinct difficulties)."""
    groups, members = np.unique(np.asarray(difficulty, dtype=float), return_inverse=True)
    within = np.eye(len(groups))[members]
    curves = []
    for amounts in (draws @ within, (draws * tokens) @ within):
        cumulated = np.cumsum(amounts, axis=1)
        curves.append(np.pad(cumulated / cumulated[:, -1:], ((0, 0), (1, 0))))
    return curves[0], curves[1]


def _efficiencies(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 1 - ((y[:, :-1] + y[:, 1:]) / 2 * np.diff(x)).sum(axis=1)


def _shares(x: np.ndarray, y: np.ndarray, easiest: float) -> np.ndarray:
    """Height of every curve at `easiest`."""
    width = np.diff(x)
    reached = np.clip((easiest - x[:, :-1]) / np.where(width > 0, width, 1), 0, 1)
    return (reached * np.diff(y)).sum(axis=1)


def cumulative_curve(tokens: np.ndarray, difficulty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cumulative token curve.

    Args:
        tokens: mean tokens of a response to each problem, shape (n,).
        difficulty: of each, in the same order, higher is harder; 1 - solve rate, or a level as a number.

    Returns:
        x, the share of the problems, and y, the share of the tokens: from (0, 0) to (1, 1), one more point for every
        distinct difficulty.

    Raises:
        DataError: there are no tokens, or not as many difficulties.
    """
    tokens = _checked(tokens, difficulty)
    x, y = _curves(tokens, difficulty, np.ones((1, len(tokens))))
    return x[0], y[0]


def efficiency_score(tokens: np.ndarray, difficulty: np.ndarray) -> float:
    """1 minus the area under the cumulative token curve; arguments and errors as for `cumulative_curve`."""
    tokens = _checked(tokens, difficulty)
    return float(_efficiencies(*_curves(tokens, difficulty, np.ones((1, len(tokens)))))[0])


def share_on_easiest(tokens: np.ndarray, difficulty: np.ndarray, easiest: float = 0.5) -> float:
    """Share of all tokens that the easiest share of the problems gets; otherwise as for `cumulative_curve`."""
    tokens = _checked(tokens, difficulty)
    return float(_shares(*_curves(tokens, difficulty, np.ones((1, len(tokens)))), easiest)[0])


def allocation(
    tokens: np.ndarray, solve_rates: np.ndarray, *, confidence: float, resamples: int, seed: int
) -> Allocation:
    """All of ALP's measures of one model, with difficulty as 1 - solve rate.

    Args:
        tokens: mean tokens of a response to each problem, shape (n,).
        solve_rates: share of correct responses to each, in the same order, of the model that difficulty is that of.
        confidence, resamples, seed: of the intervals; equal seeds draw the same problems, which pairs two models.

    Raises:
        DataError: there are no tokens, or not as many solve rates.
    """
    tokens, rates = _checked(tokens, solve_rates), np.asarray(solve_rates, dtype=float)
    draws = problem_draws(len(tokens), resamples=resamples, seed=seed)
    x, y = _curves(tokens, 1 - rates, draws)
    adaptation = {
        name: percentile_interval(
            adaptation_ratio(tokens, rates, *shares),
            resampled_ratios(tokens, rates, *shares, resamples=resamples, seed=seed),
            confidence,
        )
        for name, shares in ADAPTATION_DEFINITIONS.items()
    }
    return Allocation(
        adaptation,
        percentile_interval(efficiency_score(tokens, 1 - rates), _efficiencies(x, y), confidence),
        percentile_interval(share_on_easiest(tokens, 1 - rates), _shares(x, y, 0.5), confidence),
        len(tokens),
    )


def _spending(
    groups: Sequence[tuple[str, np.ndarray]], tokens: np.ndarray, *, confidence: float, resamples: int, seed: int
) -> list[Spending]:
    return [
        Spending(
            name,
            mean_interval(tokens[chosen], confidence=confidence, resamples=resamples, seed=seed, bounds=None),
            int(chosen.sum()),
        )
        for name, chosen in groups
        if chosen.any()
    ]


def tokens_by_difficulty(
    tokens: np.ndarray,
    solve_rates: np.ndarray,
    edges: Sequence[float],
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Spending]:
    """Mean tokens against difficulty, 1 - solve rate, the easiest range first.

    Args:
        tokens, solve_rates: as for `allocation`.
        edges: rising, from 0 to 1; each range has its lower edge and the last one its upper edge too. Empty ranges are
            left out.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: there are no tokens, not as many solve rates, or the edges do not rise from 0 to 1.
    """
    tokens, difficulty = _checked(tokens, solve_rates), 1 - np.asarray(solve_rates, dtype=float)
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or np.any(np.diff(edges) <= 0):
        raise DataError(
            f"the edges {list(edges)} of difficulty do not rise from 0 to 1", remedy="use such as 0, 0.5, 1"
        )
    # Solve rates are quotients, so that 1 - 0.7 falls just short of an edge at 0.3 without rounding.
    place = np.digitize(np.round(difficulty, 12), np.asarray(edges)[1:-1])
    groups = [(f"{edges[i]:g} to {edges[i + 1]:g}", place == i) for i in range(len(edges) - 1)]
    return _spending(groups, tokens, confidence=confidence, resamples=resamples, seed=seed)


def tokens_by_level(
    tokens: np.ndarray, levels: Sequence[str], *, confidence: float, resamples: int, seed: int
) -> list[Spending]:
    """Mean tokens against a set's own levels, as numbers in their order where all of them are numbers.

    Args:
        tokens: mean tokens of a response to each problem, shape (n,).
        levels: of each problem, in the same order.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: there are no tokens, or not as many levels.
    """
    tokens, names = _checked(tokens, np.asarray(levels)), np.asarray(levels)
    known = sorted(set(levels))
    try:
        known.sort(key=float)
    except ValueError:
        known.sort()
    return _spending(
        [(level, names == level) for level in known], tokens, confidence=confidence, resamples=resamples, seed=seed
    )
