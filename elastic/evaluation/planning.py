"""What is left to sample: which of the runs that are wanted an evaluation's folder does not hold.

A run is a strategy at the budgets of a grid. Budgets that are wanted later are a run of their own, which says them in
its name: it has thinking of its own, and what is there stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elastic.budget import Budget
from elastic.contracts.evaluation_records import EvaluationRecord, RunRecord
from elastic.contracts.params.strategies import (
    Assigned,
    EarlyStop,
    Fractured,
    Grid,
    Independent,
    L1Exact,
    L1Max,
    Nested,
    S1Exact,
    Strategy,
    Swap,
)
from elastic.decoding.l1 import asked
from elastic.errors import DataError, ParamsError
from elastic.evaluation.checkpoint import Checkpoint

_LONGEST = 80
_PLAIN = re.compile(r"\w+(:[A-Za-z0-9.+=,]+)?( at [\d+,]+( <= \d+)?)?", re.ASCII)


def digest(value: Any) -> str:
    """sha256 of a value of plain JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class Beside:
    """What strategies name.

    Attributes:
        solvers: models that solve, by name.
        assignments: a budget for every problem, by the name of the assignment.
    """

    solvers: Mapping[str, Checkpoint] = field(default_factory=dict)
    assignments: Mapping[str, Mapping[str, Budget]] = field(default_factory=dict)

    def of(self, strategy: Strategy) -> dict[str, str]:
        """sha256 of what a strategy names, by that name.

        Raises:
            ParamsError: it is not there.
        """
        match strategy:
            case Swap() if strategy.solver in self.solvers:
                return {strategy.solver: self.solvers[strategy.solver].named.sha256}
            case Assigned() if strategy.budgets in self.assignments:
                chosen = self.assignments[strategy.budgets]
                return {strategy.budgets: digest({name: str(budget) for name, budget in chosen.items()})}
            case Swap() | Assigned():
                known = ", ".join(sorted(self.solvers if isinstance(strategy, Swap) else self.assignments))
                raise ParamsError(
                    "it names a solver or an assignment that was not given",
                    where=f"strategy {strategy.run}",
                    remedy=f"use one of {known}" if known else "give it",
                )
            case _:
                return {}


@dataclass(frozen=True)
class Run:
    """One run that is to be sampled.

    Attributes:
        name: as in the column `run` of its frames.
        strategy: what is sampled.
        grid: at which budgets.
        beside: sha256 of the models and budgets that the strategy names, by those names.
    """

    name: str
    strategy: Strategy
    grid: Grid
    beside: Mapping[str, str]

    def fingerprint(self, evaluation: EvaluationRecord) -> str:
        """Of everything that decides what is sampled: never of golds, graders or the project's code."""
        protocol = evaluation.protocol.model_dump(mode="json", exclude={"benchmark", "template", "system", "changed"})
        return digest(
            {
                "model": evaluation.model.sha256,
                "prompts": evaluation.problems.sha256,
                "protocol": protocol,
                "engine": evaluation.engine,
                "versions": evaluation.versions,
                "strategy": self.strategy.run,
                "budgets": [str(budget) for budget in self.grid.budgets],
                "limit": self.grid.limit,
                "beside": dict(self.beside),
            }
        )


def left(
    strategy: Strategy, grid: Grid, beside: Mapping[str, str], there: Sequence[RunRecord], *, where: str
) -> Run | None:
    """The run of `strategy` that samples what `there` does not hold of the grid; None where it holds all.

    Raises:
        DataError: the strategy was sampled with another model or other budgets of the same name.
    """
    mine = [record for record in there if record.strategy == strategy.run]
    for record in mine:
        if record.beside != dict(beside):
            raise DataError(
                f"the run {record.run} is there, with another {', '.join(sorted(record.beside))}",
                where=where,
                remedy="name a new folder with --out, or replace all of it with --force",
            )
    known = {cell for record in mine for cell in _cells(strategy, _grid(record))}
    if _cells(strategy, grid) <= known:
        return None
    budgets = [one for one in grid.budgets if not _cells(strategy, _only(grid, [one])) <= known]
    added = f" at {','.join(map(str, budgets))}" + (f" <= {grid.limit}" if grid.limit else "")
    name = strategy.run + (added if mine else "")
    return Run(name, strategy, _only(grid, budgets), beside)


def _grid(record: RunRecord) -> Grid:
    return Grid(budgets=tuple(Budget.parse(text) for text in record.budgets), limit=record.limit)


def _only(grid: Grid, budgets: Iterable[Budget]) -> Grid:
    return grid.model_copy(update={"budgets": tuple(budgets)})


def _cells(strategy: Strategy, grid: Grid) -> set[str]:
    """What a strategy measures on a grid, each of it named by all that it depends on."""
    match strategy:
        case Nested() | Independent():
            return {f"{budget} <= {grid.limit}" for budget in grid.budgets}
        case S1Exact():
            return {str(budget.think) for budget in grid.budgets}
        case L1Exact():
            return {str(target) for target in asked(strategy, grid)}
        case L1Max():
            return {f"{target} <= {grid.limit}" for target in asked(strategy, grid)}
        case Fractured() | EarlyStop():
            return {f"{grid.limit}+{grid.solution}"}
        case Assigned():
            return {strategy.budgets}
        case _:
            return {str(budget) for budget in grid.budgets}


def file_stem(run: str) -> str:
    """A file name for a run that people can read, without "=", which readers of folders take for a partition.

    It ends with a hash unless the name alone tells the run from every other.
    """
    kept = re.sub(r"[^\w.+-]+", "", re.sub(r"[:, ]+", "_", run.replace("<=", "to").replace("=", "-")), flags=re.ASCII)
    return kept if _PLAIN.fullmatch(run) and len(kept) <= _LONGEST else f"{kept[:_LONGEST]}-{digest(run)[:8]}"
