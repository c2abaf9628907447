"""Which budgets of a grid a policy may give: all of them, one solution budget, or one ratio of solution to thinking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from elastic.budget import Budget
from elastic.errors import BudgetError

_GRAMMAR = re.compile(r"free|s=(?P<solution>\d+)|s:t=(?P<s>\d+):(?P<t>\d+)")


@dataclass(frozen=True)
class Shape:
    """A set of budgets by its text: `free`, `s=16` (s fixed) or `s:t=1:2` (a fixed ratio)."""

    text: str

    def __post_init__(self) -> None:
        if not _GRAMMAR.fullmatch(self.text):
            raise BudgetError(f"{self.text!r} names no budgets", remedy="write free, s=16 or s:t=1:2")

    def columns(self, budgets: Sequence[Budget]) -> list[int]:
        """Places of its budgets in a grid.

        Raises:
            BudgetError: there are fewer than 2, which leaves nothing to choose.
        """
        found = _GRAMMAR.fullmatch(self.text)
        parts = found.groupdict() if found else {}
        if parts["solution"]:
            kept = [place for place, budget in enumerate(budgets) if budget.solution == int(parts["solution"])]
        elif parts["s"]:
            s, t = int(parts["s"]), int(parts["t"])
            kept = [place for place, budget in enumerate(budgets) if budget.solution * t == budget.think * s]
        else:
            kept = list(range(len(budgets)))
        if len(kept) < 2:
            raise BudgetError(
                f"the grid {', '.join(map(str, budgets))} has {len(kept)} budget(s) of the shape {self.text}",
                remedy="name a shape that at least two of its budgets have",
            )
        return kept
