"""The shortest correct response to each problem: what the plainest baseline of brevity teaches.

Best-of-K by length and supervised teaching, as the papers on length rewards have it for a baseline (Kimi k1.5,
arXiv 2501.12599, calls it shortest rejection sampling).
"""

from __future__ import annotations

import polars as pl


def shortest_correct(graded: pl.DataFrame) -> pl.DataFrame:
    """Question, thinking and solution of the shortest correct and finished response to each problem, by problem_id.

    Args:
        graded: graded traces: problem_id, sample, question, verdict, finish, closed, n_think, n_solution, think_text,
            solution_text. Of equally short ones the first sample is taken. A response whose thinking was cut is left
            out: its closing delimiter is no choice of the model.
    """
    fit = (pl.col("verdict") == "correct") & (pl.col("finish") == "eos") & (pl.col("closed") == "natural")
    return (
        graded.filter(fit)
        .sort(pl.col("n_think") + pl.col("n_solution"), "sample", maintain_order=True)
        .group_by("problem_id", maintain_order=True)
        .first()
        .sort("problem_id")
        .select("question", "think_text", "solution_text")
    )
