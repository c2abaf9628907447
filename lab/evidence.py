"""What the sampling stages left behind, read as the sections need it.

A folder holds one evaluation (elastic/evaluation): `answers/`, `thinking/` and `costs/` with a file a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from elastic.answers.classes import with_classes
from elastic.budget import Budget
from elastic.contracts.frames import PassRates, Problems, read_frame
from elastic.errors import DataError
from elastic.metrics.thinking import with_thinking
from lab.analysis_params import AnalyseParams

# As long as everything else together, and no section reads them.
_IDS = ("solution_ids", "think_ids")


@dataclass(frozen=True)
class Evidence:
    """The evaluations of all models.

    Attributes:
        params: of the analysis.
        models: the base first.
        swapped: models that think and solve for each other.
        folder: of the results.
        problems: of the problems, a file a set.
        pipeline: of the pipeline that made the models.
        decode: thinking ids as text.
    """

    params: AnalyseParams
    models: Sequence[str]
    swapped: Sequence[str]
    folder: Path
    problems: Path
    pipeline: Path
    decode: Callable[[Sequence[int]], str]
    _read: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The model that nothing was trained from."""
        return self.models[0]

    @property
    def trained(self) -> Sequence[str]:
        """The other models."""
        return self.models[1:]

    @property
    def main(self) -> Budget:
        """The budget at which models and strategies are compared."""
        return self.params.main

    def answers(self, *place: str, strategy: str | None = None) -> pl.DataFrame:
        """Answers of one evaluation, without token ids, with the class of every answer in place of its text.

        Args:
            place: folders below the results: a model and a set, or `swap` and a pair.
            strategy: name of the strategy whose runs are wanted; all runs by default.

        Raises:
            DataError: there are none.
        """
        frame = self._frame("answers", place)
        if strategy is not None:
            frame = frame.filter(pl.col("run").str.split(":").list.first() == strategy)
            if frame.is_empty():
                raise DataError(
                    f"no run of the strategy {strategy}",
                    where=str(self.folder.joinpath(*place)),
                    remedy="add it to sets.*.strategies in params.yaml",
                )
        return frame

    def thinking(self, *place: str) -> pl.DataFrame:
        """Thinking of one evaluation, without its ids."""
        return self._frame("thinking", place)

    def costs(self, *place: str) -> pl.DataFrame:
        """What the runs of one evaluation really spent."""
        return self._frame("costs", place)

    def questions(self, name: str) -> pl.DataFrame:
        """The problems of a set (contract Problems)."""
        return read_frame(Problems, self.problems / f"{name}.parquet")

    def training(self) -> pl.DataFrame:
        """The training problems that the base was probed on, with their pass rates, graded ones only."""
        rates = read_frame(PassRates, self.pipeline / "data/bucketed/rates.parquet")
        problems = read_frame(Problems, self.pipeline / "data/curated/training.parquet")
        return (
            rates.filter(pl.col("graded") > 0)
            .join(problems.select("problem_id", "question"), on="problem_id")
            .sort("problem_id")
        )

    def traces(self, *place: str, method: str, budget: Budget | None = None) -> pl.DataFrame:
        """Answers of one cell with all of their columns, and with the ids and text of the thinking they were given."""
        folder = self.folder.joinpath(*place)
        answers, thinking = (pl.scan_parquet(folder / kind / "*.parquet") for kind in ("answers", "thinking"))
        runs = cell(self.answers(*place), method, budget)["run"].unique().to_list()
        found = cell(answers.filter(pl.col("run").is_in(runs)).collect(), method, budget)
        return with_thinking(found, thinking.filter(pl.col("run").is_in(runs)).collect(), self.decode)

    def _frame(self, kind: str, place: tuple[str, ...]) -> pl.DataFrame:
        if (kind, *place) not in self._read:
            folder = self.folder.joinpath(*place) / kind
            files = sorted(folder.glob("*.parquet"))
            if not files:
                raise DataError("no such evaluation", where=str(folder), remedy="run `dvc repro`, which samples it")
            parts = [_without_ids(file) for file in files]
            frame = pl.concat(parts)
            self._read[kind, *place] = with_classes(frame) if kind == "answers" else frame
        return self._read[kind, *place]


def _without_ids(file: Path) -> pl.DataFrame:
    scan = pl.scan_parquet(file)
    kept: list[Any] = [name for name in scan.collect_schema().names() if name not in _IDS]
    return scan.select(kept).collect()


def cell(answers: pl.DataFrame, method: str, budget: Budget | None = None, *, run: str | None = None) -> pl.DataFrame:
    """The answers of one method at one budget.

    Args:
        answers: of one evaluation.
        method: of the rows.
        budget: None for those without a budget.
        run: where several runs have the method.

    Raises:
        DataError: there are none.
    """
    wanted = pl.col("method") == method
    if run is not None:
        wanted &= pl.col("run") == run
    if budget is not None:
        wanted &= (pl.col("think_budget") == budget.think) & (pl.col("solution_budget") == budget.solution)
    found = answers.filter(wanted)
    if found.is_empty():
        raise DataError(
            f"no answers of {method} at {budget or 'no budget'}",
            where="results",
            remedy="add the strategy or the budget to params.yaml",
        )
    return found


def grid_of(answers: pl.DataFrame, method: str = "separate") -> list[Budget]:
    """The budgets that a method was measured at, by rising t."""
    rows = answers.filter(pl.col("method") == method).select("think_budget", "solution_budget").unique()
    return sorted(Budget(think, solution) for think, solution in rows.iter_rows())
