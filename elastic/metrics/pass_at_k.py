"""Mean@k and unbiased pass@k, by problem.

pass@k is the chance that k of a problem's n answers, drawn without putting back, hold a correct one: with c correct
ones, 1 - C(n - c, k) / C(n, k) (Chen et al., arXiv 2107.03374, equation 1). Drawing k once and looking would estimate
the same with more noise; 1 - (1 - c/n)^k would not be unbiased. Answers whose grading failed (verdict error) are left
out, as everywhere.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.accuracy import problem_accuracies


def chance_of_none(answers: np.ndarray, correct: np.ndarray, k: int) -> np.ndarray:
    """C(n - c, k) / C(n, k), the chance that k of n answers hold none of the c correct ones; any common shape.

    A product of k factors, none above 1, so that nothing overflows. Where there are fewer than k answers, all of them
    are drawn.
    """
    n, c = np.asarray(answers, dtype=float), np.asarray(correct, dtype=float)
    chance = np.ones(np.broadcast_shapes(n.shape, c.shape))
    for drawn in range(k):
        left = n - drawn
        chance *= np.where(left > 0, np.clip(left - c, 0, None) / np.maximum(left, 1), 1.0)
    return chance


def mean_at_k(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean@k: the share of correct answers of every problem, k being as many as it has.

    Args:
        frame: columns problem_id and verdict, one row an answer.

    Returns:
        Columns problem_id (unique, sorted) and value.
    """
    return problem_accuracies(frame).rename({"accuracy": "value"})


def pass_at_k(frame: pl.DataFrame, k: int) -> pl.DataFrame:
    """Unbiased pass@k of every problem; one with fewer than k graded answers has none, and drops out.

    Args:
        frame: columns problem_id and verdict, one row an answer.
        k: answers that are drawn.

    Returns:
        Columns problem_id (unique, sorted) and value.

    Raises:
        DataError: k is below 1, or no problem has k graded answers.
    """
    if k < 1:
        raise DataError(f"pass@{k} draws no answer", remedy="ask for a k of 1 or more")
    counts = (
        frame.filter(pl.col("verdict") != "error")
        .group_by("problem_id")
        .agg(n=pl.len(), c=(pl.col("verdict") == "correct").sum())
        .sort("problem_id")
    )
    enough = counts.filter(pl.col("n") >= k)
    if enough.is_empty():
        raise DataError(
            f"pass@{k} needs {k} graded answers a problem, and the most are {max(counts['n'], default=0)}",
            remedy="sample more, or ask for a smaller k",
        )
    value = 1 - chance_of_none(enough["n"].to_numpy(), enough["c"].to_numpy(), k)
    return enough.select("problem_id", value=pl.Series(value))
