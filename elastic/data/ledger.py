"""The ledger of curation: every collected row, and the one decision that is made about it.

A row leaves the ledger into one split or into the rejected rows with a reason, never silently. Steps decide about
rows that are still open, in order; a decision is never taken back.
"""

from __future__ import annotations

from collections.abc import Container

import polars as pl

from elastic.contracts.frames import EVALUATED_SPLITS, Problems
from elastic.data.normalise import normalise_answer, problem_id
from elastic.data.wording import wording_of

OPEN = pl.col("split").is_null() & pl.col("reason").is_null()
ANY_ROLE = pl.col("role") == "any"
TEACHING_ROLE = pl.col("role") == "teaching"
TRAINING_ROLE = pl.col("role") == "training"
# Rows of a benchmark: a source that goes whole into an evaluation set.
BENCHMARK = pl.col("role").is_in(EVALUATED_SPLITS)


def open_ledger(collected: pl.DataFrame, worded: Container[str] = ()) -> pl.DataFrame:
    """Collected rows with what curation knows of each, all undecided.

    Adds `order`; `problem_id`, which says that two texts are equal; `copy`, which says that two problems are; and the
    normalised `answer` beside `answer_original`.

    Args:
        collected: a frame Collected; its order is the order in which copies are preferred.
        worded: sources whose problems are copies of each other when their wording is equal; of the others, whose
            problems may differ in a sign, the text must be.
    """
    keys = [
        wording_of(question).key if source in worded else None
        for source, question in collected.select("source", "question").iter_rows()
    ]
    return (
        collected.rename({"answer": "answer_original"})
        .with_columns(
            pl.int_range(pl.len()).alias("order"),
            pl.Series("problem_id", [problem_id(question) for question in collected["question"]], dtype=pl.String),
            pl.Series("answer", [normalise_answer(answer) for answer in collected["answer"]], dtype=pl.String),
            pl.Series("copy", keys, dtype=pl.String),
            split=pl.lit(None, pl.String),
            reason=pl.lit(None, pl.String),
            detail=pl.lit(""),
        )
        .with_columns(copy=pl.coalesce(pl.col("copy").drop_nulls().first().over("problem_id"), "problem_id"))
    )


def reject(ledger: pl.DataFrame, rows: pl.Expr, reason: str, detail: pl.Expr) -> pl.DataFrame:
    """Reject the open rows that match `rows`."""
    hit = OPEN & rows
    return ledger.with_columns(
        reason=pl.when(hit).then(pl.lit(reason)).otherwise("reason"),
        detail=pl.when(hit).then(detail).otherwise("detail"),
    )


def place(ledger: pl.DataFrame, orders: pl.Series, split: str) -> pl.DataFrame:
    """Put the rows with these `orders` into a split."""
    hit = OPEN & pl.col("order").is_in(orders.implode())
    return ledger.with_columns(split=pl.when(hit).then(pl.lit(split)).otherwise("split"))


def problems_of(ledger: pl.DataFrame, split: str) -> pl.DataFrame:
    """The rows of one split, as a frame Problems, in the order of their ids: a random one, since ids are hashes."""
    columns = list(Problems.to_schema().columns)
    return ledger.filter(pl.col("split") == split).sort("problem_id").select(columns)


def rejected_of(ledger: pl.DataFrame) -> pl.DataFrame:
    """The rejected rows, as a frame Rejected, in the order they came."""
    return ledger.filter(pl.col("reason").is_not_null()).select(
        "source", "source_id", "question", pl.col("answer_original").alias("answer"), "reason", "detail"
    )
