"""What goes wrong in an answer, where its steps can be checked (elastic/metrics/mistakes.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from elastic.metrics.chain_steps import check_chain
from elastic.metrics.mistakes import MISTAKES, classify, mistake_shares
from elastic.metrics.problems import graded
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Measured, Section, Table
from lab.evidence import Evidence
from lab.paired import Difference, Family
from lab.tables import ENDINGS, endings, listed


def section(evidence: Evidence) -> Section:
    """The section."""
    main, params = evidence.main, evidence.params
    cells = {
        (model, where): evidence.traces(model, "test", method=method, budget=budget)
        for model in evidence.models
        for where, method, budget in ((str(main), "separate", main), ("none", "unconstrained", None))
    }
    wrong = [name for name in MISTAKES if name != "correct"]
    means = {key: _by_problem(frame) for key, frame in cells.items()}
    family = Family("mistakes", params)
    for model, where in cells:
        if model != evidence.base:
            for name in wrong:
                family.add((model, where, name), means[model, where], means[evidence.base, where], name)
    found = family.corrected()
    rows: list[list[Entry]] = []
    for (model, where), frame in cells.items():
        shares = mistake_shares(frame, check_chain, **params.sampling)
        by_name = {row["mistake"]: row for row in shares.iter_rows(named=True)}
        entries = [
            Measured(value=by_name[n]["share"], low=by_name[n]["low"], high=by_name[n]["high"]) for n in MISTAKES
        ]
        rows.append([model, where, *entries, *endings(frame, f"{model}, {where}", params)])
    return Section(
        key="mistakes",
        question="What goes wrong, and what does training mend?",
        finding=_finding(evidence, found, str(main)),
        notes=[
            "Every answer is in one class, the first that holds from left to right. A slip has the right inputs and "
            "the wrong result, a wrong copy has inputs that are not there; what follows from a faulty step is not held "
            "against it.",
        ],
        tables=[
            Table(
                title="Shares of answers by what went wrong",
                columns=[
                    Column(name="model", unit="label"),
                    Column(name="budget", unit="text"),
                    *(Column(name=name, unit="share") for name in MISTAKES),
                    *ENDINGS,
                ],
                rows=rows,
            ),
            _changes(evidence, found, str(main), wrong),
        ],
    )


def _by_problem(answers: pl.DataFrame) -> pl.DataFrame:
    """Share of every class in the answers of each problem, a column a class."""
    frame = graded(answers)
    classes = pl.Series([classify(row, check_chain) for row in frame.iter_rows(named=True)], dtype=pl.String)
    named = frame.select("problem_id", mistake=classes)
    return named.group_by("problem_id").agg((pl.col("mistake") == name).mean().alias(name) for name in MISTAKES)


def _finding(evidence: Evidence, found: Mapping[object, Difference], where: str) -> str:
    parts = []
    for model in evidence.trained:
        rows = {name: found[model, where, name] for name in MISTAKES if name != "correct"}
        changed = [f"{name} {points(row.value.mean)} points" for name, row in rows.items() if row.holds]
        parts.append(f"{model}, {listed(changed) if changed else 'no class changes'}")
    if not parts:
        return "One model was measured, so that no mistakes are compared."
    return f"Against {evidence.base} at {where}, after Holm's correction: {'; '.join(parts)}."


def _changes(evidence: Evidence, found: Mapping[object, Difference], main: str, wrong: Sequence[str]) -> Table:
    rows: list[list[Entry]] = [
        [model, where, *(found[model, where, name].entry for name in wrong), found[model, where, wrong[0]].n_problems]
        for model in evidence.trained
        for where in (main, "none")
    ]
    return Table(
        title=f"Change against {evidence.base}",
        detail="points of all answers",
        columns=[
            Column(name="model", unit="label"),
            Column(name="budget", unit="text"),
            *(Column(name=name, unit="points") for name in wrong),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )
