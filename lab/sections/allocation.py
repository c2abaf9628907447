"""Who spends tokens on the hard problems (ALP, arXiv 2506.05256)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from elastic.metrics.adaptation import adaptation_ratio, resampled_ratios, same_adaptation_p
from elastic.metrics.allocation import (
    ADAPTATION_DEFINITIONS,
    Allocation,
    Spending,
    allocation,
    cumulative_curve,
    sample_halves,
    tokens_by_level,
)
from elastic.metrics.problems import problem_means
from elastic.metrics.resampling import percentile_interval
from elastic.metrics.significance import draws_for, holm
from elastic.seeding import stream_seed
from lab.analysis import Column, Entry, Measured, Panel, Plot, Section, Series, Table
from lab.evidence import Evidence, cell
from lab.tables import entry, listed, series

LEVELS = "terms"
# The definition by which models are compared, and its share of hard and of easy problems.
FIRST = next(iter(ADAPTATION_DEFINITIONS))
SHARE = ADAPTATION_DEFINITIONS[FIRST][0]


def section(evidence: Evidence) -> Section:
    """The section."""
    means = {}
    for model in evidence.models:
        _, measured = sample_halves(cell(evidence.answers(model, "test"), "unconstrained"))
        means[model] = problem_means(measured)
    joined = _with_difficulty(evidence, means)
    params = evidence.params
    found = {
        model: allocation(frame["tokens"].to_numpy(), 1 - frame["difficulty"].to_numpy(), **params.sampling)
        for model, frame in joined.items()
    }
    changes = _changes(evidence, joined)
    levels = {
        model: tokens_by_level(frame["tokens"].to_numpy(), frame[LEVELS].to_list(), **params.sampling)
        for model, frame in joined.items()
    }
    names = [row.group for row in levels[evidence.base]]
    return Section(
        key="allocation",
        question="Who spends tokens where they are needed?",
        finding=_finding(evidence, found, changes),
        notes=[
            f"Without a budget. Difficulty is 1 − the solve rate of {evidence.base} over its whole grid of budgets, so "
            "that it is the same for every model, by one half of the samples; tokens are of the other half, since a "
            "sample that runs long by chance is also cut more often. The set's own level of a chain is its number of "
            "terms.",
            "The adaptation ratio is mean tokens on hard problems over mean tokens on easy ones, by both published "
            "definitions; the efficiency score is 1 minus the area under the curve of the figure: 0.5 for equal "
            "tokens.",
            "Published: ALP 5.35 and 0.68, ThinkPrune 2.81 and 0.61, DeepScaleR 2.41, L1-Exact 1.01; other problems "
            "and models, so not comparable.",
        ],
        plots=[_curve(joined), _by_level(levels, names)],
        tables=[_table(found, changes, evidence.base), _levels(levels, names)],
    )


def _with_difficulty(evidence: Evidence, means: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The models' means with the difficulty and the level of every problem that the base has."""
    judged, _ = sample_halves(evidence.answers(evidence.base, "test").filter(pl.col("method") == "separate"))
    difficulty = problem_means(judged).select("problem_id", difficulty=1 - pl.col("accuracy"))
    questions = evidence.questions("test").select(
        "problem_id", pl.col("question").str.split(" ").list.len().cast(pl.String).alias(LEVELS)
    )
    known = difficulty.join(questions, on="problem_id")
    return {model: frame.join(known, on="problem_id").sort("problem_id") for model, frame in means.items()}


def _changes(evidence: Evidence, joined: Mapping[str, pl.DataFrame]) -> dict[str, Measured]:
    """Adaptation ratio of every trained model minus the base's, by the first definition, corrected together."""
    params, base = evidence.params, evidence.base
    level = 1 - params.confidence
    draws = draws_for(len(evidence.trained), level, params.resamples)
    found, chances = {}, []
    for model in evidence.trained:
        both = (
            joined[model].join(joined[base].select("problem_id", control="tokens"), on="problem_id").sort("problem_id")
        )
        rates = 1 - both["difficulty"].to_numpy()
        tokens, control = both["tokens"].to_numpy(), both["control"].to_numpy()
        resampled = (
            resampled_ratios(values, rates, SHARE, resamples=params.resamples, seed=params.seed)
            for values in (tokens, control)
        )
        difference = adaptation_ratio(tokens, rates, SHARE) - adaptation_ratio(control, rates, SHARE)
        found[model] = percentile_interval(difference, next(resampled) - next(resampled), params.confidence)
        rng = np.random.default_rng(stream_seed(params.seed, "allocation", model))
        chances.append(same_adaptation_p(tokens, control, rates, SHARE, swaps=draws, rng=rng))
    return {
        model: Measured(value=row.mean, low=row.low, high=row.high, holds=holds)
        for (model, row), holds in zip(found.items(), holm(chances, level), strict=True)
    }


def _finding(evidence: Evidence, found: Mapping[str, Allocation], changes: Mapping[str, Measured]) -> str:
    ratios = ", ".join(
        f"{model} {found[model].adaptation[FIRST].mean:.2f}"
        for model in evidence.models
        if FIRST in found[model].adaptation
    )
    parts = []
    for model, change in changes.items():
        more = "adapts more" if change.value > 0 else "adapts less"
        parts.append(
            f"{model} {more} than {evidence.base}" if change.holds else f"{model} does not differ from {evidence.base}"
        )
    text = f"Tokens on the hardest 30% of the problems over those on the easiest 30%: {ratios}"
    return f"{text}. After Holm's correction, {listed(parts)}." if parts else f"{text}."


def _curve(joined: Mapping[str, pl.DataFrame]) -> Plot:
    curves = [
        Series(colour=model, line="plain", x=x.tolist(), y=y.tolist()) for model, (x, y) in _cumulative(joined).items()
    ]
    return Plot(
        name="allocation-curve",
        title="The cumulative token curve.",
        caption="Problems from the easiest to the hardest; further below the diagonal, more of the tokens are spent on "
        "hard problems.",
        x_label="share of the problems, easiest first",
        y_label="share of the tokens used",
        panels=[Panel(series=[*curves, Series(colour="equal tokens", line="plain", x=[0, 1], y=[0, 1])])],
    )


def _cumulative(joined: Mapping[str, pl.DataFrame]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        model: cumulative_curve(frame["tokens"].to_numpy(), frame["difficulty"].to_numpy())
        for model, frame in joined.items()
    }


def _by_level(levels: Mapping[str, list[Spending]], names: list[str]) -> Plot:
    curves = []
    for model, rows in levels.items():
        places = [float(names.index(row.group)) for row in rows if row.group in names]
        curves.append(series(model, places, [entry(row.tokens) for row in rows if row.group in names]))
    return Plot(
        name="allocation-levels",
        title="Tokens by the set's own level.",
        caption="Mean over the problems of a level, with intervals.",
        x_label="terms of the chain",
        y_label="mean tokens used (thinking + solution)",
        x_scale="names",
        x_names=names,
        y_unit="number",
        panels=[Panel(series=curves)],
    )


def _table(found: Mapping[str, Allocation], changes: Mapping[str, Measured], base: str) -> Table:
    rows: list[list[Entry]] = []
    for model, row in found.items():
        ratios = [entry(row.adaptation[name]) if name in row.adaptation else None for name in ADAPTATION_DEFINITIONS]
        rows.append([model, *ratios, changes.get(model), entry(row.efficiency), entry(row.easier_half), row.n_problems])
    return Table(
        title="Allocation",
        detail="adaptation: tokens on the hardest share of the problems over the easiest share",
        columns=[
            Column(name="model", unit="label"),
            *(Column(name=f"adaptation {h:.0%} / {e:.0%}", unit="number") for h, e in ADAPTATION_DEFINITIONS.values()),
            Column(name=f"− {base}, first", unit="change"),
            Column(name="efficiency", unit="number"),
            Column(name="on the easier half", unit="share"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _levels(levels: Mapping[str, list[Spending]], names: list[str]) -> Table:
    rows: list[list[Entry]] = []
    for model, found in levels.items():
        by_name = {row.group: row for row in found}
        rows.append([model, *(entry(by_name[name].tokens) if name in by_name else None for name in names)])
    return Table(
        title="Mean tokens by number of terms",
        detail=f"{', '.join(f'{row.group}: {row.n_problems} problems' for row in next(iter(levels.values())))}",
        columns=[Column(name="model", unit="label"), *(Column(name=name, unit="tokens") for name in names)],
        rows=rows,
        folded=True,
    )
