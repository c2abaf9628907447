"""What every problem got: its accuracy and the tokens spent on it, the observations behind every interval."""

from __future__ import annotations

import polars as pl

# Counted tokens of one answer, with the probes that were spent before it.
TOKENS = pl.col("n_think") + pl.col("n_solution") + pl.col("n_probe")


def graded(answers: pl.DataFrame) -> pl.DataFrame:
    """The answers that were graded: those whose verdict is an error are left out."""
    return answers.filter(pl.col("verdict") != "error")


def problem_means(answers: pl.DataFrame) -> pl.DataFrame:
    """Mean accuracy and tokens of every problem's answers, errors left out.

    Args:
        answers: of one cell; columns problem_id, verdict, n_think, n_solution and n_probe of
            elastic.contracts.evaluation.Answers.

    Returns:
        Columns problem_id (unique, sorted), accuracy, tokens (thinking, solution and probes) and answers (how many).
    """
    return (
        graded(answers)
        .group_by("problem_id")
        .agg(
            accuracy=(pl.col("verdict") == "correct").mean(),
            tokens=TOKENS.mean(),
            answers=pl.len(),
        )
        .sort("problem_id")
    )
