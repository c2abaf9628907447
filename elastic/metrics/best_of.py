"""Best-of-N: the answer that a scorer rates highest, plain or weighted by depth.

The default scorer needs nothing beside the model: the mean log-probability of the solution's own tokens. A process
reward model writes a column of its own (elastic/evaluation/scorers.py); Fractured Sampling (arXiv 2505.12992) shows it
the solution alone and takes the score of the last step. Its linear weights w_t = 2t / (H (H + 1)) multiply the scores
of depth t here; the paper does not say how they enter, and log-probabilities become probabilities first, which orders
them alike and lets a weight above another be a gain.

A solution without an answer cannot be picked, as it cannot vote; the paper does not say. Equal scores at the top count
as a fair draw between them. Answers whose grading failed (verdict error) are left out, as everywhere.
"""

from __future__ import annotations

import polars as pl

from elastic.errors import DataError
from elastic.metrics.voting import ANSWERED, every_problem

LOGPROB = "logprob"


def scores_of(frame: pl.DataFrame, score: str = LOGPROB) -> pl.Series:
    """The scores that answers are picked by, null where an answer cannot be picked; shape (rows,).

    Raises:
        DataError: no answer has a score.
    """
    if frame[score].is_null().all():
        raise DataError(
            f"no answer has a score in the column {score}",
            remedy="sample with an engine that keeps log-probabilities, or score with a process reward model",
        )
    value = pl.col(score).exp() if score == LOGPROB else pl.col(score)
    return frame.select(pl.when(ANSWERED & (pl.col("verdict") != "error")).then(value).alias("score"))["score"]


def best_of(frame: pl.DataFrame, *, score: str = LOGPROB, weighted_by_depth: bool = False) -> pl.DataFrame:
    """Chance that the answer with the highest score is correct, of every problem; 0 where none can be picked.

    Args:
        frame: columns problem_id, answer (null for none), verdict, the score and, for weights, depth; one row an
            answer. For some depths only, filter with `depths.at_depths`.
        score: column of the scores, higher is better; null where an answer has none.
        weighted_by_depth: whether scores at depth t are multiplied by t; they must not be negative then.

    Returns:
        Columns problem_id (unique, sorted) and value.

    Raises:
        DataError: no answer has a score, or a negative one is to be weighted.
    """
    scores = scores_of(frame, score)
    if weighted_by_depth:
        if (scores < 0).any():
            raise DataError(
                f"the column {score} holds negative scores, which a larger weight would lower",
                remedy="map them to probabilities, or leave the weights out",
            )
        scores = scores * frame["depth"]
    graded = frame.with_columns(picked_by=scores).filter(pl.col("verdict") != "error")
    winners = (
        graded.filter(pl.col("picked_by") == pl.col("picked_by").max().over("problem_id"))
        .group_by("problem_id")
        .agg(value=(pl.col("verdict") == "correct").mean())
    )
    return every_problem(graded, winners)
