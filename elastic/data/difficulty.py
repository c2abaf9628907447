"""Difficulty from pass rates: buckets, the order in which problems train, and a validation slice cut from them.

The published split (The Art of Efficient Reasoning, 2602.20945) is easy above a pass rate of 0.5 and hard up to it.
Departure: problems that were never or always solved stand in buckets of their own, since a group of equal rewards
teaches GRPO nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from elastic.contracts.params.bucket import ALWAYS, NEVER, BucketParams
from elastic.contracts.sources import NearDuplicates
from elastic.data.near_duplicates import similar_pairs
from elastic.data.wording import wording_of
from elastic.seeding import stream_seed

UNGRADED = "ungraded"
_STRATUM = ["source", "bucket"]


def _bucket(params: BucketParams) -> pl.Expr:
    """Name of the bucket of `pass_rate`; null where there is none."""
    rate = pl.col("pass_rate")
    name = pl.when(rate == 0).then(pl.lit(NEVER)).when(rate == 1).then(pl.lit(ALWAYS))
    for bucket, edge in reversed(params.edges.items()):
        name = name.when(rate > edge).then(pl.lit(bucket))
    return name.otherwise(pl.lit(None, dtype=pl.String))


def pass_rates(verdicts: pl.DataFrame, params: BucketParams) -> pl.DataFrame:
    """The frame PassRates of all problems, unfiltered, in the order of their ids.

    Args:
        verdicts: `problem_id`, `source` and `verdict`, one row a trace. An error is no sample; everything but
            `correct` counts as not correct.
        params: edges and what is kept.
    """
    said, rates = pl.col("verdict"), params.rates
    within = pl.col("pass_rate").is_between(rates.low, rates.high, closed=rates.closed)
    return (
        verdicts.group_by("problem_id", "source")
        .agg(
            samples=pl.len().cast(pl.Int64),
            graded=(said != "error").sum().cast(pl.Int64),
            correct=(said == "correct").sum().cast(pl.Int64),
        )
        .sort("problem_id")
        .with_columns(pass_rate=pl.when(pl.col("graded") > 0).then(pl.col("correct") / pl.col("graded")))
        .with_columns(bucket=_bucket(params))
        .with_columns(kept=(pl.col("bucket").is_in(params.keep) & within).fill_null(False))
    )


def _with_draws(frame: pl.DataFrame, seed: int, name: str) -> pl.DataFrame:
    """Add `drawn`, a number that depends on the seed and the problem alone."""
    drawn = [stream_seed(seed, name, problem) for problem in frame["problem_id"]]
    return frame.with_columns(pl.Series("drawn", drawn, dtype=pl.UInt64))


def training_order(rates: pl.DataFrame, params: BucketParams) -> pl.DataFrame:
    """Kept problems with their `rank` from 0 on: shuffled, or by pass rate with equals shuffled.

    Args:
        rates: a frame PassRates.
        params: order and seed.
    """
    keys = {"shuffled": [], "easy_first": [-pl.col("pass_rate")], "hard_first": [pl.col("pass_rate")]}[params.order]
    ordered = _with_draws(rates.filter("kept"), params.seed, "order").sort(*keys, "drawn")
    return ordered.drop("drawn").with_row_index("rank").with_columns(pl.col("rank").cast(pl.Int64))


def _quotas(sizes: dict[tuple[str, str], int], wanted: int) -> dict[tuple[str, str], int]:
    """`wanted` places in the shares of `sizes`, by largest remainders."""
    total = sum(sizes.values())
    quotas = {stratum: wanted * size // total for stratum, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda stratum: (-(wanted * sizes[stratum] % total), stratum))
    for stratum in by_remainder[: wanted - sum(quotas.values())]:
        quotas[stratum] += 1
    return quotas


def near_groups(questions: Sequence[str], rule: NearDuplicates | None) -> list[int]:
    """A number a question, equal for near duplicates and for near duplicates of near duplicates.

    Args:
        questions: different problems.
        rule: when two are near duplicates; without one, none are.
    """
    leader = list(range(len(questions)))

    def lead(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    if rule is not None:
        for pair in similar_pairs([wording_of(question).words for question in questions], [rule]):
            first, second = sorted((lead(pair.one), lead(pair.other)))
            leader[second] = first
    return [lead(number) for number in range(len(questions))]


def validation_slice(kept: pl.DataFrame, params: BucketParams) -> set[str]:
    """Ids of at most `params.validation.problems` problems, in the shares that source and bucket have of `kept`.

    Near duplicates go together: a group is taken whole or not at all, and one that does not fit into what is left of
    its shares trains. Where groups leave a share unfilled, other shares fill the slice up.

    Args:
        kept: `problem_id`, `source`, `bucket` and `group`, equal for near duplicates.
        params: size and seed.
    """
    drawn = _with_draws(kept, params.seed, "validation").sort("drawn")
    rows = drawn.select("group", "problem_id", *_STRATUM).rows()
    groups: dict[int, list[tuple[str, tuple[str, str]]]] = {}
    for group, name, source, bucket in rows:
        groups.setdefault(group, []).append((name, (source, bucket)))
    wanted = params.validation.problems
    left = Counter(_quotas(Counter((source, bucket) for *_, source, bucket in rows), wanted))
    taken: set[str] = set()
    passed_over = []
    for members in groups.values():
        needs = Counter(stratum for _, stratum in members)
        if needs <= left:
            left -= needs
            taken |= {name for name, _ in members}
        else:
            passed_over.append(members)
    for members in passed_over:
        if len(taken) + len(members) <= wanted:
            taken |= {name for name, _ in members}
    return taken


def histogram(rates: pl.DataFrame, params: BucketParams) -> dict[str, int]:
    """Problems by bucket, those without a graded trace as `ungraded`."""
    counts = dict(rates["bucket"].fill_null(UNGRADED).value_counts().iter_rows())
    return {name: counts.get(name, 0) for name in (*params.buckets, UNGRADED)}
