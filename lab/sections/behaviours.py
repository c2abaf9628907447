"""Reasoning behaviours by keyword, before and after training (ALP, arXiv 2506.05256)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.contracts.behaviours import BEHAVIOURS, KeywordSet, read_behaviours
from elastic.metrics.behaviours import behaviour_rates, behaviours_by_problem
from elastic.reporting.words import signed
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence
from lab.paired import Difference, Family
from lab.tables import entry, listed


def section(evidence: Evidence) -> Section:
    """The section."""
    params = evidence.params
    keywords = read_behaviours(params.keywords, evidence.pipeline / BEHAVIOURS)
    answers = {model: evidence.traces(model, "test", method="unconstrained") for model in evidence.models}
    rates = {model: behaviour_rates(frame, keywords, **params.sampling) for model, frame in answers.items()}
    means = {model: _means(frame, keywords) for model, frame in answers.items()}
    family = Family("behaviours", params)
    for model in evidence.trained:
        for name in keywords.families:
            family.add((model, name), means[model], means[evidence.base], name, bounds=None)
    found = family.corrected()
    rows: list[list[Entry]] = []
    for model in evidence.models:
        for row in rates[model]:
            change = found.get((model, row.family))
            figures = [entry(row.per_response), change.entry if change else None, entry(row.per_1000_tokens)]
            rows.append([model, row.family, *figures, row.n_problems, row.n_responses])
    return Section(
        key="behaviours",
        question="What do models do less of after training?",
        finding=_finding(evidence, found, keywords),
        notes=[
            f"Occurrences of the keywords of the set {params.keywords} (data/behaviours.yaml) in thinking and "
            f"solution, without a budget: {keywords.about}. A shorter response has fewer of everything; counts per "
            "1,000 tokens say whether the mix changed.",
            "Published (ALP, a response before and after): repetition 269 and 126, verification 7.1 and 2.4, "
            "backtracking 35 and 13. Its keywords were not published and its texts are English, so counts do not "
            "compare.",
        ],
        tables=[
            Table(
                title="Behaviours",
                columns=[
                    Column(name="model", unit="label"),
                    Column(name="behaviour", unit="text"),
                    Column(name="a response", unit="number"),
                    Column(name=f"− {evidence.base}", unit="change"),
                    Column(name="1,000 tokens", unit="number"),
                    Column(name="problems", unit="count"),
                    Column(name="responses", unit="count"),
                ],
                rows=rows,
            )
        ],
    )


def _means(answers: pl.DataFrame, keywords: KeywordSet) -> pl.DataFrame:
    """Mean occurrences in a response of every problem, a column a family."""
    sums = behaviours_by_problem(answers, keywords)
    return sums.select("problem_id", pl.col(*keywords.families) / pl.col("responses"))


def _finding(evidence: Evidence, found: Mapping[object, Difference], keywords: KeywordSet) -> str:
    parts = []
    for model in evidence.trained:
        changed = [
            f"{name} {signed(found[model, name].value.mean, 2)} a response"
            for name in keywords.families
            if found[model, name].holds
        ]
        parts.append(f"{model}, {listed(changed) if changed else 'no change that holds'}")
    if not parts:
        return "One model was measured, so that no behaviours are compared."
    return f"Against {evidence.base}, after Holm's correction: {'; '.join(parts)}."
