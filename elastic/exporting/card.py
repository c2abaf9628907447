"""The model card: training budgets, the budget table with intervals, data and licence, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from elastic.contracts.records import Decision, GridRow, Record
from elastic.contracts.sources import SourceFacts


@dataclass(frozen=True)
class CardFacts:
    """What a card states.

    Attributes:
        name: of the exported model.
        licence: of its weights.
        chain: the promoted model and what it was trained from, newest first, each with its budget or None.
        origin: of the base, in words.
        decision: how it was promoted.
        rows: its rows of the budget table on the test split.
        sources: what is known of every data source.
        overlaps: problems of the evaluation splits found in training data (must be none).
        template: the user turn.
        records: records of the stages that made it.
    """

    name: str
    licence: str
    chain: Sequence[tuple[str, str | None]]
    origin: str
    decision: Decision
    rows: Sequence[GridRow]
    sources: Sequence[SourceFacts]
    overlaps: int
    template: str
    records: Sequence[Record]


def _table(rows: Sequence[GridRow]) -> list[str]:
    lines = [
        "| method | thinking budget | solution budget | accuracy | interval | thinking tokens | solution tokens |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        budget = f"| {row.think} | {row.solution} |" if row.limit is None else f"| none (limit {row.limit}) | none |"
        lines.append(
            f"| {row.method} {budget} {row.accuracy:.1%} | {row.ci_low:.1%} to {row.ci_high:.1%} "
            f"| {row.mean_think_tokens:.1f} | {row.mean_solution_tokens:.1f} |"
        )
    return lines


def _source(source: SourceFacts) -> str:
    """A data source with its licence, what that forbids, and whose the problems are."""
    parts = [source.licence]
    if source.forbids:
        parts.append(f"forbids {', '.join(source.forbids)}")
    if source.notes:
        parts.append(source.notes)
    return f"- {source.name} ({source.role}): {'; '.join(parts)}"


def render_card(facts: CardFacts) -> str:
    """The card as Markdown with a YAML header, as the Hugging Face hub reads it."""
    header = yaml.safe_dump(
        {"license": facts.licence.lower(), "library_name": "transformers", "pipeline_tag": "text-generation"},
        sort_keys=True,
    )
    promoted = facts.chain[0][0]
    budgets = [
        f"- `{name}`: {f'trained under (t*, s*) = {b}' if b else f'the starting model, {facts.origin}'}"
        for name, b in facts.chain
    ]
    provenance = [
        f"- `{record.stage}`: fingerprint `{record.fingerprint}`, "
        + ", ".join(f"{name} {value}" for name, value in sorted(record.versions.items()))
        for record in facts.records
    ]
    problems, samples = (facts.rows[0].n_problems, facts.rows[0].n_samples) if facts.rows else (0, 0)
    parts = [
        f"---\n{header}---\n",
        f"# {facts.name}\n",
        f"The checkpoint `{promoted}`. It answers inside separate token budgets: up to t tokens of thinking, then the "
        "closing delimiter is forced, then up to s tokens of solution (Elastic Reasoning).\n",
        "## Training budgets\n",
        *budgets,
        f"\nPromoted on validation traces by this rule: {facts.decision.rule}\n",
        "## What each budget buys\n",
        f"Test split, {problems} problems, {samples} traces a row, intervals over problems.\n",
        *_table(facts.rows),
        "\n## How to prompt it\n",
        f"The chat template of its tokenizer, with the user turn `{facts.template}`.\n",
        "## Data\n",
        *[_source(source) for source in facts.sources],
        f"- problems of the validation and test splits found in teaching or training data: {facts.overlaps}\n",
        "## Provenance\n",
        *provenance,
    ]
    return "\n".join(parts) + "\n"
