"""Many answers, one to give: the most frequent or the best scored one, from which depths (arXiv 2505.12992)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from elastic.contracts.reference import Reference, load_reference
from elastic.metrics.best_of import best_of
from elastic.metrics.depths import at_depths, depth_count, last_depths
from elastic.metrics.lattice import lattice_of
from elastic.metrics.voting import majority
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence
from lab.paired import Difference, Family
from lab.sections.fractured import FRACTURED
from lab.tables import ENDINGS, endings, mean, verdicts

MEASURES = {"majority": majority, "best of N": best_of}
PLAIN = "last depth, m = 1"


def section(evidence: Evidence) -> Section:
    """The section."""
    frames = {model: evidence.answers(model, "few", strategy=FRACTURED) for model in evidence.models}
    parts = {model: _parts(frame, evidence.params.last) for model, frame in frames.items()}
    values = {
        (model, measure, part): choose(answers, weighted_by_depth=weighted)
        for model, chosen in parts.items()
        for part, (answers, weighted) in chosen.items()
        for measure, choose in MEASURES.items()
    }
    family = Family("voting", evidence.params)
    for model, measure, part in values:
        if part != PLAIN:
            family.add((model, measure, part), values[model, measure, part], values[model, measure, PLAIN])
    found = family.corrected()
    _, n, depths, _ = lattice_of(frames[evidence.base]).shape
    return Section(
        key="voting",
        question="Which answer to give, of many?",
        finding=_finding(evidence, found),
        notes=[
            f"Majority vote and best of N over n = {n} paths. The score is the mean log-probability of the solution's "
            "own tokens; the published one is a process reward model, so that best of N is another measure there.",
            f"All depths are the {depths} of the run, the last ones its {evidence.params.last} deepest; weights are "
            "linear in the depth. B is what all answers cost, tokens a problem.",
        ],
        tables=[_table(evidence, parts, values, found, n), _published(evidence)],
    )


def _parts(frame: pl.DataFrame, last: int) -> dict[str, tuple[pl.DataFrame, bool]]:
    """Answers of every part, and whether they are weighted by depth; the plain part first."""
    depths = depth_count(frame)
    found: dict[str, tuple[pl.DataFrame, bool]] = {}
    for draws in sorted({1, int(frame["draw"].max()) + 1}):  # type: ignore[arg-type]
        drawn = frame.filter(pl.col("draw") < draws)
        found[f"last depth, m = {draws}"] = at_depths(drawn, [depths]), False
        found[f"last {last} depths, m = {draws}"] = at_depths(drawn, last_depths(depths, min(last, depths))), False
        found[f"all {depths} depths, m = {draws}"] = drawn, False
        found[f"all {depths} depths weighted, m = {draws}"] = drawn, True
    return found


def _finding(evidence: Evidence, found: Mapping[Any, Difference]) -> str:
    said = []
    for measure in MEASURES:
        for model in evidence.models:
            rows = {key[2]: row for key, row in found.items() if key[:2] == (model, measure)}
            best = max(rows, key=lambda part: rows[part].value.mean)
            gain = f" (best {points(rows[best].value.mean)} points from {best})" if rows[best].better else ""
            said.append(f"{measure} of {model}, {verdicts(list(rows.values()))}{gain}")
    return (
        f"Answers from more depths or draws against the last depth alone, after Holm's correction: {'; '.join(said)}."
    )


def _table(
    evidence: Evidence,
    parts: Mapping[str, Mapping[str, tuple[pl.DataFrame, bool]]],
    values: Mapping[tuple[str, str, str], pl.DataFrame],
    found: Mapping[Any, Difference],
    n: int,
) -> Table:
    rows: list[list[Entry]] = []
    for model, chosen in parts.items():
        for part, (answers, _) in chosen.items():
            lattice = lattice_of(answers)
            depths = tuple(sorted(answers["depth"].unique()))
            cost = lattice.cost(n, depths, int(answers["draw"].n_unique()))
            row: list[Entry] = [model, part, cost]
            for measure in MEASURES:
                difference = found.get((model, measure, part))
                row += [mean(values[model, measure, part], evidence.params), difference.entry if difference else None]
            rows.append([*row, *endings(answers, f"{model}, {part}", evidence.params)])
    return Table(
        title="Majority vote and best of N",
        detail="accuracy, and points over the last depth with one answer",
        columns=[
            Column(name="model", unit="label"),
            Column(name="answers", unit="text"),
            Column(name="B", unit="tokens"),
            Column(name="majority", unit="share"),
            Column(name="− plain", unit="points"),
            Column(name="best of N", unit="share"),
            Column(name="− plain", unit="points"),
            *ENDINGS,
        ],
        rows=rows,
    )


def _published(evidence: Evidence) -> Table:
    reference: Reference = load_reference(evidence.pipeline / "data/reference/fractured.yaml")
    rows: list[list[Entry]] = [
        [row.model, table.title, row.setting, row.values.get("majority"), row.values.get("best_of_n")]
        for table in reference.tables
        for row in table.rows
        if row.problems is None and row.values.keys() & {"majority", "best_of_n"}
    ]
    return Table(
        title="Published, mean of five sets",
        detail=reference.paper,
        columns=[
            Column(name="model", unit="label"),
            Column(name="table", unit="text"),
            Column(name="answers", unit="text"),
            Column(name="majority", unit="share"),
            Column(name="best of N", unit="share"),
        ],
        rows=rows,
        folded=True,
    )
