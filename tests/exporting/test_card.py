"""The model card says what a user must know."""

from __future__ import annotations

from dataclasses import replace

import yaml

from elastic.contracts.records import Decision, GridRow, Record
from elastic.contracts.sources import Forbidden, SourceFacts
from elastic.exporting.card import CardFacts, render_card


def row(method: str, think: int | None, solution: int | None, limit: int | None, accuracy: float) -> GridRow:
    shares = {name: 0.0 for name in GridRow.model_fields if name.endswith("_share")}
    return GridRow(
        model="r2",
        split="test",
        method=method,
        think=think,
        solution=solution,
        limit=limit,
        accuracy=accuracy,
        ci_low=accuracy - 0.125,
        ci_high=accuracy + 0.0625,
        mean_think_tokens=23.25,
        mean_solution_tokens=7.5,
        p50_tokens=30,
        p95_tokens=40,
        p95_think_tokens=24,
        p95_solution_tokens=16,
        n_problems=256,
        n_samples=4,
        **shares,
    )


def source(name: str, licence: str, notes: str = "", forbids: tuple[Forbidden, ...] = ()) -> SourceFacts:
    return SourceFacts(
        name=name,
        description="problems",
        origin="a file",
        revision=None,
        role="training",
        licence=licence,
        notes=notes,
        forbids=forbids,
        rows=1,
        near_duplicates=None,
        overlaps=(),
    )


FACTS = CardFacts(
    name="elastic-test",
    licence="Apache-2.0",
    chain=[("r2", "40+20"), ("r1", "24+20"), ("base", None)],
    origin="`org/model` at revision `0123abcd`, licence MIT",
    decision=Decision(
        promoted="r2", rule="the rule in words", solution_budget=16, comparisons=[], next_round_worthwhile=False
    ),
    rows=[row("separate", 24, 16, None, 0.5), row("unconstrained", None, None, 160, 0.75)],
    sources=[
        source("chains", "Apache-2.0"),
        source("minerva", "CC-BY-NC-SA-4.0", "the problems are MIT's", ("commercial use", "redistribution")),
    ],
    overlaps=0,
    template="Solve: {question}",
    records=[
        Record(
            stage="train@r2",
            fingerprint="feedbeef",
            params={},
            inputs={},
            outputs={},
            versions={"torch": "2.13.0", "python": "3.11.7"},
            seconds=1.5,
        )
    ],
)


def test_the_header_is_what_the_hub_reads() -> None:
    _, header, body = render_card(FACTS).split("---\n", 2)
    assert yaml.safe_load(header) == {
        "license": "apache-2.0",
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
    }
    assert body.lstrip().startswith("# elastic-test\n")


def test_it_names_training_budgets_the_rule_and_what_each_budget_buys() -> None:
    card = render_card(FACTS)
    assert "- `r2`: trained under (t*, s*) = 40+20\n- `r1`: trained under (t*, s*) = 24+20\n" in card
    assert "the rule in words" in card
    assert "256 problems, 4 traces a row" in card
    assert "| separate | 24 | 16 | 50.0% | 37.5% to 56.2% | 23.2 | 7.5 |" in card
    assert "| unconstrained | none (limit 160) | none | 75.0% | 62.5% to 81.2% | 23.2 | 7.5 |" in card


def test_it_names_data_licences_and_where_the_model_comes_from() -> None:
    card = render_card(FACTS)
    assert "- `base`: the starting model, `org/model` at revision `0123abcd`, licence MIT\n" in card
    assert "- chains (training): Apache-2.0\n" in card
    forbidden = "forbids commercial use, redistribution; the problems are MIT's"
    assert f"- minerva (training): CC-BY-NC-SA-4.0; {forbidden}\n" in card
    assert "training data: 0\n" in card
    assert "`Solve: {question}`" in card
    assert "- `train@r2`: fingerprint `feedbeef`, python 3.11.7, torch 2.13.0\n" in card
    assert "feedbeef" not in render_card(replace(FACTS, records=[]))
