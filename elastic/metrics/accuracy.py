"""Accuracy by problem: the observations over which every interval is computed.

Traces whose grading failed (verdict error) are left out; a problem with no other trace drops out.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from elastic.errors import DataError


def problem_accuracies(traces: pl.DataFrame) -> pl.DataFrame:
    """Share of correct traces of every problem.

    Args:
        traces: columns problem_id and verdict.

    Returns:
        Columns problem_id (unique, sorted) and accuracy.
    """
    return (
        traces.filter(pl.col("verdict") != "error")
        .group_by("problem_id")
        .agg(accuracy=(pl.col("verdict") == "correct").sum() / pl.len())
        .sort("problem_id")
    )


def mean_accuracies(cells: list[pl.DataFrame]) -> pl.DataFrame:
    """Accuracy of every problem averaged over cells of the grid, each with the same weight.

    Args:
        cells: from `problem_accuracies`; a problem must stand in all of them to count.
    """
    problems = cells[0].select("problem_id")
    for cell in cells[1:]:
        problems = problems.join(cell.select("problem_id"), on="problem_id", how="semi")
    aligned = [problems.join(cell, on="problem_id", how="left", maintain_order="left")["accuracy"] for cell in cells]
    return problems.with_columns(accuracy=pl.Series(np.mean([column.to_numpy() for column in aligned], axis=0)))


def pair_problems(model: pl.DataFrame, control: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies of the problems that both have, in one order: two arrays of shape (n problems,).

    Raises:
        DataError: they share no problem.
    """
    pairs = model.join(control, on="problem_id", suffix="_control", validate="1:1").sort("problem_id")
    if pairs.is_empty():
        raise DataError("the two models share no graded problem", remedy="score both on the same split")
    return pairs["accuracy"].to_numpy(), pairs["accuracy_control"].to_numpy()
