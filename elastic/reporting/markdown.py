"""The budget table and the result in Markdown: for a pull request, a Prefect artifact, a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.frames import METHODS
from elastic.contracts.records import GridRow
from elastic.reporting.evidence import Evidence
from elastic.reporting.findings import Findings
from elastic.reporting.words import course, interval, percent, points, signed, tokens


def render_markdown(evidence: Evidence, findings: Findings) -> str:
    """The result, the table of the test split at the decided s, the fits and the gates."""
    headline = findings.headline
    free, row = headline.free_tokens, evidence.rows(evidence.models[0], "separate")[0]
    parts = [
        f"# {evidence.profile.report.title}",
        f"**{headline.sentence}**",
        f"Promoted: **{evidence.decision.promoted}**. {evidence.decision.rule}",
        "\n".join(
            [
                f"- {headline.subject} − base at {headline.budget}: {points(headline.gain.difference)} points "
                f"({interval(headline.gain.low, headline.gain.high)})",
                f"- unconstrained: {signed(-100 * headline.saved, 0)}% tokens ({signed(free.difference)} a trace, "
                f"{interval(free.low, free.high, 1)}), {points(headline.free_gain.difference)} points "
                f"({interval(headline.free_gain.low, headline.free_gain.high)})",
            ]
        ),
        f"## Test split, s = {evidence.solution}",
        f"{row.n_problems} problems, {row.n_samples} samples each; "
        f"{evidence.profile.score.confidence:.0%} intervals over problems.",
        _table(
            ["model", "method", "t", "accuracy", "interval", "thinking", "solution", "forced", "no answer"],
            [_cells(row) for model in evidence.models for method in METHODS for row in evidence.rows(model, method)],
        ),
        "## Log-linear fits",
        "Accuracy = a + b ln(mean thinking + solution tokens), separate budgets.",
        _table(
            ["model", "a", "b", "R²"],
            [
                [model, signed(fit.a, 3), signed(fit.b, 3), f"{fit.r2:.3f}"] if fit else [model, "no fit", "", ""]
                for model, fit in findings.fits.items()
            ],
        ),
        "## Training",
        *(f"**ALERT in {name}**: {alert}" for name, outcome in evidence.outcomes.items() for alert in outcome.alerts),
        "\n".join(
            f"- {name}: {'; '.join(f'{what}: {answer}' for what, answer in course(outcome))}"
            for name, outcome in evidence.outcomes.items()
        ),
        "## Gates",
        "\n".join(
            f"- {name}: {'passed' if gate.result.passed else 'breached'}, {len(gate.result.expectations)} expectations"
            f" and {len(gate.drift.expectations) if gate.drift.accepted else 'none'} against an accepted version"
            for name, gate in evidence.gates.items()
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _cells(row: GridRow) -> list[str]:
    return [
        row.model,
        row.method,
        str(row.think) if row.think is not None else f"none (limit {row.limit})",
        percent(row.accuracy),
        f"{percent(row.ci_low)} to {percent(row.ci_high)}",
        tokens(row.mean_think_tokens),
        tokens(row.mean_solution_tokens),
        percent(row.forced_share),
        percent(row.no_answer_share),
    ]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
