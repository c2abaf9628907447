"""The summary that a machine reads: reports/summary.json."""

from __future__ import annotations

from typing import Any

from elastic.contracts.params.profile import Profile
from elastic.contracts.records import GridRow
from elastic.reporting.evidence import BASE, Evidence
from elastic.reporting.findings import Findings


def sample_stage(model: str, split: str) -> str:
    """The stage of the DAG that sampled a model on a split."""
    return f"sample-base@{split}" if model == BASE else f"sample@{model}-{split}"


def seconds_per_problem(evidence: Evidence, row: GridRow) -> float | None:
    """Seconds of sampling a problem of the row's split: all its samples, methods and budgets together.

    One thinking trace serves all budgets, so there is no cost of a single row. None where it was not measured here:
    the record is missing or stale, or the stage resumed and its record has only the last part.
    """
    record = evidence.records.get(sample_stage(row.model, row.split))
    if record is None or record.resumed_from:
        return None
    return round(record.seconds / row.n_problems, 4)


def seeds(profile: Profile) -> dict[str, int]:
    """Every seed of the params, by its dotted key."""
    found: dict[str, int] = {}

    def walk(value: Any, key: str) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name == "seed":
                    found[key] = inner
                else:
                    walk(inner, f"{key}.{name}".strip("."))
        elif isinstance(value, list):
            for inner in value:
                walk(inner, f"{key}.{inner['name']}" if isinstance(inner, dict) and "name" in inner else key)

    walk(profile.model_dump(mode="json"), "")
    return found


def probing(evidence: Evidence) -> dict[str, int]:
    """What the pass rates rest on: sampled `traces`, `errors` among them, which are left out, `ungraded` problems."""
    rates = evidence.rates
    return {
        "traces": int(rates["samples"].sum()),
        "errors": int((rates["samples"] - rates["graded"]).sum()),
        "ungraded": rates["bucket"].null_count(),
    }


def build_summary(evidence: Evidence, findings: Findings) -> dict[str, Any]:
    """The summary as plain JSON values.

    Keys: `profile`; `seeds` by params key; `grid`, every GridRow of every model and split with `seconds_per_problem`;
    `log_linear` by model {a, b, r2} or null, accuracy = a + b x with x = ln(mean thinking + solution tokens), over the
    test split's separate rows at the decided solution budget; `promotion` {promoted, rule, comparisons}; `cost` by
    stage {seconds, sampled_tokens}, null where not measured here; `contamination` {checked, overlaps}: taught problems
    that were compared with validation and test, and how many of them stand there; `probing` {traces, errors, ungraded};
    `training` by round {steps, kept, ended_by, alerts, turning_step}.
    """
    return {
        "profile": evidence.profile.profile,
        "seeds": seeds(evidence.profile),
        "grid": [
            row.model_dump(mode="json") | {"seconds_per_problem": seconds_per_problem(evidence, row)}
            for row in evidence.grid
        ],
        "log_linear": {
            model: {"a": fit.a, "b": fit.b, "r2": fit.r2} if fit else None for model, fit in findings.fits.items()
        },
        "promotion": {
            "promoted": evidence.decision.promoted,
            "rule": evidence.decision.rule,
            "comparisons": [comparison.model_dump(mode="json") for comparison in evidence.decision.comparisons],
        },
        "cost": {
            stage: {
                "seconds": record.seconds if record else None,
                "sampled_tokens": record.sampled_tokens if record else None,
            }
            for stage, record in evidence.records.items()
        },
        "contamination": {
            "checked": evidence.curation.contamination.checked,
            "overlaps": len(evidence.curation.contamination.overlaps),
        },
        "probing": probing(evidence),
        "training": {name: outcome.model_dump(mode="json") for name, outcome in evidence.outcomes.items()},
    }
