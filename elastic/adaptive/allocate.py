"""One budget a problem under a total allowance, so that the sum of predicted values is greatest.

A multiple-choice knapsack. Its linear relaxation is solved by the concave hulls of the problems' (cost, value) points:
steps along all hulls, steepest first (Sinha and Zoltners, The Multiple-Choice Knapsack Problem, Operations Research
27, 1979). What whole steps leave of the allowance is filled greedily, and the value of the relaxation bounds what was
missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elastic.errors import BudgetError

# Sums of token counts in floating point are equal within this.
_SLACK = 1e-9


@dataclass(frozen=True)
class Allocation:
    """A choice for every problem.

    Attributes:
        choice: column of the chosen option, shape (problems,).
        value, cost: their sums.
        gap: no choice within the allowance is worth more than value + gap.
    """

    choice: np.ndarray
    value: float
    cost: float
    gap: float


def hull(costs: Sequence[float], values: Sequence[float]) -> list[int]:
    """Options on the upper concave hull, from the cheapest on, cost and value rising and slopes falling.

    Of the cheapest options it starts at the most valuable one; options of equal cost and value count by their order.
    """
    corners: list[int] = []
    for option in sorted(range(len(costs)), key=lambda place: (costs[place], -values[place], place)):
        if corners and values[option] <= values[corners[-1]]:
            continue
        while len(corners) > 1 and _slope(costs, values, corners[-2], corners[-1]) <= _slope(
            costs, values, corners[-1], option
        ):
            corners.pop()
        corners.append(option)
    return corners


def _slope(costs: Sequence[float], values: Sequence[float], start: int, end: int) -> float:
    return (values[end] - values[start]) / (costs[end] - costs[start])


def allocate(values: np.ndarray, costs: np.ndarray, allowance: float) -> Allocation:
    """Choose one option a problem; equal arguments give equal choices.

    Args:
        values: predicted value of every option, shape (problems, options).
        costs: tokens of every option, same shape, above 0.
        allowance: tokens of all problems together.

    Raises:
        BudgetError: the cheapest options cost more than the allowance.
    """
    hulls = [hull(cost, value) for cost, value in zip(costs.tolist(), values.tolist(), strict=True)]
    choice = np.array([corners[0] for corners in hulls])
    everyone = np.arange(len(choice))
    room = allowance - float(costs[everyone, choice].sum())
    if room < -_SLACK * allowance:
        raise BudgetError(
            f"an allowance of {allowance:g} tokens is below the {allowance - room:g} that the cheapest budgets need",
            remedy="allow more, or add smaller budgets to the grid",
        )
    steps = sorted(
        (-_slope(costs[row], values[row], start, end), row, place, end)
        for row, corners in enumerate(hulls)
        for place, (start, end) in enumerate(pairwise(corners))
    )
    missed = 0.0
    for slope, row, _, end in steps:
        price = float(costs[row, end] - costs[row, choice[row]])
        if price > room + _SLACK * allowance:
            missed = -slope * max(room, 0.0)
            break
        choice[row], room = end, room - price
    relaxed = float(values[everyone, choice].sum()) + missed
    while True:
        gains = values - values[everyone, choice][:, None]
        prices = costs - costs[everyone, choice][:, None]
        gains[prices > room + _SLACK * allowance] = 0.0
        row, option = divmod(int(gains.argmax()), gains.shape[1])
        if gains[row, option] <= 0:
            break
        choice[row], room = option, room - float(prices[row, option])
    value = float(values[everyone, choice].sum())
    return Allocation(choice, value, float(costs[everyone, choice].sum()), max(relaxed - value, 0.0))
