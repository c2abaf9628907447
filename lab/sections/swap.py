"""Component swap: which part of the gain is the thinking's, which the solution's (E1, table of components)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from elastic.budget import Budget
from elastic.contracts.reference import load_reference
from elastic.metrics.problems import problem_means
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Panel, Plot, Section, Table
from lab.evidence import Evidence, cell, grid_of
from lab.paired import Difference, Family
from lab.tables import ACCURACY, accuracy, mean, series

SWAP = "swap"
PARTS = {"both": "both", "thinking": "thinking only", "solution": "solution only"}
Pair = tuple[str, str]


def section(evidence: Evidence) -> Section:
    """The section."""
    answers = {
        (thinker, solver): evidence.answers(SWAP, f"{thinker}-{solver}")
        for thinker in evidence.swapped
        for solver in evidence.swapped
    }
    steps = list(pairwise(evidence.swapped))
    budgets = [b for b in grid_of(next(iter(answers.values())), SWAP) if b.solution == evidence.main.solution]
    means = {(pair, b): problem_means(cell(frame, SWAP, b)) for pair, frame in answers.items() for b in budgets}
    family = Family("swap", evidence.params)
    for old, new in steps:
        for budget in budgets:
            both, thinking, solution, neither = (
                means[pair, budget] for pair in ((new, new), (new, old), (old, new), (old, old))
            )
            for part, values in (("both", both), ("thinking", thinking), ("solution", solution)):
                family.add((old, new, part, budget), values, neither, "accuracy")
            family.add((old, new, "solution − thinking", budget), solution, thinking, "accuracy")
    found = family.corrected()
    return Section(
        key="swap",
        question="Does the thinking or the solution carry the gain of training?",
        finding=" ".join(_finding(found, old, new, evidence.main, budgets) for old, new in steps),
        notes=[
            "Published (E1, component swap on AIME24 at 0.5K+1K): most of the gain is the solution learning to answer "
            "from unfinished thinking. The base has 2.1% both ways, 3.5% with the trained thinking alone, 10.8% "
            "with the trained solution alone, 13.5% with both.",
            "One model thinks up to t, another writes the solution from it. Differences are paired by problem and "
            "corrected together. Only together is the gain of both parts beyond the sum of what each gains alone; "
            "below 0, these gains overlap.",
        ],
        plots=[_plot(evidence, means, budgets)],
        tables=[
            *(_gains(found, old, new, budgets) for old, new in steps),
            _published(evidence),
            _accuracies(evidence, answers, budgets),
        ],
    )


def _finding(found: Mapping[Any, Difference], old: str, new: str, main: Budget, budgets: list[Budget]) -> str:
    both, thinking, solution = (found[old, new, part, main] for part in PARTS)
    text = (
        f"From {old} to {new} at {main}: {points(both.value.mean)} points with both parts, "
        f"{points(thinking.value.mean)} with the trained thinking alone, "
        f"{points(solution.value.mean)} with the trained solution alone."
    )
    rows = [found[old, new, "solution − thinking", budget] for budget in budgets]
    more, less = sum(row.better for row in rows), sum(row.worse for row in rows)
    if more and not less:
        return f"{text} The published finding holds: the solution carries more at {more} of {len(rows)} budgets."
    if less and not more:
        return (
            f"{text} The published finding does not hold: the thinking carries more at {less} of {len(rows)} budgets."
        )
    if more:
        return (
            f"{text} The published finding holds in part: the solution carries more at {more} of {len(rows)} budgets, "
            f"the thinking at {less}."
        )
    return f"{text} The published finding is undecided here: at no budget do the two parts differ after the correction."


def _plot(evidence: Evidence, means: Mapping[tuple[Pair, Budget], pl.DataFrame], budgets: list[Budget]) -> Plot:
    pairs = [(thinker, solver) for thinker in evidence.swapped for solver in evidence.swapped]
    curves = [
        series(
            f"{solver} solves",
            [budget.think for budget in budgets],
            [mean(means[(thinker, solver), budget], evidence.params, "accuracy") for budget in budgets],
            style=f"{thinker} thinks",
        )
        for thinker, solver in pairs
    ]
    return Plot(
        name="swap",
        title="Who thinks and who solves.",
        caption=f"Accuracy by thinking budget at s = {evidence.main.solution}, with intervals over problems.",
        x_label="thinking budget t (a limit, not tokens used)",
        y_label="accuracy",
        panels=[Panel(series=curves)],
    )


def _gains(found: Mapping[Any, Difference], old: str, new: str, budgets: list[Budget]) -> Table:
    rows: list[list[Entry]] = []
    for budget in budgets:
        both, thinking, solution = (found[old, new, part, budget] for part in PARTS)
        more = found[old, new, "solution − thinking", budget]
        rest = both.value.mean - thinking.value.mean - solution.value.mean
        rows.append([str(budget), both.entry, thinking.entry, solution.entry, more.entry, rest, both.n_problems])
    return Table(
        title=f"Gain over {old} thinking and solving",
        detail=f"points of accuracy; trained parts from {new}",
        columns=[
            Column(name="budget", unit="label"),
            *(Column(name=name, unit="points") for name in PARTS.values()),
            Column(name="solution − thinking", unit="points"),
            Column(name="only together", unit="points"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _published(evidence: Evidence) -> Table:
    reference = load_reference(evidence.pipeline / "data/reference/component_swap.yaml")
    [table] = reference.tables
    first = table.rows[0].values["accuracy"]
    return Table(
        title="Published: AIME24 at 0.5K+1K",
        detail=f"{reference.paper}, {table.source}",
        columns=[
            Column(name="parts", unit="label"),
            Column(name="accuracy", unit="share"),
            Column(name="gain", unit="points"),
        ],
        rows=[[row.setting, row.values["accuracy"], row.values["accuracy"] - first] for row in table.rows],
    )


def _accuracies(evidence: Evidence, answers: Mapping[Pair, pl.DataFrame], budgets: list[Budget]) -> Table:
    rows: list[list[Entry]] = []
    for (thinker, solver), frame in answers.items():
        for budget in budgets:
            where = f"{thinker} thinks, {solver} solves, {budget}"
            rows.append([thinker, solver, str(budget), *accuracy(cell(frame, SWAP, budget), where, evidence.params)])
    return Table(
        title="Accuracy of every pair",
        columns=[
            Column(name="thinks", unit="label"),
            Column(name="solves", unit="label"),
            Column(name="budget", unit="text"),
            *ACCURACY,
        ],
        rows=rows,
        folded=True,
    )
