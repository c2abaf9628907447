from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
import small_world

from elastic.budget import Budget
from elastic.reporting.comparisons import paired_accuracy, paired_tokens, separate_minus_truncate
from elastic.reporting.evidence import Evidence
from elastic.reporting.findings import Findings


def rate(evidence: Evidence, model: str, method: str, think: int | None) -> float:
    """Accuracy of a cell, counted plainly: every problem has the same number of samples and none is an error."""
    frame = evidence.scored[model].filter(pl.col("method") == method)
    if think is not None:
        frame = frame.filter((pl.col("think_budget") == think) & (pl.col("solution_budget") == small_world.S))
    return sum(verdict == "correct" for verdict in frame["verdict"]) / len(frame)


def test_a_paired_difference_is_the_difference_of_the_rates(evidence: Evidence) -> None:
    found = paired_accuracy(evidence, "r1", "base", Budget(24, small_world.S))
    expected = rate(evidence, "r1", "separate", 24) - rate(evidence, "base", "separate", 24)
    assert found.difference == pytest.approx(expected)
    assert found.low < found.difference < found.high
    assert found.n_problems == small_world.PROBLEMS


def test_errors_of_the_grader_are_left_out_of_a_difference(evidence: Evidence) -> None:
    budget = Budget(24, small_world.S)
    broken = sorted(evidence.scored["r1"]["problem_id"].unique())[0]
    verdict = pl.when(pl.col("problem_id") == broken).then(pl.lit("error")).otherwise("verdict")
    scored = dict(evidence.scored) | {"r1": evidence.scored["r1"].with_columns(verdict=verdict)}
    assert (
        paired_accuracy(replace(evidence, scored=scored), "r1", "base", budget).n_problems == small_world.PROBLEMS - 1
    )


def test_tokens_saved_are_those_of_unconstrained_traces(evidence: Evidence) -> None:
    def mean(model: str) -> float:
        frame = evidence.scored[model].filter(pl.col("method") == "unconstrained")
        return (sum(frame["n_think"]) + sum(frame["n_solution"])) / len(frame)

    assert paired_tokens(evidence, "r1", "base").difference == pytest.approx(mean("r1") - mean("base"))


def test_separate_is_compared_with_truncation_at_the_same_total(evidence: Evidence) -> None:
    found = {row.budget.think: row for row in separate_minus_truncate(evidence)["base"] if row.budget}
    assert list(found) == small_world.THINK
    expected = rate(evidence, "base", "separate", 24) - rate(evidence, "base", "truncate", 24)
    assert found[24].difference == pytest.approx(expected)
    cut = evidence.scored["base"].filter(
        (pl.col("method") == "truncate") & (pl.col("think_budget") == 24) & (pl.col("solution_budget") == small_world.S)
    )
    assert found[24].unfinished == pytest.approx(sum(finish == "budget" for finish in cut["finish"]) / len(cut))


def test_each_round_meets_its_start_and_base_once_at_every_budget(findings: Findings) -> None:
    pairs = [(row.model, row.control) for row in findings.rounds]
    budgets = len(small_world.THINK) + 1
    assert pairs == [("r1", "base")] * budgets + [("r2", "r1")] * budgets + [("r2", "base")] * budgets
    assert all(row.holds is not None for row in findings.rounds)


def test_a_clear_gain_survives_the_correction_and_none_does_not(evidence: Evidence, findings: Findings) -> None:
    found = {(row.model, row.control, row.budget): row for row in findings.rounds}
    assert found["r1", "base", Budget(24, small_world.S)].holds is True
    assert found["r2", "r1", Budget(48, small_world.S)].holds is False
