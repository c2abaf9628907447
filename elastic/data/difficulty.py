"""Difficulty from pass rates: buckets, and the order in which problems train.

The published split (The Art of Efficient Reasoning, 2602.20945) is easy above a pass rate of 0.5 and hard up to it.
Departure: problems that were never or always solved stand in buckets of their own, since a group of equal rewards
teaches GRPO nothing.
"""

from __future__ import annotations

import polars as pl

from elastic.contracts.frames import BUCKETS
from elastic.contracts.params.bucket import BucketParams
from elastic.seeding import stream_seed


def pass_rates(verdicts: pl.DataFrame, params: BucketParams) -> pl.DataFrame:
    """The frame PassRates of all problems, unfiltered, in the order of their ids.

    Args:
        verdicts: `problem_id` and `verdict`, one row a trace. An error is no sample; everything but `correct` counts
            as not correct.
        params: edges and what is kept.
    """
    said = pl.col("verdict")
    rate = pl.col("pass_rate")
    return (
        verdicts.group_by("problem_id")
        .agg(
            samples=pl.len().cast(pl.Int64),
            graded=(said != "error").sum().cast(pl.Int64),
            correct=(said == "correct").sum().cast(pl.Int64),
        )
        .sort("problem_id")
        .with_columns(pass_rate=pl.when(pl.col("graded") > 0).then(pl.col("correct") / pl.col("graded")))
        .with_columns(
            bucket=pl.when(rate == 0)
            .then(pl.lit("never"))
            .when(rate <= params.easy_above, rate < 1)
            .then(pl.lit("hard"))
            .when(rate < 1)
            .then(pl.lit("easy"))
            .when(rate == 1)
            .then(pl.lit("always"))
        )
        .with_columns(
            kept=(pl.col("bucket").is_in(params.keep) & rate.is_between(params.min_rate, params.max_rate)).fill_null(
                False
            )
        )
    )


def training_order(rates: pl.DataFrame, params: BucketParams) -> pl.DataFrame:
    """Kept problems with their `rank` from 0 on: shuffled, or by pass rate with equals shuffled.

    Args:
        rates: a frame PassRates.
        params: order and seed.
    """
    kept = rates.filter("kept")
    drawn = [stream_seed(params.seed, "order", name) for name in kept["problem_id"]]
    keys = {"shuffled": [], "easy_first": [-pl.col("pass_rate")], "hard_first": [pl.col("pass_rate")]}[params.order]
    ordered = kept.with_columns(pl.Series("drawn", drawn, dtype=pl.UInt64)).sort(*keys, "drawn")
    return ordered.drop("drawn").with_row_index("rank").with_columns(pl.col("rank").cast(pl.Int64))


def histogram(rates: pl.DataFrame) -> dict[str, int]:
    """Problems by bucket, those without a graded trace as `ungraded`."""
    counts = dict(rates["bucket"].fill_null("ungraded").value_counts().iter_rows())
    return {name: counts.get(name, 0) for name in (*BUCKETS, "ungraded")}
