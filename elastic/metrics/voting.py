"""Majority vote over the answers of a problem (self-consistency, arXiv 2203.11171), plain or weighted by depth.

Votes are for equal texts: `answer` must be canonical already (elastic.answers.classes makes it so). A solution without
an answer does not vote. Where answers tie, the value is what a fair draw between them gives on average: the share of
the tied answers that are correct. Answers whose grading failed (verdict error) are left out, as everywhere.

Weights by depth are linear, w_t = 2t / (H (H + 1)) (Fractured Sampling, arXiv 2505.12992); only their ratio matters, so
a vote at depth t counts t times and ties stay exact.
"""

from __future__ import annotations

import polars as pl

# Whether a solution gave an answer, which alone can be voted for or picked.
ANSWERED = pl.col("answer").is_not_null() & (pl.col("verdict") != "no_answer")


def every_problem(graded: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """`found` (problem_id and value) with 0 for the other problems of `graded`, sorted."""
    problems = graded.select(pl.col("problem_id").unique().sort())
    return problems.join(found, on="problem_id", how="left", maintain_order="left").with_columns(
        pl.col("value").fill_null(0.0)
    )


def majority(frame: pl.DataFrame, *, weighted_by_depth: bool = False) -> pl.DataFrame:
    """Chance that the answer with the most votes is correct, of every problem; 0 where nobody votes.

    The same text may have been judged both ways (a timeout, say); then it counts as its share of correct verdicts.

    Args:
        frame: columns problem_id, answer (canonical, null for none), verdict and, for weights, depth; one row an
            answer. For some depths only, filter with `depths.at_depths`.
        weighted_by_depth: whether votes at depth t weigh t.

    Returns:
        Columns problem_id (unique, sorted) and value.
    """
    graded = frame.filter(pl.col("verdict") != "error")
    weight = pl.col("depth") if weighted_by_depth else pl.lit(1)
    winners = (
        graded.filter(ANSWERED)
        .with_columns(weight=weight)
        .group_by("problem_id", "answer")
        .agg(votes=pl.col("weight").sum(), correct=(pl.col("verdict") == "correct").mean())
        .filter(pl.col("votes") == pl.col("votes").max().over("problem_id"))
        .group_by("problem_id")
        .agg(value=pl.col("correct").mean())
    )
    return every_problem(graded, winners)
