"""How far a score moves with the problems drawn and with another run of sampling."""

from __future__ import annotations

from elastic.metrics.pass_at_k import mean_at_k
from elastic.metrics.variation import Variation, decompose, interval_over_runs, on_shared_problems
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence, cell
from lab.tables import ENDINGS, endings, entry


def section(evidence: Evidence) -> Section:
    """The section."""
    params, main = evidence.params, evidence.main
    rows: list[list[Entry]] = []
    at_main: dict[str, Variation] = {}
    for model in evidence.models:
        answers = evidence.answers(model, "test")
        for name, frame in ((str(main), cell(answers, "separate", main)), ("none", cell(answers, "unconstrained"))):
            runs = [frame.filter(sample=sample) for sample in sorted(frame["sample"].unique())]
            values = on_shared_problems(runs, mean_at_k)
            found = decompose(values)
            at_main.setdefault(model, found)
            reached = interval_over_runs(values, confidence=params.confidence)
            shares = endings(frame, f"{model}, {name}", params)
            rows.append(
                [model, name, entry(reached), 100 * found.between_sets, 100 * found.between_runs, found.n_runs, *shares]
            )
    return Section(
        key="variation",
        question="How much of a score is luck?",
        finding=_finding(at_main, str(main)),
        notes=[
            "Sample numbers are runs: each has a random stream of its own for every problem. The interval of this "
            "table is for other problems and other runs; training again is in neither, since every round was trained "
            "once.",
        ],
        tables=[
            Table(
                title="Variation of accuracy",
                detail="standard deviations, in points",
                columns=[
                    Column(name="model", unit="label"),
                    Column(name="budget", unit="text"),
                    Column(name="accuracy", unit="share"),
                    Column(name="other problems", unit="number"),
                    Column(name="another run", unit="number"),
                    Column(name="runs", unit="count"),
                    *ENDINGS,
                ],
                rows=rows,
            )
        ],
    )


def _finding(found: dict[str, Variation], budget: str) -> str:
    parts = [
        f"{model} by {100 * row.between_runs:.1f} with another run of sampling and by {100 * row.between_sets:.1f} "
        "with other problems"
        for model, row in found.items()
    ]
    return f"At {budget} the accuracy moves, in points of standard deviation: {'; '.join(parts)}."
