"""A second family of problems, which the base was taught and no round trained on."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.metrics.problems import problem_means
from elastic.metrics.transfer import Change, changes
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Panel, Plot, Section, Table
from lab.evidence import Evidence, cell
from lab.paired import Difference, Family
from lab.tables import ACCURACY, accuracy, entry, mean, series

TRAINED, OTHER = "trained family", "second family"
SETS = {TRAINED: "test", OTHER: "transfer"}


def section(evidence: Evidence) -> Section:
    """The section."""
    params, main = evidence.params, evidence.main
    answers = {domain: {m: evidence.answers(m, where) for m in evidence.models} for domain, where in SETS.items()}
    at_main = {domain: {m: cell(f, "separate", main) for m, f in found.items()} for domain, found in answers.items()}
    free = {domain: {m: cell(f, "unconstrained") for m, f in found.items()} for domain, found in answers.items()}
    cells = {f"at {main}": at_main, "no budget": free}
    family = Family("transfer", params)
    rows: dict[str, list[Change]] = {}
    for name, by_domain in cells.items():
        rows[name] = changes(
            by_domain,
            base=evidence.base,
            trained=TRAINED,
            **params.sampling,
        )
        for domain, frames in by_domain.items():
            means = {model: problem_means(frame) for model, frame in frames.items()}
            for model in evidence.trained:
                key = name, domain, model
                family.add((*key, "accuracy"), means[model], means[evidence.base], "accuracy")
                family.add((*key, "tokens"), means[model], means[evidence.base], "tokens", bounds=None)
    found = family.corrected()
    return Section(
        key="transfer",
        question="Does what was trained carry over to problems it was not trained on?",
        finding=_finding(evidence, found, f"at {main}"),
        notes=[
            "The second family asks for the largest or smallest total on the way. It was taught to the base beside the "
            "first and is in no round's training problems.",
        ],
        plots=[_plot(evidence, answers)],
        tables=[_changes(evidence, rows, found), _accuracies(evidence, cells)],
    )


def _finding(evidence: Evidence, found: Mapping[object, Difference], where: str) -> str:
    parts = []
    for model in evidence.trained:
        said = []
        for domain in SETS:
            row = found[where, domain, model, "accuracy"]
            gain = f"{points(row.value.mean)} points on the {domain}"
            said.append(gain if row.holds else f"{gain} (which does not hold)")
        parts.append(f"{model} {' and '.join(said)}")
    if not parts:
        return "One model was measured, so that nothing is said of training."
    return f"Against {evidence.base} {where}, after Holm's correction: {'; '.join(parts)}."


def _plot(evidence: Evidence, answers: Mapping[str, Mapping[str, pl.DataFrame]]) -> Plot:
    panels = []
    for domain, frames in answers.items():
        curves = []
        for model, frame in frames.items():
            own = frame.filter((pl.col("method") == "separate") & (pl.col("solution_budget") == evidence.main.solution))
            thinks = sorted(own["think_budget"].unique())
            points = [mean(problem_means(own.filter(think_budget=t)), evidence.params, "accuracy") for t in thinks]
            curves.append(series(model, thinks, points))
        panels.append(Panel(title=domain, series=curves))
    return Plot(
        name="transfer",
        title="Accuracy under separate budgets, on both families.",
        caption=f"At s = {evidence.main.solution}, with intervals over problems.",
        x_label="thinking budget t (a limit, not tokens used)",
        y_label="accuracy",
        panels=panels,
    )


def _changes(evidence: Evidence, rows: Mapping[str, list[Change]], found: Mapping[object, Difference]) -> Table:
    table: list[list[Entry]] = []
    for where, changed in rows.items():
        for row in changed:
            gain, tokens = (found[where, row.domain, row.model, measure] for measure in ("accuracy", "tokens"))
            table.append(
                [row.model, row.domain, where, gain.entry, tokens.entry, entry(row.tokens_ratio), row.n_problems]
            )
    return Table(
        title=f"Change against {evidence.base}",
        columns=[
            Column(name="model", unit="label"),
            Column(name="problems of the", unit="text"),
            Column(name="budget", unit="text"),
            Column(name="accuracy", unit="points"),
            Column(name="tokens", unit="tokens change"),
            Column(name="times the tokens", unit="number"),
            Column(name="problems", unit="count"),
        ],
        rows=table,
    )


def _accuracies(evidence: Evidence, cells: Mapping[str, Mapping[str, Mapping[str, pl.DataFrame]]]) -> Table:
    rows: list[list[Entry]] = [
        [model, domain, where, *accuracy(frame, f"{model}, {domain}, {where}", evidence.params)]
        for where, by_domain in cells.items()
        for domain, frames in by_domain.items()
        for model, frame in frames.items()
    ]
    return Table(
        title="Accuracy on both families",
        columns=[
            Column(name="model", unit="label"),
            Column(name="problems of the", unit="text"),
            Column(name="budget", unit="text"),
            *ACCURACY,
        ],
        rows=rows,
        folded=True,
    )
