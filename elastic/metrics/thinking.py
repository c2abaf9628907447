"""Answers with the thinking that each was given, for measures that read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import polars as pl

from elastic.contracts.evaluation import PATH
from elastic.errors import DataError


def with_thinking(
    answers: pl.DataFrame, thinking: pl.DataFrame, decode: Callable[[Sequence[int]], str]
) -> pl.DataFrame:
    """The answers, in their order, with the columns think_ids and think_text: of a prefix where that was given.

    Args:
        answers: frame of elastic.contracts.evaluation.Answers.
        thinking: frame of Thinking, with the path of every answer.
        decode: turns thinking ids into text; called for prefixes only, once for each.

    Raises:
        DataError: an answer's path is missing, or has less thinking than the answer was given.
    """
    whole = thinking.select(*PATH, "opening", whole_ids="think_ids", whole_text="think_text")
    joined = answers.join(whole, on=PATH, how="left", validate="m:1", maintain_order="left").with_columns(
        given=pl.col("opening") + pl.col("n_think"), length=pl.col("whole_ids").list.len()
    )
    lost = joined.filter(pl.col("opening").is_null() | (pl.col("given") > pl.col("length")))
    if not lost.is_empty():
        raise DataError(
            f"{len(lost)} answers have not all of their thinking",
            where=", ".join(f"{key} {lost[key][0]}" for key in PATH),
            remedy="read answers and thinking of the same evaluation",
        )
    joined = joined.with_columns(think_ids=pl.col("whole_ids").list.head("given"))

    @cache
    def text(ids: tuple[int, ...]) -> str:
        return decode(ids)

    prefix = joined["given"] < joined["length"]
    texts = [
        text(tuple(ids)) if cut else whole_text
        for cut, ids, whole_text in zip(prefix, joined["think_ids"], joined["whole_text"], strict=True)
    ]
    return joined.select(*answers.columns, "think_ids", think_text=pl.Series(texts, dtype=pl.String))
