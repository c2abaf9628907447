"""Paired comparisons on the test split, and the correction for their number.

Models and methods share problems and random streams, so a difference is taken problem by problem and its interval is
a bootstrap over problems. Traces whose grading failed (verdict error) are left out of accuracies, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from elastic.budget import Budget
from elastic.metrics.accuracy import pair_problems, problem_accuracies
from elastic.metrics.intervals import Interval, paired_difference
from elastic.metrics.log_linear import LogLinear, fit_log_linear
from elastic.metrics.significance import draws_for, holm, sign_flip
from elastic.reporting.evidence import BASE, Evidence
from elastic.seeding import stream_seed

Pairs = tuple[np.ndarray, np.ndarray]

UNFINISHED = 0.1  # truncation that leaves more than this unfinished is where separate budgets ought to help


@dataclass(frozen=True)
class Paired:
    """A mean difference over problems, `model` minus `control`.

    Attributes:
        model, control: what is compared; methods are named so where one model is compared with itself.
        budget: None for unconstrained traces.
        difference, low, high: in accuracy (0 to 1), or in tokens.
        n_problems: pairs.
        holds: whether it survives the correction for the number of comparisons; None where none is made.
        unfinished: share of the truncation traces that ran out of tokens; None where truncation has no part.
    """

    model: str
    control: str
    budget: Budget | None
    difference: float
    low: float
    high: float
    n_problems: int
    holds: bool | None = None
    unfinished: float | None = None


def _cell(evidence: Evidence, model: str, method: str, budget: Budget | None) -> pl.DataFrame:
    """Scored test traces of one cell of the grid."""
    frame = evidence.scored[model].filter(pl.col("method") == method)
    if budget is None:
        return frame
    return frame.filter((pl.col("think_budget") == budget.think) & (pl.col("solution_budget") == budget.solution))


def _accuracies(evidence: Evidence, model: str, budget: Budget | None) -> pl.DataFrame:
    return problem_accuracies(_cell(evidence, model, "separate" if budget else "unconstrained", budget))


def _difference(evidence: Evidence, pairs: Pairs, *stream: str, bounds: tuple[float, float] = (-1.0, 1.0)) -> Interval:
    score = evidence.profile.score
    seed = stream_seed(score.seed, "report", *stream)
    return paired_difference(*pairs, confidence=score.confidence, resamples=score.resamples, seed=seed, bounds=bounds)


def _paired(model: str, control: str, budget: Budget | None, pairs: Pairs, interval: Interval) -> Paired:
    return Paired(model, control, budget, interval.mean, interval.low, interval.high, len(pairs[0]))


def paired_accuracy(evidence: Evidence, model: str, control: str, budget: Budget | None) -> Paired:
    """Accuracy of `model` minus `control` under separate budgets, or unconstrained where `budget` is None."""
    pairs = pair_problems(_accuracies(evidence, model, budget), _accuracies(evidence, control, budget))
    return _paired(model, control, budget, pairs, _difference(evidence, pairs, "accuracy", model, control, str(budget)))


def paired_tokens(evidence: Evidence, model: str, control: str) -> Paired:
    """Mean thinking + solution tokens of `model` minus `control`, unconstrained."""
    limit = float(evidence.unconstrained(control).limit or 0)
    first, second = (
        _cell(evidence, name, "unconstrained", None)
        .group_by("problem_id")
        .agg(tokens=(pl.col("n_think") + pl.col("n_solution")).mean())
        for name in (model, control)
    )
    both = first.join(second, on="problem_id", suffix="_control").sort("problem_id")
    pairs = both["tokens"].to_numpy(), both["tokens_control"].to_numpy()
    interval = _difference(evidence, pairs, "tokens", model, control, bounds=(-limit, limit))
    return _paired(model, control, None, pairs, interval)


def separate_minus_truncate(evidence: Evidence) -> dict[str, list[Paired]]:
    """Accuracy under separate budgets minus plain truncation at the same total, by model and rising t."""
    found: dict[str, list[Paired]] = {}
    for model in evidence.models:
        found[model] = []
        for row in evidence.rows(model, "separate"):
            budget = Budget(row.think or 0, evidence.solution)
            cut = _cell(evidence, model, "truncate", budget)
            pairs = pair_problems(_accuracies(evidence, model, budget), problem_accuracies(cut))
            interval = _difference(evidence, pairs, "methods", model, str(budget))
            paired = _paired(f"{model} separate", f"{model} truncate", budget, pairs, interval)
            found[model].append(replace(paired, unfinished=cut.filter(finish="budget").height / cut.height))
    return found


def round_differences(evidence: Evidence) -> list[Paired]:
    """Each round against its `prev` and against base, at every budget and unconstrained, with Holm's verdict.

    A round whose `prev` is base is compared once.
    """
    score = evidence.profile.score
    pairs = [
        (name, control)
        for name, params in evidence.profile.rounds.items()
        for control in dict.fromkeys((params.prev, BASE))
    ]
    budgets = [Budget(row.think or 0, evidence.solution) for row in evidence.rows(BASE, "separate")]
    cells = [(model, control, budget) for model, control in pairs for budget in [*budgets, None]]
    level = 1 - score.confidence
    flips = draws_for(len(cells), level, score.resamples)
    found = [paired_accuracy(evidence, *cell) for cell in cells]
    holds = holm([_chance(evidence, *cell, flips) for cell in cells], level)
    return [replace(paired, holds=verdict) for paired, verdict in zip(found, holds, strict=True)]


def _chance(evidence: Evidence, model: str, control: str, budget: Budget | None, flips: int) -> float:
    rng = np.random.default_rng(
        stream_seed(evidence.profile.score.seed, "report", "sign-flip", model, control, str(budget))
    )
    first, second = pair_problems(_accuracies(evidence, model, budget), _accuracies(evidence, control, budget))
    return sign_flip(first - second, flips, rng)


def log_linear_fits(evidence: Evidence) -> dict[str, LogLinear | None]:
    """accuracy = a + b ln(mean thinking + solution tokens) over each model's separate rows on test."""
    fits = {}
    for model in evidence.models:
        rows = evidence.rows(model, "separate")
        fits[model] = fit_log_linear(
            [row.mean_think_tokens + row.mean_solution_tokens for row in rows], [row.accuracy for row in rows]
        )
    return fits
