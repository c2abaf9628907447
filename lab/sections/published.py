"""The published tables beside ours: what agrees, and what does not compare and why (data/reference)."""

from __future__ import annotations

from collections.abc import Sequence

from elastic.budget import Budget
from elastic.contracts.evaluation_records import EvaluationRecord, SummaryRow
from elastic.contracts.records import read_json
from elastic.contracts.reference import (
    CONTRADICTIONS,
    REFERENCES,
    Published,
    load_contradictions,
    load_reference,
    published_figures,
)
from elastic.metrics.published import Compared, compare, measured
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence
from lab.tables import entry

PROBLEMS = "chains"
UNITS = {"accuracy": "%", "majority": "%"}


def section(evidence: Evidence) -> Section:
    """The section."""
    folder = evidence.pipeline / REFERENCES
    contradictions = load_contradictions(folder)
    references = [load_reference(path) for path in sorted(folder.glob("*.yaml")) if path.name != CONTRADICTIONS]
    rows: list[list[Entry]] = []
    compared: list[Compared] = []
    for reference in references:
        for figure in published_figures(reference, contradictions):
            found = _beside(evidence, figure)
            if found:
                compared.append(found)
                rows.append(_row(found))
    comparable = [row for row in compared if row.verdict != "not comparable"]
    return Section(
        key="published",
        question="How do these figures stand beside the published ones?",
        finding=(
            f"{len(comparable)} of {len(compared)} published figures can be compared with one measured here: "
            + (
                ", ".join(f"{row.published.model} {row.verdict}" for row in comparable)
                if comparable
                else "models and problems of this laptop world are others, so that only directions compare, as the "
                "sections above say."
            )
        ),
        notes=[
            "Each published accuracy stands beside the nearest of ours in kind: the base beside a base, the last round "
            "beside a trained model, separate budgets beside separate budgets, no budget beside none.",
        ],
        tables=[
            Table(
                title="Published figures beside ours",
                columns=[
                    Column(name="published", unit="text"),
                    Column(name="there", unit="share"),
                    Column(name="ours", unit="text"),
                    Column(name="here", unit="share"),
                    Column(name="verdict", unit="text"),
                    Column(name="why", unit="text"),
                ],
                rows=rows,
                folded=True,
            )
        ],
    )


def _beside(evidence: Evidence, figure: Published) -> Compared | None:
    """The published figure and ours; None where nothing of ours is of its kind."""
    if figure.measure not in ("accuracy", "majority"):
        return None
    model = evidence.base if _is_base(figure) else evidence.models[-1]
    place = evidence.folder / model / "test"
    rows = [SummaryRow.model_validate(row) for row in read_json(place / "summary.json")]
    record = EvaluationRecord.model_validate(read_json(place / "evaluation.json"))
    row = _nearest(rows, figure.budget is not None, evidence.main)
    ours = measured(row, record, model=model, problems=PROBLEMS)
    [mine] = [one for one in ours if one.measure == figure.measure]
    return compare(mine, figure, confidence=evidence.params.confidence)


def _is_base(figure: Published) -> bool:
    """Whether a published figure is of a model that others were trained from, before they were."""
    before = figure.model.startswith(("DeepScaleR", "R1-Distill", "DeepCoder", "Skywork", "Qwen3"))
    return before and " + " not in figure.model and not figure.setting.startswith("after")


def _nearest(rows: Sequence[SummaryRow], budgeted: bool, main: Budget) -> SummaryRow:
    if budgeted:
        return next(
            row for row in rows if (row.method, row.think, row.solution) == ("separate", main.think, main.solution)
        )
    return next(row for row in rows if row.method == "unconstrained")


def _row(found: Compared) -> list[Entry]:
    there, here = found.published, found.ours
    limits = f" at {there.budget}" if there.budget else f" up to {there.limit}" if there.limit else ""
    name = f"{there.model}, {there.problems or 'several sets'}{limits}{f', {there.setting}' if there.setting else ''}"
    ours = f"{here.model}, {here.problems}{f' at {here.budget}' if here.budget else f' up to {here.limit}'}"
    why = "; ".join(found.reasons or found.notes)
    return [f"{name} ({there.measure})", there.value, ours, entry(here.interval), found.verdict, why]
