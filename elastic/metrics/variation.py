"""How far a measure varies between problems and between runs, and differences of it between models.

A run is an evaluation with a seed of its own (or a model trained from one), and all runs have the same problems. The
value of problem p in run r is taken apart as a crossed random-effects model, y = mean + problem + run + rest, by the
mean squares of the two-way analysis of variance without replication (Searle, Casella and McCulloch, Variance
Components, chapter 4). More problems do not shrink the run's part of the uncertainty, and more runs not the problems'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.stats import t

from elastic.errors import DataError
from elastic.metrics.intervals import Interval, mean_interval, paired_difference

# From answers to one value a problem: columns problem_id and value.
Measure = Callable[[pl.DataFrame], pl.DataFrame]


def on_shared_problems(frames: Sequence[pl.DataFrame], measure: Measure) -> np.ndarray:
    """The measure of every frame on the problems that it is defined for in all of them; shape (P, frames).

    Args:
        frames: answers, a frame a run or model.
        measure: such as `pass_at_k.mean_at_k`, `voting.majority` or a partial of `pass_at_k.pass_at_k`.

    Raises:
        DataError: they share no problem.
    """
    measured = [measure(frame) for frame in frames]
    shared = measured[0].select("problem_id")
    for values in measured[1:]:
        shared = shared.join(values, on="problem_id", how="semi")
    if shared.is_empty():
        raise DataError("no problem was measured in all runs", remedy="score them on the same problems")
    columns = [
        shared.join(values, on="problem_id", how="left", validate="1:1", maintain_order="left")["value"].to_numpy()
        for values in measured
    ]
    return np.stack(columns, axis=1)


def measured_difference(
    model: pl.DataFrame,
    control: pl.DataFrame,
    measure: Measure,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> Interval:
    """Mean difference of a measure over the problems that both have, and its interval.

    Args:
        model, control: answers of one cell each.
        measure: of each problem.
        confidence, resamples, seed, bounds: as for `intervals.paired_difference`.

    Raises:
        DataError: they share no problem.
    """
    values = on_shared_problems([model, control], measure)
    return paired_difference(
        values[:, 0], values[:, 1], confidence=confidence, resamples=resamples, seed=seed, bounds=bounds
    )


@dataclass(frozen=True)
class Variation:
    """Variance components of one measure; estimates below zero are 0.

    Attributes:
        mean: over problems and runs.
        problems: variance between problems.
        runs: variance between runs that all problems share, as of a model that is better trained by luck.
        rest: variance of one problem's value in one run, as of sampling its answers anew.
        n_problems, n_runs: of the values.
    """

    mean: float
    problems: float
    runs: float
    rest: float
    n_problems: int
    n_runs: int

    @property
    def between_runs(self) -> float:
        """Standard deviation of a run's mean over these very problems: what another seed would move the score by."""
        return float(np.sqrt(self.runs + self.rest / self.n_problems))

    @property
    def between_sets(self) -> float:
        """Standard deviation of the mean over another set of as many problems, were each measured without noise."""
        return float(np.sqrt(self.problems / self.n_problems))


def _mean_squares(values: np.ndarray) -> tuple[float, float, float]:
    """Mean squares of problems, runs and rest.

    Raises:
        DataError: there are not two of each.
    """
    problems, runs = values.shape
    if problems < 2 or runs < 2:
        raise DataError(
            f"{problems} problems in {runs} runs leave nothing to tell their variances apart by",
            remedy="score at least two runs, on at least two problems",
        )
    by_problem, by_run = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    rest = values - by_problem - by_run + values.mean()
    return (
        float(runs * by_problem.var(ddof=1)),
        float(problems * by_run.var(ddof=1)),
        float((rest**2).sum() / ((problems - 1) * (runs - 1))),
    )


def decompose(values: np.ndarray) -> Variation:
    """Variance components of one value a problem and run.

    Args:
        values: shape (P, R), from `on_shared_problems`.

    Raises:
        DataError: there are fewer than two problems or runs.
    """
    of_problems, of_runs, of_rest = _mean_squares(values)
    problems, runs = values.shape
    return Variation(
        float(values.mean()),
        max(0.0, (of_problems - of_rest) / runs),
        max(0.0, (of_runs - of_rest) / problems),
        of_rest,
        problems,
        runs,
    )


def interval_over_runs(values: np.ndarray, *, confidence: float, bounds: tuple[float, float] = (0.0, 1.0)) -> Interval:
    """The mean over problems and runs, and an interval for other problems and other runs of the same kind.

    The variance of the mean is problems / P + runs / R + rest / (P R); Student's t with Satterthwaite's degrees of
    freedom, cut at the bounds. Where runs do not differ it is the t interval over the problems' means; where all values
    are equal it is that of `intervals.mean_interval`. With two or three runs it is wide, as it has to be.

    Args:
        values: shape (P, R), from `on_shared_problems`.
        confidence: of the two-sided interval.
        bounds: what a value can be.

    Raises:
        DataError: there are fewer than two problems or runs.
    """
    of_problems, of_runs, of_rest = _mean_squares(values)
    problems, runs = values.shape
    if np.ptp(values) == 0:
        return mean_interval(values[:, 0], confidence=confidence, resamples=1, seed=0, bounds=bounds)
    degrees = {"problems": problems - 1, "runs": runs - 1, "rest": (problems - 1) * (runs - 1)}
    # A component whose estimate is below zero is left out, and with it the mean squares that estimate it.
    kept = {"problems": of_problems > of_rest, "runs": of_runs > of_rest}
    squares = {
        "problems": of_problems * kept["problems"],
        "runs": of_runs * kept["runs"],
        "rest": of_rest * (1 - sum(kept.values())),
    }
    total = sum(squares.values())
    freedom = total**2 / sum(square**2 / degrees[name] for name, square in squares.items())
    half = float(t.ppf((1 + confidence) / 2, freedom) * np.sqrt(total / (problems * runs)))
    mean = float(values.mean())
    return Interval(mean, max(bounds[0], mean - half), min(bounds[1], mean + half))
