"""What the comparison finds: curves, differences that may be claimed, adaptation, what it took to get there.

Every figure is over problems. A recipe with several seeds is averaged over them problem by problem; its seeds are kept
apart beside that. A difference is claimed only where every pair of seeds agrees on its sign and its p-value holds after
Holm's correction for the number of differences in this report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from compare.params import BASE, ReportParams
from elastic.errors import DataError
from elastic.metrics.accuracy import problem_accuracies
from elastic.metrics.adaptation import adaptation_ratio, resampled_ratios, same_adaptation_p
from elastic.metrics.allocation import sample_halves
from elastic.metrics.intervals import Interval, mean_interval, paired_difference
from elastic.metrics.significance import draws_for, holm, sign_flip
from elastic.seeding import stream_seed

Measure = Literal["accuracy", "tokens", "adaptation"]
Cell = int | None  # thinking budget, or None for no budget

_TOKENS = pl.col("n_think") + pl.col("n_solution")


@dataclass(frozen=True)
class Run:
    """One measured model: its recipe, its seed (None for the base), and a value a problem for every cell.

    Attributes:
        accuracy, tokens: arrays of shape (n problems,), by thinking budget or None.
        solve_rate, spent: accuracy over all cells, and tokens without a budget, of different samples
            (`sample_halves`), both of shape (n problems,); for the adaptation ratio.
    """

    name: str
    recipe: str
    seed: int | None
    accuracy: Mapping[Cell, np.ndarray]
    tokens: Mapping[Cell, np.ndarray]
    solve_rate: np.ndarray
    spent: np.ndarray


def measured(name: str, recipe: str, seed: int | None, scored: pl.DataFrame, problems: Sequence[str]) -> Run:
    """A run from its scored traces, on `problems` in that order.

    Raises:
        DataError: a problem was not graded in every cell, or was sampled once.
    """
    kept = scored.filter(pl.col("method") != "truncate")
    (accuracy, tokens), (judged, _), (_, measured_tokens) = (
        _by_cell(name, part, problems) for part in (kept, *sample_halves(kept))
    )
    solve_rate = np.mean(list(judged.values()), axis=0)
    return Run(name, recipe, seed, accuracy, tokens, solve_rate, measured_tokens[None])


def _by_cell(
    name: str, scored: pl.DataFrame, problems: Sequence[str]
) -> tuple[dict[Cell, np.ndarray], dict[Cell, np.ndarray]]:
    """Accuracy and mean tokens of every problem, by cell."""
    accuracy: dict[Cell, np.ndarray] = {}
    tokens: dict[Cell, np.ndarray] = {}
    for (think,), cell in scored.group_by("think_budget", maintain_order=True):
        found = problem_accuracies(cell).join(
            cell.group_by("problem_id").agg(tokens=_TOKENS.mean()), on="problem_id", validate="1:1"
        )
        found = pl.DataFrame({"problem_id": problems}).join(found, on="problem_id", how="left", maintain_order="left")
        if found["accuracy"].null_count():
            raise DataError(
                f"{found['accuracy'].null_count()} problems have no graded trace at t = {think}",
                where=f"results/scores of {name}",
                remedy="mend the grader: models are compared on the same problems",
            )
        accuracy[think], tokens[think] = found["accuracy"].to_numpy(), found["tokens"].to_numpy()
    return accuracy, tokens


@dataclass
class Difference:
    """One recipe minus another.

    Attributes:
        recipe, control: their names.
        cell: thinking budget, None without one.
        measure: accuracy, tokens of a response, or the adaptation ratio.
        difference, low, high: with its interval.
        seeds: of the recipe.
        agree: whether every pair of seeds has the sign of the difference.
        p: of the test over problems, known once all differences are.
        holds: whether the test holds after Holm's correction.
    """

    recipe: str
    control: str
    cell: Cell
    measure: Measure
    difference: float
    low: float
    high: float
    seeds: int
    agree: bool
    p: float = 1.0
    holds: bool = False

    @property
    def claimed(self) -> bool:
        """Whether it may be claimed."""
        return self.agree and self.holds


@dataclass
class Findings:
    """Runs by recipe, the base first, and every difference that was asked for.

    Args:
        runs: all measured models.
        params: of the report.
    """

    runs: Sequence[Run]
    params: ReportParams
    differences: dict[tuple[str, str, Cell, str], Difference] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_recipe: dict[str, list[Run]] = {}
        for run in self.runs:
            self.by_recipe.setdefault(run.recipe, []).append(run)
        [base] = self.by_recipe[BASE]
        self.difficulty = base.solve_rate
        self._ratios: dict[str, np.ndarray] = {}

    @property
    def cells(self) -> list[Cell]:
        """Thinking budgets by size, then None."""
        known = self.by_recipe[BASE][0].accuracy
        return [*sorted(cell for cell in known if cell is not None), None]

    def mean(self, recipe: str, measure: Measure, cell: Cell) -> np.ndarray:
        """Accuracy or tokens of every problem, averaged over the recipe's seeds."""
        return np.mean([getattr(run, measure)[cell] for run in self.by_recipe[recipe]], axis=0)

    def interval(self, recipe: str, measure: Measure, cell: Cell) -> Interval:
        """Mean over problems, with its interval."""
        if measure == "adaptation":
            return Interval(self.adaptation(recipe), *self._ends(self._resampled(recipe)))
        bounds = (0.0, 1.0) if measure == "accuracy" else None
        return mean_interval(self.mean(recipe, measure, cell), **self._sampling, bounds=bounds)

    def each_seed(self, recipe: str, measure: Measure, cell: Cell) -> list[float]:
        """The mean over problems of every seed."""
        return [self._value(run, measure, cell) for run in self.by_recipe[recipe]]

    def _spent(self, recipe: str) -> np.ndarray:
        return np.mean([run.spent for run in self.by_recipe[recipe]], axis=0)

    def adaptation(self, recipe: str) -> float:
        """Tokens on hard problems over tokens on easy ones, without a budget; difficulty is that of the base."""
        return adaptation_ratio(self._spent(recipe), self.difficulty, self.params.share)

    def difference(self, recipe: str, control: str, cell: Cell, measure: Measure = "accuracy") -> Difference:
        """Recipe minus control; asking for it puts it into the family that is corrected."""
        key = (recipe, control, cell, measure)
        if key not in self.differences:
            self.differences[key] = self._difference(recipe, control, cell, measure)
        return self.differences[key]

    def correct(self) -> None:
        """Test every difference that was asked for, and correct for their number."""
        level, rows = 1 - self.params.confidence, list(self.differences.values())
        draws = draws_for(len(rows), level, self.params.resamples)
        for row in rows:
            row.p = self._chance(row, draws)
        for row, holds in zip(rows, holm([row.p for row in rows], level), strict=True):
            row.holds = holds

    def tokens_to_match(self, recipe: str, accuracy: float) -> float | None:
        """Fewest mean tokens of a response at which the recipe's curve over budgets reaches an accuracy.

        Read off between two budgets in a straight line; None where no budget reaches it.
        """
        points = sorted(
            (float(self.mean(recipe, "tokens", cell).mean()), float(self.mean(recipe, "accuracy", cell).mean()))
            for cell in self.cells
        )
        if points[0][1] >= accuracy:
            return points[0][0]
        for (x0, y0), (x1, y1) in pairwise(points):
            if y0 < accuracy <= y1:
                return x0 + (x1 - x0) * (accuracy - y0) / (y1 - y0)
        return None

    @property
    def _sampling(self) -> dict[str, Any]:
        return {key: getattr(self.params, key) for key in ("confidence", "resamples", "seed")}

    def _value(self, run: Run, measure: Measure, cell: Cell) -> float:
        if measure == "adaptation":
            return adaptation_ratio(run.spent, self.difficulty, self.params.share)
        return float(getattr(run, measure)[cell].mean())

    def _resampled(self, recipe: str) -> np.ndarray:
        if recipe not in self._ratios:
            self._ratios[recipe] = resampled_ratios(
                self._spent(recipe),
                self.difficulty,
                self.params.share,
                resamples=self.params.resamples,
                seed=self.params.seed,
            )
        return self._ratios[recipe]

    def _chance(self, row: Difference, draws: int) -> float:
        names = (row.recipe, row.control, str(row.cell), row.measure)
        rng = np.random.default_rng(stream_seed(self.params.seed, "difference", *names))
        if row.measure == "adaptation":
            tokens, others = (self._spent(recipe) for recipe in (row.recipe, row.control))
            return same_adaptation_p(tokens, others, self.difficulty, self.params.share, swaps=draws, rng=rng)
        values, others = (self.mean(recipe, row.measure, row.cell) for recipe in (row.recipe, row.control))
        return sign_flip(values - others, draws, rng)

    def _difference(self, recipe: str, control: str, cell: Cell, measure: Measure) -> Difference:
        if measure == "adaptation":
            found = self._adaptation_difference(recipe, control)
        else:
            values, others = self.mean(recipe, measure, cell), self.mean(control, measure, cell)
            bounds = (-1.0, 1.0) if measure == "accuracy" else None
            found = paired_difference(values, others, **self._sampling, bounds=bounds)
        pairs = [
            mine - theirs
            for mine in self.each_seed(recipe, measure, cell)
            for theirs in self.each_seed(control, measure, cell)
        ]
        agree = all(np.sign(pair) == np.sign(found.mean) for pair in pairs)
        seeds = len(self.by_recipe[recipe])
        return Difference(recipe, control, cell, measure, *found, seeds=seeds, agree=agree)

    def _adaptation_difference(self, recipe: str, control: str) -> Interval:
        resampled = self._resampled(recipe) - self._resampled(control)
        return Interval(self.adaptation(recipe) - self.adaptation(control), *self._ends(resampled))

    def _ends(self, resampled: np.ndarray) -> tuple[float, float]:
        tail = (1 - self.params.confidence) / 2
        low, high = np.quantile(resampled, [tail, 1 - tail])
        return float(low), float(high)
