"""The strategies of an evaluation as a report names them, and the cells of each that lie on one curve."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from elastic.budget import Budget
from elastic.contracts.params.strategies import S1Original, parse_strategy
from lab.evidence import cell, grid_of

# In the order of tables and legends. Budgeted ones are comparable at an equal budget; the others choose their length.
NAMES = {
    "separate": ("separate budgets", ""),
    "truncate": ("truncation", ""),
    "s1_original": ("S1", ""),
    "s1_r1": ("S1", "for R1"),
    "s1_exact": ("S1", "exact"),
    "l1_exact": ("L1", "exact"),
    "l1_max": ("L1", "max"),
    "early_stop": ("early stopping", ""),
    "unconstrained": ("no budget", ""),
}
_BUDGETED = ("separate", "truncate", "s1_original", "s1_r1", "s1_exact")


@dataclass(frozen=True)
class Kind:
    """A strategy with its settings.

    Attributes:
        run: whose rows.
        method: of these rows.
        family, variant: its name in a report, in two parts; the plain form of a family has no variant.
        budgeted: whether a thinking budget ends its thinking.
    """

    run: str
    method: str
    family: str
    variant: str
    budgeted: bool

    @property
    def label(self) -> str:
        """Its name in one."""
        return " ".join(filter(None, (self.family, self.variant)))

    def cells(self, answers: pl.DataFrame, solution: int) -> list[tuple[str, Budget | None, pl.DataFrame]]:
        """Its cells by rising budget, each with its name; those at the solution budget where it has several."""
        own = answers.filter((pl.col("run") == self.run) & (pl.col("method") == self.method))
        if not self.budgeted:
            settings = sorted(own["setting"].unique(), key=lambda text: (len(text), text))
            return [(setting or "free", None, own.filter(setting=setting)) for setting in settings]
        budgets = grid_of(own, self.method)
        if len({budget.solution for budget in budgets}) > 1:
            budgets = [budget for budget in budgets if budget.solution == solution]
        return [(f"t = {budget.think}", budget, cell(own, self.method, budget)) for budget in budgets]

    def at(self, answers: pl.DataFrame, budget: Budget) -> pl.DataFrame:
        """Its answers at the thinking budget of `budget`.

        Raises:
            DataError: there are none.
        """
        found = {own.think: frame for _, own, frame in self.cells(answers, budget.solution) if own}
        return found[budget.think] if budget.think in found else cell(answers, self.method, budget, run=self.run)


def kinds_of(answers: pl.DataFrame) -> list[Kind]:
    """All strategies of an evaluation that a report names, in its order."""
    rows = answers.select("run", "method").unique()
    named = [(run, method) for run, method in rows.iter_rows() if method in NAMES]
    named.sort(key=lambda row: (list(NAMES).index(row[1]), len(row[0]), row[0]))
    return [Kind(run, method, NAMES[method][0], _variant(run, method), method in _BUDGETED) for run, method in named]


def _variant(run: str, method: str) -> str:
    strategy = parse_strategy(run)
    if isinstance(strategy, S1Original) and strategy.waits:
        return f"with {strategy.waits} Wait{'s' if strategy.waits > 1 else ''}"
    return NAMES[method][1]
