"""Early stopping by agreement against decoding that goes on to its end (arXiv 2505.12992, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from elastic.contracts.params.strategies import EarlyStop, parse_strategy
from elastic.contracts.reference import Measure, load_reference
from elastic.metrics.problems import problem_means
from elastic.reporting.words import points, signed
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence
from lab.kinds import Kind, kinds_of
from lab.paired import Difference, Family
from lab.tables import ACCURACY, accuracy

METHODS = ("early_stop", "unconstrained")


def section(evidence: Evidence) -> Section:
    """The section."""
    cells: dict[tuple[str, str], pl.DataFrame] = {}
    family = Family("early stopping", evidence.params)
    kinds = {kind.method: kind for kind in kinds_of(evidence.answers(evidence.base, "test")) if kind.method in METHODS}
    for model in evidence.models:
        answers = evidence.answers(model, "test")
        for method in METHODS:
            [(_, _, cells[model, method])] = kinds[method].cells(answers, evidence.main.solution)
        stopped, plain = (problem_means(cells[model, method]) for method in METHODS)
        family.add((model, "accuracy"), stopped, plain, "accuracy")
        family.add((model, "tokens"), stopped, plain, "tokens", bounds=None)
    found = family.corrected()
    return Section(
        key="early-stopping",
        question="Can thinking stop once its probes agree?",
        finding=_finding(evidence, found),
        notes=[_rule(kinds["early_stop"]), "Tokens count the solutions of the probes that were not the answer."],
        tables=[_changes(evidence, found), _accuracies(evidence, cells, kinds), _published(evidence)],
    )


def _rule(kind: Kind) -> str:
    strategy = parse_strategy(kind.run)
    if not isinstance(strategy, EarlyStop):
        raise TypeError(f"{kind.run} is no early stopping")
    return (
        f"A first probe after {strategy.first} thinking tokens, then one every {strategy.every}; thinking stops when a "
        f"prediction has been seen {strategy.repeats} times. The control decodes the same samples to their end."
    )


def _finding(evidence: Evidence, found: Mapping[Any, Difference]) -> str:
    said = "; ".join(_said(found, model) for model in evidence.models)
    return f"Early stopping against plain decoding, after Holm's correction: {said}."


def _said(found: Mapping[Any, Difference], model: str) -> str:
    change, saved = found[model, "accuracy"], found[model, "tokens"]
    tokens = f"{signed(saved.value.mean)} tokens" if saved.holds else "no change of tokens that holds"
    gain = f"{points(change.value.mean)} points" if change.holds else "no change of accuracy that holds"
    return f"{model}, {tokens} and {gain}"


def _changes(evidence: Evidence, found: Mapping[Any, Difference]) -> Table:
    rows: list[list[Entry]] = []
    for model in evidence.models:
        gain, tokens = found[model, "accuracy"], found[model, "tokens"]
        rows.append([model, gain.entry, tokens.entry, gain.n_problems])
    return Table(
        title="Early stopping minus plain decoding",
        columns=[
            Column(name="model", unit="label"),
            Column(name="accuracy", unit="points"),
            Column(name="tokens", unit="tokens change"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _accuracies(evidence: Evidence, cells: Mapping[tuple[str, str], pl.DataFrame], kinds: Mapping[str, Kind]) -> Table:
    rows: list[list[Entry]] = []
    for (model, method), answers in cells.items():
        probes = int(answers["n_probe"].sum()) / len(answers)
        rows.append([model, kinds[method].label, *accuracy(answers, f"{model}, {method}", evidence.params), probes])
    return Table(
        title="Both modes",
        columns=[
            Column(name="model", unit="label"),
            Column(name="mode", unit="text"),
            *ACCURACY,
            Column(name="of tokens, probes", unit="tokens"),
        ],
        rows=rows,
    )


def _published(evidence: Evidence) -> Table:
    reference = load_reference(evidence.pipeline / "data/reference/fractured.yaml")
    measures: tuple[Measure, Measure] = ("early_stop_change", "early_stop_tokens_change")
    rows: list[list[Entry]] = [
        [row.model, row.problems or "mean", *(row.values.get(name) for name in measures)]
        for table in reference.tables
        for row in table.rows
        if row.values.keys() & set(measures)
    ]
    return Table(
        title="Published",
        detail=f"{reference.paper}; a first probe after 6,144 tokens, then every 2,048",
        columns=[
            Column(name="model", unit="label"),
            Column(name="problems", unit="text"),
            Column(name="accuracy", unit="points"),
            Column(name="tokens", unit="tokens change"),
        ],
        rows=rows,
        folded=True,
    )
