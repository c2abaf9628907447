"""Policies that know nothing of a problem: the controls of adaptive budgets.

An allowance seldom meets a budget of the grid. Then a share of the problems, drawn blindly, gets the next larger
budget, so that the allowance is spent exactly; what is reported is the expectation over the draw, which adds no noise.
`uniform` mixes the two neighbouring budgets, `blind` the two that are best to mix: where accuracy jumps late, giving a
few problems much and the others little is worth more than giving all the same, which is no merit of predicting
difficulty.
"""

from __future__ import annotations

import numpy as np

from elastic.adaptive.allocate import hull
from elastic.errors import BudgetError

UNIFORM, BLIND = "uniform", "blind"


def blind_shares(values: np.ndarray, costs: np.ndarray, allowance: float, policy: str) -> np.ndarray:
    """Share of the problems that gets each budget, shape (budgets,), summing to 1.

    A budget that a cheaper one equals or betters is never given. What an allowance has beyond the best budget's cost is
    not spent.

    Args:
        values: mean accuracy of the budgets on the validation problems, shape (budgets,).
        costs: mean cost of the budgets, shape (budgets,).
        allowance: mean tokens a problem.
        policy: UNIFORM or BLIND.

    Raises:
        BudgetError: the cheapest budget costs more than the allowance.
    """
    corners = hull(costs.tolist(), values.tolist()) if policy == BLIND else _frontier(costs, values)
    prices = costs[corners]
    if allowance < prices[0] * (1 - 1e-9):
        raise BudgetError(
            f"an allowance of {allowance:g} tokens a problem is below the cheapest budget's {prices[0]:g}",
            remedy="allow more, or add smaller budgets to the grid",
        )
    place = float(np.interp(allowance, prices, np.arange(len(corners))))
    lower = int(place)
    shares = np.zeros(len(costs))
    shares[corners[lower]] = 1 - (place - lower)
    if place > lower:
        shares[corners[lower + 1]] = place - lower
    return shares


def _frontier(costs: np.ndarray, values: np.ndarray) -> list[int]:
    """Budgets that no cheaper one equals or betters, by cost."""
    kept: list[int] = []
    for option in sorted(range(len(costs)), key=lambda place: (costs[place], -values[place], place)):
        if not kept or values[option] > values[kept[-1]]:
            kept.append(option)
    return kept
