"""What every problem's answers were worth and cost at every budget of a grid: the curves that adaptive budgets follow.

Read from graded answers of one run of separate budgets (E1, section 3), nested or independent: the frames Answers and
Scored both serve. A *path* is a thinking trace of a problem, numbered by `sample`; under nested sampling its answers at
all budgets follow prefixes of the same thinking (Fractured Sampling, arXiv 2505.12992, figure 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from elastic.budget import Budget
from elastic.errors import DataError

_KEY = ["problem_id", "sample", "think_budget", "solution_budget"]


@dataclass(frozen=True)
class Curves:
    """A value for every problem at every budget, observed or predicted; both of shape (problems, budgets).

    Attributes:
        accuracy: share of correct answers, 0 to 1; nan where every answer ended in an error of the grader.
        used: mean tokens of thinking and solution.
    """

    accuracy: np.ndarray
    used: np.ndarray


@dataclass(frozen=True)
class Outcomes:
    """Graded answers of one run on one set of problems, on a full grid.

    Attributes:
        problem_ids: sorted.
        budgets: columns of the grid, sorted.
        correct: shape (problems, paths, budgets): 1, 0, or nan for an error of the grader.
        think, solution: tokens used, same shape.
        answers: what was answered, stripped text or None, same shape.
    """

    problem_ids: tuple[str, ...]
    budgets: tuple[Budget, ...]
    correct: np.ndarray
    think: np.ndarray
    solution: np.ndarray
    answers: np.ndarray

    @property
    def paths(self) -> int:
        """Thinking traces of a problem."""
        return int(self.correct.shape[1])

    def curves(self, paths: Sequence[int] | None = None) -> Curves:
        """Means over the paths, all of them by default."""
        kept = list(range(self.paths)) if paths is None else list(paths)
        correct = self.correct[:, kept]
        graded = np.isfinite(correct).sum(axis=1)
        accuracy = np.divide(np.nansum(correct, axis=1), graded, out=np.full(graded.shape, np.nan), where=graded > 0)
        return Curves(accuracy, (self.think + self.solution)[:, kept].mean(axis=1))


def common_budgets(frames: Sequence[pl.DataFrame]) -> tuple[Budget, ...]:
    """The budgets at which every frame has answers, sorted.

    Raises:
        DataError: there are fewer than 2.
    """
    grids = [
        {
            Budget(think, solution)
            for think, solution in _separate(frame).select("think_budget", "solution_budget").unique().iter_rows()
        }
        for frame in frames
    ]
    shared = set.intersection(*grids)
    if len(shared) < 2:
        raise DataError(
            f"the sets of answers share {len(shared)} budget(s): {', '.join(map(str, sorted(shared))) or 'none'}",
            remedy="sample validation and evaluation on grids that share at least two",
        )
    return tuple(sorted(shared))


def read_outcomes(answers: pl.DataFrame, budgets: Sequence[Budget]) -> Outcomes:
    """Arrange graded answers by problem, path and budget.

    A problem without a graded answer at one of the budgets (all were errors) drops out.

    Args:
        answers: rows of Answers of one run, or of Scored of one model; only the method `separate` counts.
        budgets: the grid, in any order.

    Raises:
        DataError: an answer stands twice, a problem lacks some, or none is left.
    """
    grid = tuple(sorted(budgets))
    wanted = pl.DataFrame(
        [(budget.think, budget.solution) for budget in grid],
        schema={"think_budget": pl.Int64, "solution_budget": pl.Int64},
        orient="row",
    )
    rows = _separate(answers).join(wanted, on=["think_budget", "solution_budget"], how="semi").sort(_KEY)
    if rows.select(_KEY).is_duplicated().any():
        again = rows.filter(rows.select(_KEY).is_duplicated()).row(0, named=True)
        raise DataError(
            f"problem {again['problem_id']}, sample {again['sample']} has several answers at "
            f"{again['think_budget']}+{again['solution_budget']}",
            remedy="pass the answers of one model, one run and one setting",
        )
    ids = tuple(rows["problem_id"].unique().sort())
    paths = rows["sample"].n_unique()
    shape = (len(ids), paths, len(grid))
    if not ids or rows.height != np.prod(shape):
        raise DataError(
            f"{rows.height} answers are no full grid of {len(ids)} problems x {paths} samples x {len(grid)} budgets",
            remedy="finish sampling, or pass the budgets at which every problem has all its samples",
        )
    correct = rows.select(
        pl.when(pl.col("verdict") != "error").then((pl.col("verdict") == "correct").cast(pl.Float64))
    ).to_series()
    outcomes = Outcomes(
        ids,
        grid,
        correct.to_numpy().astype(float).reshape(shape),
        rows["n_think"].to_numpy().astype(float).reshape(shape),
        rows["n_solution"].to_numpy().astype(float).reshape(shape),
        np.array(rows["answer"].str.strip_chars().to_list(), dtype=object).reshape(shape),
    )
    graded = np.isfinite(outcomes.correct).any(axis=1).all(axis=1)
    if not graded.any():
        raise DataError("no problem was graded at every budget", remedy="look at the errors of the grader")
    return Outcomes(
        tuple(name for name, kept in zip(ids, graded, strict=True) if kept),
        grid,
        *(part[graded] for part in (outcomes.correct, outcomes.think, outcomes.solution, outcomes.answers)),
    )


def _separate(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.filter(pl.col("method") == "separate")
