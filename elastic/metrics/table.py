"""One row of a table: every figure of one model under one method and budget, from its scored traces or answers."""

from __future__ import annotations

from typing import Any

import polars as pl

from elastic.contracts.frames import HAS_DELIMITER, METHODS
from elastic.contracts.records import GridRow
from elastic.errors import DataError
from elastic.metrics.accuracy import problem_accuracies
from elastic.metrics.intervals import mean_interval

CELL = ["method", "think_budget", "solution_budget", "limit"]

_TOKENS = pl.col("n_think") + pl.col("n_solution")


def _share(condition: pl.Expr) -> pl.Expr:
    return condition.sum() / pl.len()


def _percentile(tokens: pl.Expr, share: float) -> pl.Expr:
    return tokens.quantile(share, interpolation="linear")


_FIGURES = {
    "mean_think_tokens": pl.col("n_think").sum() / pl.len(),
    "mean_solution_tokens": pl.col("n_solution").sum() / pl.len(),
    "p95_think_tokens": _percentile(pl.col("n_think"), 0.95),
    "p95_solution_tokens": _percentile(pl.col("n_solution"), 0.95),
    "forced_share": _share(pl.col("closed") == "forced"),
    "natural_share": _share(pl.col("closed") == "natural"),
    "eos_in_think_share": _share(pl.col("closed") == "eos"),
    "unclosed_share": _share(pl.col("closed") == "never"),
    "truncated_solution_share": _share(HAS_DELIMITER & (pl.col("finish") == "budget")),
    "no_answer_share": _share(pl.col("verdict") == "no_answer"),
    "timeout_share": _share(pl.col("verdict") == "timeout"),
    "error_share": _share(pl.col("verdict") == "error"),
    "n_samples": pl.col("sample").n_unique(),
}


def figures(
    cell: pl.DataFrame, *, where: str, confidence: float, resamples: int, seed: int, tokens: pl.Expr = _TOKENS
) -> dict[str, Any]:
    """The fields of Figures (elastic/contracts/records.py) of one cell.

    Accuracy is the mean over problems of their share of correct traces, errors left out; `n_problems` counts the
    problems in it. Shares and tokens are over all traces of the cell.

    Args:
        cell: scored traces (elastic.contracts.frames.Scored) or answers (elastic.contracts.evaluation.Answers) of one
            model, method and budget.
        where: names the cell, for the error.
        confidence, resamples, seed: of the interval.
        tokens: what one trace spent, of which the percentiles are.

    Raises:
        DataError: no trace was graded without an error.
    """
    head = cell.row(0, named=True)
    accuracies = problem_accuracies(cell)["accuracy"].to_numpy()
    if not len(accuracies):
        raise DataError("every trace ended in an error of the grader", where=where, remedy="mend the grader")
    interval = mean_interval(accuracies, confidence=confidence, resamples=resamples, seed=seed)
    spent = {"p50_tokens": _percentile(tokens, 0.50), "p95_tokens": _percentile(tokens, 0.95)}
    return {
        "model": head["model"],
        "method": head["method"],
        "think": head["think_budget"],
        "solution": head["solution_budget"],
        "limit": head["limit"],
        "accuracy": interval.mean,
        "ci_low": interval.low,
        "ci_high": interval.high,
        "n_problems": len(accuracies),
        **cell.select(**_FIGURES, **spent).row(0, named=True),
    }


def grid_row(cell: pl.DataFrame, *, confidence: float, resamples: int, seed: int) -> GridRow:
    """The row of one cell.

    Args:
        cell: scored traces (elastic.contracts.frames.Scored) of one model, split, method and budget.
        confidence, resamples, seed: of the interval.

    Raises:
        DataError: no trace was graded without an error.
    """
    head = cell.row(0, named=True)
    where = f"{head['model']} on {head['split']}, {head['method']} {[head[key] for key in CELL[1:]]}"
    found = figures(cell, where=where, confidence=confidence, resamples=resamples, seed=seed)
    return GridRow(split=head["split"], **found)


def budget_table(scored: pl.DataFrame, *, confidence: float, resamples: int, seed: int) -> list[GridRow]:
    """One row a cell, ordered by method, thinking budget, solution budget and limit.

    Args:
        scored: scored traces of one model on one split.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: a cell has no trace that was graded without an error.
    """
    cells = scored.partition_by(CELL, maintain_order=True)
    rows = [grid_row(cell, confidence=confidence, resamples=resamples, seed=seed) for cell in cells]
    return sorted(rows, key=lambda r: (METHODS.index(r.method), r.think or 0, r.solution or 0, r.limit or 0))
