"""How long answers are, given correct and given wrong, and what k samples buy at every budget (arXiv 2602.20945)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.contracts.reference import load_reference
from elastic.metrics.lengths import length_histogram, length_quantiles, log_edges, samples_at_budgets
from elastic.metrics.problems import TOKENS, problem_means
from elastic.reporting.words import signed
from lab.analysis import Column, Entry, Measured, Panel, Plot, Section, Series, Table
from lab.evidence import Evidence, cell
from lab.paired import Difference, Family
from lab.tables import ENDINGS, endings, listed

QUANTILES = (0.5, 0.9)
JUDGED = ("correct", "wrong")
PER_DOUBLING = 4


def section(evidence: Evidence) -> Section:
    """The section."""
    answers = {model: evidence.answers(model, "test") for model in evidence.models}
    free = {model: cell(frame, "unconstrained") for model, frame in answers.items()}
    main = {model: cell(frame, "separate", evidence.main) for model, frame in answers.items()}
    family = Family("lengths", evidence.params)
    for model in evidence.trained:
        before, after = (
            problem_means(found.filter(pl.col("verdict") == "correct")) for found in (free[evidence.base], free[model])
        )
        if not before.join(after, on="problem_id", how="semi").is_empty():
            family.add(model, after, before, "tokens", bounds=None)
    return Section(
        key="lengths",
        question="How long are answers, right and wrong?",
        finding=_finding(evidence, family.corrected()),
        notes=[
            "A model can become short by being wrong, so lengths are apart by verdict. Answers without a box are "
            "neither; they stand in the table. Lengths are thinking and solution tokens used.",
        ],
        plots=[_histogram(free)],
        tables=[
            _quantiles(evidence, {"no budget": free, str(evidence.main): main}),
            _samples(evidence, answers),
            _published(evidence),
        ],
    )


def _finding(evidence: Evidence, found: Mapping[object, Difference]) -> str:
    parts = []
    for model in evidence.trained:
        if model not in found:
            parts.append(f"{model} has none")
            continue
        row = found[model]
        said = f"{signed(row.value.mean)} tokens" if row.holds else "no change that holds"
        parts.append(f"{model} {said} ({row.n_problems} problem{'s' if row.n_problems > 1 else ''})")
    if not parts:
        return "One model was measured, so that no lengths are compared."
    return (
        f"Right answers without a budget, against {evidence.base}'s right answers to the same problems, after Holm's "
        f"correction: {listed(parts)}."
    )


def _histogram(free: Mapping[str, pl.DataFrame]) -> Plot:
    longest = max(int(frame.select(TOKENS.max()).item()) for frame in free.values())
    edges = log_edges(longest, PER_DOUBLING)
    panels = []
    for model, frame in free.items():
        counted = length_histogram(frame, edges)
        curves = []
        for verdict in JUDGED:
            rows = counted.filter(pl.col("verdict").cast(pl.String) == verdict)
            if len(rows):
                total = len(frame)
                curves.append(
                    Series(
                        colour=verdict, line="steps", x=rows["low"].to_list(), y=(rows["n_answers"] / total).to_list()
                    )
                )
        panels.append(Panel(title=model, series=curves))
    return Plot(
        name="lengths",
        title="Lengths without a budget.",
        caption="Shares of all answers of the model, in bins of equal width on the log scale.",
        x_label="tokens used by an answer (thinking + solution)",
        y_label="share of answers",
        x_scale="log",
        y_unit="percent",
        panels=panels,
    )


def _quantiles(evidence: Evidence, cells: Mapping[str, Mapping[str, pl.DataFrame]]) -> Table:
    params = evidence.params
    rows: list[list[Entry]] = []
    for where, by_model in cells.items():
        for model, frame in by_model.items():
            found = length_quantiles(frame, QUANTILES, **params.sampling)
            for (verdict,), group in found.group_by("verdict", maintain_order=True):
                figures = [
                    Measured(value=row["tokens"], low=row["low"], high=row["high"])
                    for row in group.iter_rows(named=True)
                ]
                n = group.row(0, named=True)
                rows.append([model, where, str(verdict).replace("_", " "), *figures, n["n_answers"], n["n_problems"]])
    return Table(
        title="Tokens of an answer by verdict",
        columns=[
            Column(name="model", unit="label"),
            Column(name="budget", unit="text"),
            Column(name="verdict", unit="text"),
            Column(name="mean", unit="tokens"),
            *(Column(name=f"{share:.0%}", unit="tokens") for share in QUANTILES),
            Column(name="answers", unit="count"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _samples(evidence: Evidence, answers: Mapping[str, pl.DataFrame]) -> Table:
    params = evidence.params
    rows: list[list[Entry]] = []
    k = int(answers[evidence.base]["sample"].max()) + 1  # type: ignore[arg-type]
    for model, frame in answers.items():
        plain = frame.filter(
            (pl.col("method") == "unconstrained")
            | ((pl.col("method") == "separate") & (pl.col("solution_budget") == evidence.main.solution))
        )
        found = samples_at_budgets(plain, k, **params.sampling)
        for (think,), group in found.group_by("think_budget", maintain_order=True):
            by_figure = {row["figure"]: row for row in group.iter_rows(named=True)}
            figures = [
                Measured(value=by_figure[name]["value"], low=by_figure[name]["low"], high=by_figure[name]["high"])
                for name in ("mean", "pass", "tokens")
            ]
            own = plain.filter(pl.col("think_budget").eq_missing(think))
            name = "none" if think is None else str(think)
            rows.append([model, name, *figures, *endings(own, f"{model}, t = {name}", params)])
    return Table(
        title=f"Mean@{k} and Pass@{k} at every budget",
        detail=f"s = {evidence.main.solution}",
        columns=[
            Column(name="model", unit="label"),
            Column(name="t", unit="text"),
            Column(name=f"Mean@{k}", unit="share"),
            Column(name=f"Pass@{k}", unit="share"),
            Column(name="tokens", unit="tokens"),
            *ENDINGS,
        ],
        rows=rows,
        folded=True,
    )


def _published(evidence: Evidence) -> Table:
    reference = load_reference(evidence.pipeline / "data/reference/art.yaml")
    rows: list[list[Entry]] = [
        [row.model, row.setting, *(row.values.get(name) for name in ("accuracy", "pass_at_k", "tokens"))]
        for row in reference.tables[0].rows
    ]
    return Table(
        title=f"Published: {reference.tables[0].title}",
        detail=reference.paper,
        columns=[
            Column(name="model", unit="label"),
            Column(name="setting", unit="text"),
            Column(name="Mean@8", unit="share"),
            Column(name="Pass@8", unit="share"),
            Column(name="tokens", unit="tokens"),
        ],
        rows=rows,
        folded=True,
    )
