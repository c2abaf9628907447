"""Every strategy of every model over the grid of budgets: separate budgets (E1, section 3) and the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from elastic.budget import Budget
from elastic.metrics.problems import TOKENS, problem_means
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Panel, Plot, Section, Table
from lab.evidence import Evidence, cell, grid_of
from lab.kinds import Kind, kinds_of
from lab.paired import Difference, Family
from lab.tables import ACCURACY, accuracy, listed, mean, series, verdicts

USED = "mean tokens used (thinking + solution + probes)"
SEPARATE = "separate"


def section(evidence: Evidence) -> Section:
    """The section."""
    main = evidence.main
    answers = {model: evidence.answers(model, "test") for model in evidence.models}
    kinds = kinds_of(answers[evidence.base])
    others = [kind for kind in kinds if kind.budgeted and kind.method != SEPARATE]
    budgets = [budget for budget in grid_of(answers[evidence.base]) if budget.solution == main.solution]
    twins = _twins(answers, others, budgets)
    tested = [kind for kind in others if kind not in twins]
    family = Family("grid", evidence.params)
    for model, frame in answers.items():
        for budget in budgets:
            separate = problem_means(cell(frame, SEPARATE, budget))
            for kind in tested:
                family.add((model, kind, budget), separate, problem_means(kind.at(frame, budget)), "accuracy")
    base = problem_means(cell(answers[evidence.base], SEPARATE, main))
    for model in evidence.trained:
        family.add((model, main), problem_means(cell(answers[model], SEPARATE, main)), base, "accuracy")
    found = family.corrected()
    return Section(
        key="grid",
        question="What does every strategy reach with how many tokens?",
        finding=_finding(evidence, found, tested, budgets),
        notes=[
            f"Solutions have s = {main.solution} tokens; S1 exact answers greedily with a solution budget of its own. "
            "Strategies that choose their own length (L1, early stopping, no budget) have one point a setting.",
            "L1's prompts say something of models that were trained to keep to the length asked for. These were not, "
            "so that their rows are a control.",
            *(
                f"{kind.label} gave the very answers of {twin.label} here: both rows show one comparison, counted once."
                for kind, twin in twins.items()
            ),
        ],
        plots=[_plot(evidence, answers, kinds)],
        tables=[
            _differences(evidence, found, others, twins, budgets),
            _at_main(evidence, answers, kinds),
            _everything(evidence, answers, kinds),
        ],
    )


def headline(evidence: Evidence) -> str:
    """What every model solves at the main budget."""
    solved = []
    for model in evidence.models:
        means = problem_means(cell(evidence.answers(model, "test"), SEPARATE, evidence.main))
        solved.append(f"{model} solves {means['accuracy'].to_numpy().mean():.0%}")
    return f"Within {evidence.main.think} thinking tokens {listed(solved)}"


def _finding(evidence: Evidence, found: Mapping[Any, Difference], others: Sequence[Kind], budgets: list[Budget]) -> str:
    main = evidence.main
    gains = []
    for model in evidence.trained:
        row = found[model, main]
        said = f"{model} − {evidence.base} {points(row.value.mean)} points"
        gains.append(said if row.holds else f"{said}, which does not hold")
    text = f"Under separate budgets of {main}: {'; '.join(gains)}. " if gains else ""
    rows = [found[model, kind, budget] for model in evidence.models for kind in others for budget in budgets]
    return (
        f"{text}Separate budgets against other strategies at equal budgets, after Holm's correction: {verdicts(rows)}."
    )


def _twins(answers: Mapping[str, pl.DataFrame], kinds: Sequence[Kind], budgets: list[Budget]) -> dict[Kind, Kind]:
    """Strategies whose answers are those of an earlier one, for every model and budget; each with that one."""
    order, compared = ["problem_id", "sample"], ["answer", "verdict", "n_think", "n_solution"]
    first: list[tuple[Kind, list[pl.DataFrame]]] = []
    twins = {}
    for kind in kinds:
        own = [
            kind.at(frame, budget).sort(order).select(*order, *compared)
            for frame in answers.values()
            for budget in budgets
        ]
        twin = next((other for other, theirs in first if all(map(pl.DataFrame.equals, own, theirs))), None)
        if twin:
            twins[kind] = twin
        else:
            first.append((kind, own))
    return twins


def _plot(evidence: Evidence, answers: Mapping[str, pl.DataFrame], kinds: Sequence[Kind]) -> Plot:
    panels = []
    for model, frame in answers.items():
        curves = []
        for kind in kinds:
            cells = [found for _, _, found in kind.cells(frame, evidence.main.solution)]
            used = [found.select(TOKENS.mean()).item() for found in cells]
            reached = [mean(problem_means(found), evidence.params, "accuracy") for found in cells]
            curves.append(series(kind.family, used, reached, style=kind.variant))
        panels.append(Panel(title=model, series=curves))
    return Plot(
        name="grid",
        title="Accuracy against tokens used.",
        caption=f"A point a thinking budget or setting at s = {evidence.main.solution}, with intervals over problems; "
        "left and up is better.",
        x_label=USED,
        y_label="accuracy",
        x_scale="log",
        panels=panels,
    )


def _differences(
    evidence: Evidence,
    found: Mapping[Any, Difference],
    others: Sequence[Kind],
    twins: Mapping[Kind, Kind],
    budgets: list[Budget],
) -> Table:
    rows: list[list[Entry]] = [
        [model, kind.label, *(found[model, twins.get(kind, kind), budget].entry for budget in budgets)]
        for model in evidence.models
        for kind in others
    ]
    return Table(
        title="Separate budgeting minus another strategy at the same thinking budget",
        detail=f"points of accuracy, {next(iter(found.values())).n_problems} problems, s = {evidence.main.solution}",
        columns=[
            Column(name="model", unit="label"),
            Column(name="minus", unit="text"),
            *(Column(name=f"t = {budget.think}", unit="points") for budget in budgets),
        ],
        rows=rows,
    )


def _at_main(evidence: Evidence, answers: Mapping[str, pl.DataFrame], kinds: Sequence[Kind]) -> Table:
    rows: list[list[Entry]] = []
    for model, frame in answers.items():
        for kind in kinds:
            for name, budget, found in kind.cells(frame, evidence.main.solution):
                if budget is None or budget.think == evidence.main.think:
                    where = f"{model}, {kind.label}, {name}"
                    rows.append([model, kind.label, name, *accuracy(found, where, evidence.params)])
    return Table(
        title=f"Strategies at t = {evidence.main.think}, and those that choose their length",
        columns=[
            Column(name="model", unit="label"),
            Column(name="strategy", unit="text"),
            Column(name="setting", unit="text"),
            *ACCURACY,
        ],
        rows=rows,
    )


def _everything(evidence: Evidence, answers: Mapping[str, pl.DataFrame], kinds: Sequence[Kind]) -> Table:
    rows: list[list[Entry]] = []
    for model, frame in answers.items():
        for kind in kinds:
            own = frame.filter((pl.col("run") == kind.run) & (pl.col("method") == kind.method))
            for budget in grid_of(own, kind.method) if kind.budgeted else []:
                found = cell(own, kind.method, budget)
                where = f"{model}, {kind.label}, {budget}"
                rows.append([model, kind.label, str(budget), *accuracy(found, where, evidence.params)])
    return Table(
        title="Every budget of every strategy",
        detail=f"models {listed(evidence.models)}",
        columns=[
            Column(name="model", unit="label"),
            Column(name="strategy", unit="text"),
            Column(name="budget", unit="text"),
            *ACCURACY,
        ],
        rows=rows,
        folded=True,
    )
