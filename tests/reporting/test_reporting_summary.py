from __future__ import annotations

import math
from dataclasses import replace

import pytest
import small_world

from elastic.contracts.records import GridRow
from elastic.reporting.comparisons import log_linear_fits
from elastic.reporting.evidence import Evidence
from elastic.reporting.findings import Findings
from elastic.reporting.summary import build_summary

GRID_KEYS = {
    "model", "split", "method", "think", "solution", "limit", "accuracy", "ci_low", "ci_high", "mean_think_tokens",
    "mean_solution_tokens", "p95_tokens", "forced_share", "eos_in_think_share", "truncated_solution_share",
    "no_answer_share", "timeout_share", "error_share", "n_problems", "n_samples", "seconds_per_problem",
}  # fmt: skip


def test_the_summary_has_what_machines_rely_on(evidence: Evidence, findings: Findings) -> None:
    summary = build_summary(evidence, findings)
    assert summary["profile"] == "small"
    assert summary["seeds"]["sample"] == evidence.profile.sample.seed
    assert summary["seeds"]["collect.sources.chains"] == 20250501
    cells = 1 + 2 * len(small_world.THINK) * len(small_world.SOLUTION)
    assert len(summary["grid"]) == cells * len(small_world.MODELS) * 2
    assert all(set(row) >= GRID_KEYS for row in summary["grid"])
    free = [row for row in summary["grid"] if row["method"] == "unconstrained"]
    assert all(row["think"] is None and row["solution"] is None and row["limit"] == small_world.LIMIT for row in free)
    assert set(summary["log_linear"]) == set(small_world.MODELS)
    assert set(summary["log_linear"]["base"]) == {"a", "b", "r2"}
    assert summary["promotion"]["promoted"] == "r1"
    assert [row["model"] for row in summary["promotion"]["comparisons"]] == ["r1", "r2"]
    assert summary["contamination"] == {"checked": 200, "overlaps": 0}
    assert summary["probing"] == {"traces": 160, "errors": 4, "ungraded": 1}
    assert summary["training"]["r1"] == {
        "steps": 40, "kept": 30, "ended_by": None, "alerts": [], "turning_step": 14,
    }  # fmt: skip
    assert summary["training"]["r2"]["alerts"] == ["step 12: entropy fell to 0.0010 nats, below 0.01"]
    assert summary["cost"]["train@r2"] == {"seconds": 20.0, "sampled_tokens": 8000}


def test_the_log_linear_fit_is_over_separate_rows_of_test_at_the_decided_budget(evidence: Evidence) -> None:
    wanted = {0: (10.0, 0.2), 8: (20.0, 0.4), 16: (40.0, 0.6)}  # tokens double, accuracy gains 0.2 each time

    def placed(row: GridRow) -> GridRow:
        if (row.method, row.split, row.solution) != ("separate", "test", small_world.S):
            return row
        used, accuracy = wanted[row.think or 0]
        return row.model_copy(update={"mean_think_tokens": used - 4, "mean_solution_tokens": 4.0, "accuracy": accuracy})

    grid = [placed(row) for row in evidence.grid if row.think in (None, *wanted)]
    fit = log_linear_fits(replace(evidence, grid=grid))["r1"]
    assert fit is not None
    assert fit.b == pytest.approx(0.2 / math.log(2))
    assert fit.a == pytest.approx(0.2 - 0.2 * math.log(10) / math.log(2))
    assert fit.r2 == pytest.approx(1)


def test_seconds_a_problem_come_from_the_record_that_sampled_the_split(evidence: Evidence, findings: Findings) -> None:
    record = evidence.records["sample@r1-test"]
    assert record is not None

    def seconds(records: dict[str, object]) -> float | None:
        changed = replace(evidence, records=dict(evidence.records) | records)  # type: ignore[arg-type]
        rows = build_summary(changed, findings)["grid"]
        [found] = {row["seconds_per_problem"] for row in rows if (row["model"], row["split"]) == ("r1", "test")}
        return found

    assert seconds({}) == pytest.approx(record.seconds / small_world.PROBLEMS, abs=1e-4)
    assert seconds({"sample@r1-test": None}) is None
    assert seconds({"sample@r1-test": record.model_copy(update={"resumed_from": 3})}) is None


def test_a_stage_without_a_record_costs_nothing_known(evidence: Evidence, findings: Findings) -> None:
    records = dict(evidence.records) | {"base": None}
    cost = build_summary(replace(evidence, records=records), findings)["cost"]
    assert cost["base"] == {"seconds": None, "sampled_tokens": None}
