"""From predicted curves to one budget a problem under an allowance that pays for the probes too.

E1 (section 3) gives every problem the same (t, s); choosing it by problem is what the papers leave to future work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from elastic.adaptive.allocate import allocate
from elastic.adaptive.evidence import Asked, Probing
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.shape import Shape
from elastic.budget import Budget
from elastic.errors import BudgetError


class Cost(StrEnum):
    """What an allowance is counted in: tokens allowed (t + s), which is a guarantee, or those expected to be used."""

    ALLOWED = "allowed"
    USED = "used"


@dataclass(frozen=True)
class Plan:
    """A budget for every problem.

    Attributes:
        budgets: by problem.
        columns: the same as places in the grid, shape (problems,).
        gap: the mean predicted accuracy that a better choice could add is at most this.
    """

    budgets: dict[str, Budget]
    columns: np.ndarray
    gap: float


def probe_price(asked: Asked, probing: Probing | None, cost: Cost) -> float:
    """Mean tokens a problem that probing takes out of an allowance."""
    if probing is None:
        return 0.0
    return float(probing.allowed if cost is Cost.ALLOWED else asked.probe_used.mean())


def plan(
    predicted: Curves,
    asked: Asked,
    budgets: Sequence[Budget],
    *,
    probing: Probing | None,
    shape: Shape,
    cost: Cost,
    allowance: float,
) -> Plan:
    """Choose budgets that maximise the predicted accuracy of the whole set.

    After probing, a problem's thinking budget is at least the depth of its probes, since it has thought so far already.

    Args:
        predicted: by a forecast, for the problems asked.
        asked: what was known of them.
        budgets: columns of the curves.
        probing: what was asked before; its tokens come out of the allowance first.
        shape: which budgets may be given.
        cost: what the allowance counts.
        allowance: mean tokens a problem; the set has that times its problems.

    Raises:
        BudgetError: probes and the cheapest budgets cost more than the allowance, or no budget of the shape
            thinks as long as the probes.
    """
    deepest = probing.depths[-1] if probing else 0
    places = [place for place in shape.columns(budgets) if budgets[place].think >= deepest]
    if not places:
        raise BudgetError(
            f"no budget of the shape {shape.text} thinks as long as probes at {deepest}",
            remedy="probe at a smaller depth",
        )
    columns, problems = np.array(places), len(asked.problem_ids)
    if cost is Cost.ALLOWED:
        costs = np.tile([float(budgets[place].total) for place in places], (problems, 1))
    else:
        costs = predicted.used[:, columns]
    left = (allowance - probe_price(asked, probing, cost)) * problems
    found = allocate(predicted.accuracy[:, columns], costs, left)
    chosen = columns[found.choice]
    return Plan(
        {name: budgets[place] for name, place in zip(asked.problem_ids, chosen, strict=True)},
        chosen,
        found.gap / problems,
    )
