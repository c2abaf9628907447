from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import small_world

from elastic.budget import Budget
from elastic.reporting.comparisons import holm, paired_accuracy, paired_tokens, separate_minus_truncate, sign_flip
from elastic.reporting.evidence import Evidence
from elastic.reporting.findings import Findings


def rate(evidence: Evidence, model: str, method: str, think: int | None) -> float:
    """Accuracy of a cell, counted plainly: every problem has the same number of samples and none is an error."""
    frame = evidence.scored[model].filter(pl.col("method") == method)
    if think is not None:
        frame = frame.filter((pl.col("think_budget") == think) & (pl.col("solution_budget") == small_world.S))
    return sum(verdict == "correct" for verdict in frame["verdict"]) / len(frame)


def test_holm_stops_at_the_first_test_that_fails() -> None:
    # 0.05 over 4, 3, 2, 1: 0.0125, 0.0167, 0.025, 0.05
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    assert holm([0.011, 0.016, 0.024, 0.049], 0.05) == [True] * 4
    assert holm([0.013, 0.001 * 13, 0.5, 0.9], 0.05) == [False] * 4


def test_sign_flips_find_the_exact_chance_of_a_small_case() -> None:
    # Of the 8 ways to sign (1, 1, 2), only +++ and --- reach a sum of 4: p = 0.25.
    chance = sign_flip(np.array([1.0, 1.0, 2.0]), 40_000, np.random.default_rng(0))
    assert chance == pytest.approx(0.25, abs=0.01)
    assert sign_flip(np.zeros(5), 100, np.random.default_rng(0)) == 1


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
