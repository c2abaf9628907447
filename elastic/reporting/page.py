"""The report as one self-contained HTML page: no script, no external resource, light and dark, any width, print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from elastic.contracts.frames import METHODS, SPLITS
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.reference import Reference
from elastic.reporting.comparisons import UNFINISHED, Paired
from elastic.reporting.evidence import BASE, Evidence
from elastic.reporting.examples import example_traces
from elastic.reporting.figures import accuracy, difficulty, phases, training
from elastic.reporting.figures.style import OKABE_ITO, Drawing, css_name, palette
from elastic.reporting.findings import Findings
from elastic.reporting.summary import probing, seconds_per_problem, seeds
from elastic.reporting.templates import templates
from elastic.reporting.words import course

_FOLDER = Path(__file__).parent
_REJECTED_EXAMPLES = 3


def render_page(evidence: Evidence, findings: Findings) -> str:
    """The page as HTML text; equal evidence gives equal text."""
    return templates(_FOLDER, html=True).get_template("report.html.j2").render(_context(evidence, findings))


def _context(evidence: Evidence, findings: Findings) -> dict[str, Any]:
    models = evidence.models
    headline, cut = findings.headline, findings.cut
    separate = {model: evidence.rows(model, "separate") for model in models}
    with_free = {model: [*rows, evidence.unconstrained(model)] for model, rows in separate.items()}
    trained = {name: params.budget.think for name, params in evidence.profile.rounds.items()}
    confidence = evidence.profile.score.confidence
    drawings = {
        "by_tokens": accuracy.accuracy_by_tokens(
            {model: {method: evidence.rows(model, method) for method in METHODS} for model in models}, confidence
        ),
        "by_budget": accuracy.accuracy_by_budget(separate, trained, evidence.solution),
        "log_linear": accuracy.log_linear(separate, findings.fits),
        "cut": accuracy.separate_minus_truncate(cut, UNFINISHED),
        "phases": phases.tokens_by_phase(with_free),
        "endings": phases.endings(with_free),
        "buckets": difficulty.bucket_histogram(evidence.rates, evidence.profile.bucket.buckets),
        "buckets_by_source": difficulty.buckets_by_source(evidence.rates, evidence.profile.bucket.buckets),
    }
    return {
        "evidence": evidence,
        "profile": evidence.profile,
        "decision": evidence.decision,
        "models": models,
        "base": BASE,
        "model_colours": {model: css_name(colour) for model, colour in palette(models).items()},
        "colours": {css_name(colour): colour for colour in OKABE_ITO.values()},
        "headline": headline,
        "figures": {name: _inline(drawing) for name, drawing in drawings.items()},
        "curves": [_inline(drawing) for drawing in training.training_curves(evidence.training, models)],
        "window": training.WINDOW,
        "courses": {name: course(outcome) for name, outcome in evidence.outcomes.items()},
        "alerts": {name: outcome.alerts for name, outcome in evidence.outcomes.items() if outcome.alerts},
        "separate": separate,
        "with_free": with_free,
        "grid": [row for row in evidence.grid if row.split == "test"],
        "fits": findings.fits,
        "cut": cut,
        "cut_marked": [row for rows in cut.values() for row in rows if (row.unfinished or 0) > UNFINISHED],
        "unfinished": UNFINISHED,
        "buckets": _buckets(evidence.rates, evidence.profile.bucket),
        "probing": probing(evidence),
        "rounds": _rounds(findings.rounds),
        "published": _iterative_training(evidence.published),
        "examples": example_traces(evidence, headline.subject, headline.budget),
        "splits": {split: sum(rows.get(split, 0) for rows in evidence.curation.rows.values()) for split in SPLITS},
        "rejections": _rejections(evidence.rejected),
        "seconds_per_problem": {model: seconds_per_problem(evidence, rows[0]) for model, rows in with_free.items()},
        "seeds": seeds(evidence.profile),
        "versions": _versions(evidence),
    }


def _inline(drawing: Drawing) -> Markup:
    return Markup(drawing.svg)  # made by figures.style, which escapes its texts


def _rounds(rows: Sequence[Paired]) -> dict[str, Any]:
    """Paired differences as a table: a column a comparison, a row a budget."""
    columns = list(dict.fromkeys((row.model, row.control) for row in rows))
    budgets = list(dict.fromkeys(row.budget for row in rows))
    cells = {(row.model, row.control, row.budget): row for row in rows}
    return {
        "columns": columns,
        "rows": [(budget, [cells[model, control, budget] for model, control in columns]) for budget in budgets],
        "count": len(rows),
    }


def _iterative_training(reference: Reference) -> dict[str, Any]:
    """The published figures on iterative training: a row a budget, with accuracy after fixed and growing ones."""
    [table] = reference.tables
    figures = {(row.setting, row.budget): row.values["accuracy"] for row in table.rows}
    budgets = list(dict.fromkeys(row.budget for row in table.rows))
    return {
        "problems": table.problems,
        "source": f"{reference.paper}, {table.source}",
        "finding": reference.finding,
        "rows": [(budget, figures["fixed", budget], figures["iterative", budget]) for budget in budgets],
    }


def _buckets(rates: pl.DataFrame, params: BucketParams) -> list[dict[str, Any]]:
    """Counts and mean pass rate by bucket, from never to always; problems that were never graded come last.

    Each with its bounds in words, `above`, `up_to`, and its problems by source.
    """
    order = {bucket: number for number, bucket in enumerate(params.buckets)}
    edges = dict(zip(params.edges, [*list(params.edges.values())[1:], 1.0], strict=True))
    grouped = rates.group_by("bucket").agg(
        problems=pl.len(), kept=pl.col("kept").sum(), rate=pl.col("pass_rate").mean(), sources=pl.col("source")
    )
    rows = sorted(grouped.to_dicts(), key=lambda row: order.get(row["bucket"], len(order)))
    for row in rows:
        row["sources"] = Counter(row["sources"])
        row["above"], row["up_to"] = params.edges.get(row["bucket"]), edges.get(row["bucket"])
    return rows


def _rejections(rejected: pl.DataFrame) -> list[dict[str, Any]]:
    """Reasons by falling count, each with its first examples by source and question."""
    counts = rejected.group_by("reason").len().sort(["len", "reason"], descending=[True, False])
    return [
        {
            "reason": reason,
            "count": number,
            "examples": rejected.filter(pl.col("reason") == reason)
            .sort(["source", "question", "answer"])
            .head(_REJECTED_EXAMPLES)
            .to_dicts(),
        }
        for reason, number in counts.iter_rows()
    ]


def _versions(evidence: Evidence) -> Mapping[str, str]:
    """Version of each package; all of them where stages ran under different ones."""
    found: dict[str, set[str]] = {}
    for record in evidence.records.values():
        for package, version in (record.versions if record else {}).items():
            found.setdefault(package, set()).add(version)
    return {package: ", ".join(sorted(found[package])) for package in sorted(found)}
