"""How much more a model spends on hard problems than on easy ones.

ALP: Just Enough Thinking (arXiv 2506.05256): the mean tokens on the 30 % of problems with the lowest solve rate over
those on the 30 % with the highest. One caption of the paper says the hard 80 to 100 % against the easy 0 to 50 %, which
is read as shares of the problems in order of difficulty: the hardest fifth against the easiest half.
The paper does not say whose solve rates they are; here the caller does. Problems of equal solve rate at the border of a
group share the room that is left in it, so that the ratio does not depend on how ties are ordered.
"""

from __future__ import annotations

import numpy as np

from elastic.errors import DataError


def _lowest(rates: np.ndarray, share: float) -> np.ndarray:
    """Weight of every problem in the group of the lowest rates, shape (n,), adding up to share * n."""
    weights, room = np.zeros(len(rates)), share * len(rates)
    for rate in np.unique(rates):
        here = rates == rate
        weights[here] = min(1.0, room / here.sum())
        room -= here.sum()
        if room <= 0:
            break
    return weights


def adaptation_ratio(
    tokens: np.ndarray, solve_rates: np.ndarray, share: float = 0.3, easy_share: float | None = None
) -> float:
    """Mean tokens on the hardest share of the problems over mean tokens on the easiest share.

    Args:
        tokens: mean tokens of a response to each problem, shape (n,).
        solve_rates: share of correct responses to each, in the same order.
        share: of the problems that each group has; at most a half.
        easy_share: of the problems that the easy group has, where it is of another size.

    Raises:
        DataError: there are no problems, or no tokens on the easy ones.
    """
    tokens, rates = np.asarray(tokens, dtype=float), np.asarray(solve_rates, dtype=float)
    if not len(tokens):
        raise DataError(
            "no problem was graded, so that none is hard or easy", remedy="look at the errors of the grader"
        )
    easy_share = share if easy_share is None else easy_share
    hard, easy = _lowest(rates, share) @ tokens, _lowest(-rates, easy_share) @ tokens
    if easy <= 0:
        raise DataError("no token was spent on the easy problems", remedy="look at the traces: the model may be broken")
    return float(hard / easy * (easy_share / share))


def same_adaptation_p(
    tokens: np.ndarray,
    others: np.ndarray,
    solve_rates: np.ndarray,
    share: float,
    *,
    swaps: int,
    rng: np.random.Generator,
) -> float:
    """p of the two-sided test that two models adapt alike: then their responses to any problem could be swapped.

    Args:
        tokens, others: mean tokens of each model on each problem, shape (n,).
        solve_rates, share: as for `adaptation_ratio`.
        swaps: random swaps; the smallest p is 1 / (swaps + 1).
        rng: draws them.
    """
    rates, change = np.asarray(solve_rates, dtype=float), np.asarray(others, dtype=float) - tokens
    swapped = rng.integers(0, 2, size=(swaps, len(rates))).astype(float)
    sums = []
    for weights in (_lowest(rates, share), _lowest(-rates, share)):
        moved = swapped @ (weights * change)
        sums.append((weights @ tokens + moved, weights @ others - moved))
    (hard, other_hard), (easy, other_easy) = sums
    seen = adaptation_ratio(tokens, rates, share) - adaptation_ratio(others, rates, share)
    as_far = np.abs(hard / easy - other_hard / other_easy) >= abs(seen) - 1e-9
    return float((as_far.sum() + 1) / (swaps + 1))


def resampled_ratios(
    tokens: np.ndarray,
    solve_rates: np.ndarray,
    share: float,
    easy_share: float | None = None,
    *,
    resamples: int,
    seed: int,
) -> np.ndarray:
    """The ratio on `resamples` bootstrap samples of the problems, shape (resamples,).

    Equal seeds draw the same problems, which pairs the ratios of two models.
    """
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(tokens), size=(resamples, len(tokens)))
    return np.array([adaptation_ratio(tokens[pick], solve_rates[pick], share, easy_share) for pick in picks])
