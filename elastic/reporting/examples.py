"""Example traces, as they are: the first ones by problem, never chosen for what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from elastic.budget import Budget
from elastic.contracts.frames import HAS_DELIMITER
from elastic.reporting.evidence import Evidence


@dataclass(frozen=True)
class Example:
    """One trace to read.

    Attributes:
        kind: forced, natural or truncated.
        question: of the problem.
        thinking, solution: decoded text of both phases.
        closed, finish: how the phases ended (elastic.trace).
        n_think, n_solution: counted tokens.
        has_delimiter: whether a closing delimiter stands between the phases.
        answer, gold, verdict: from grading.
    """

    kind: str
    question: str
    thinking: str
    solution: str
    closed: str
    finish: str
    n_think: int
    n_solution: int
    has_delimiter: bool
    answer: str | None
    gold: str
    verdict: str


def example_traces(evidence: Evidence, model: str, budget: Budget) -> dict[str, list[Example]]:
    """Traces of a model on test at one budget, by kind.

    Forced and natural ones are of separate budgets; truncated ones were cut by plain truncation at the same total.
    Each kind has at most `report.examples`, the first sample of the first problems by id.
    """
    frame = (
        evidence.scored[model]
        .filter(sample=0, think_budget=budget.think, solution_budget=budget.solution)
        .with_columns(has_delimiter=HAS_DELIMITER)
        .sort("problem_id")
    )
    kinds = {
        "forced": (pl.col("method") == "separate") & (pl.col("closed") == "forced"),
        "natural": (pl.col("method") == "separate") & (pl.col("closed") == "natural"),
        "truncated": (pl.col("method") == "truncate") & (pl.col("finish") == "budget"),
    }
    return {
        kind: [
            _example(kind, row, evidence)
            for row in frame.filter(wanted).head(evidence.profile.report.examples).iter_rows(named=True)
        ]
        for kind, wanted in kinds.items()
    }


def _example(kind: str, row: dict[str, Any], evidence: Evidence) -> Example:
    return Example(
        kind=kind,
        question=evidence.questions.get(row["problem_id"], row["problem_id"]),
        thinking=row["think_text"],
        solution=row["solution_text"],
        closed=row["closed"],
        finish=row["finish"],
        n_think=row["n_think"],
        n_solution=row["n_solution"],
        has_delimiter=row["has_delimiter"],
        answer=row["answer"],
        gold=row["gold"],
        verdict=row["verdict"],
    )
