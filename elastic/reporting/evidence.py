"""Evidence: everything that a report is made of, read and validated before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from elastic.budget import Budget
from elastic.contracts.distribution import DriftResult
from elastic.contracts.params.profile import Profile
from elastic.contracts.records import Curation, Decision, GateResult, GridRow, Record, TrainingOutcome
from elastic.contracts.reference import Reference
from elastic.contracts.sources import SourceFacts
from elastic.errors import DataError

BASE = "base"


@dataclass(frozen=True)
class Gate:
    """A check stage: its result, what it found against the accepted version of the data, and the address of its pages
    relative to the report, if they are there.
    """

    result: GateResult
    drift: DriftResult
    page: str | None


@dataclass(frozen=True)
class Evidence:
    """What the stages left behind.

    Attributes:
        profile: the active params.
        grid: the budget table of every model on validation and test.
        decision: what decide found.
        scored: scored traces of the test split by model (frames of the contract Scored).
        questions: question by problem id, of the test split.
        rates: pass rates of the training problems (contract PassRates).
        rejected: rows that left the data (contract Rejected).
        curation: counts and contamination.
        sources: what is known of every data source.
        gates: check stages by name.
        training: rows of `metrics.jsonl` by round.
        outcomes: how each round's training went.
        records: record by stage, in the order of the DAG; None where a stage has none or its outputs have changed
            since.
        published: the published figures on iterative training.
        card: address of the exported model's card relative to the report, if there is one.
    """

    profile: Profile
    grid: Sequence[GridRow]
    decision: Decision
    scored: Mapping[str, pl.DataFrame]
    questions: Mapping[str, str]
    rates: pl.DataFrame
    rejected: pl.DataFrame
    curation: Curation
    sources: Sequence[SourceFacts]
    gates: Mapping[str, Gate]
    training: Mapping[str, Sequence[Mapping[str, Any]]]
    outcomes: Mapping[str, TrainingOutcome]
    records: Mapping[str, Record | None]
    published: Reference
    card: str | None

    @property
    def models(self) -> list[str]:
        """The base, then the rounds in their order."""
        return [BASE, *self.profile.rounds]

    @property
    def solution(self) -> int:
        """s, as decided on validation."""
        return self.decision.solution_budget

    def rows(self, model: str, method: str, split: str = "test") -> list[GridRow]:
        """Rows of one model under one method at the decided s, by rising t; unconstrained rows have neither.

        Raises:
            DataError: the grid has no such row.
        """
        found = [
            row
            for row in self.grid
            if (row.model, row.split, row.method) == (model, split, method) and row.solution in (self.solution, None)
        ]
        if not found:
            raise DataError(
                f"no row for method {method} at the decided solution budget of {self.solution} tokens",
                where=f"results/scores/{split}/{model}/grid.json",
                remedy=f"add {self.solution} to sample.grids.{split}.solution",
            )
        return sorted(found, key=lambda row: row.think or 0)

    def unconstrained(self, model: str, split: str = "test") -> GridRow:
        """The row without budgets, up to its limit."""
        return self.rows(model, "unconstrained", split)[0]

    def measured(self, model: str) -> Budget:
        """The budget on the test grid that is nearest to the one a round was trained at, with the decided s.

        For the base, which was trained at none, it is that of the first round.
        """
        rounds = self.profile.rounds
        trained = (rounds[model] if model in rounds else next(iter(rounds.values()))).budget
        thinks = [row.think for row in self.rows(model, "separate") if row.think is not None]
        return Budget(min(thinks, key=lambda think: (abs(think - trained.think), think)), self.solution)

    def at(self, model: str, budget: Budget) -> GridRow:
        """The row of a model under separate budgets at `budget` on test."""
        return next(row for row in self.rows(model, "separate") if row.think == budget.think)
