"""Copies of one problem: which one stays, and what happens when their answers differ.

A copy has an equal normalised question; or, between sources that set a threshold for near duplicates, an equal wording,
or a similarity of at least the larger of both thresholds. The written rule: benchmarks come first, test before
validation; then the first source in the order of params keeps the problem; within a source, the smaller problem id.

Where copies disagree about the answer nobody knows which is right, so none is kept, with one exception: what a source
says never removes a problem from a set that ranks above it. Benchmarks rank above sources with the role `any`, those
above sources for training. Near duplicates with other answers are no disagreement: a word may make another problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from elastic.contracts.sources import NearDuplicates
from elastic.data.ledger import ANY_ROLE, BENCHMARK, OPEN, reject
from elastic.data.near_duplicates import Pair, similar_pairs
from elastic.data.wording import wording_of

RANK = pl.when(BENCHMARK).then(0).when(ANY_ROLE).then(1).otherwise(2)
# Disagreement that removes a problem from what may evaluate: among benchmarks, and among these and the rows to be cut.
AMONG_BENCHMARKS = pl.col("disputed") == 0
AMONG_EVALUATED = pl.col("disputed") <= 1

Same = Callable[[pl.DataFrame], list[bool]]


def mark_disagreement(ledger: pl.DataFrame, same: Same) -> pl.DataFrame:
    """Add `disputed`: the smallest rank at which the open copies of a problem disagree, null where they agree.

    Args:
        ledger: with problems whose golds were checked.
        same: whether `answer` equals `reference` in value by `policy`, one a row; `1/2` and `0.5` are no disagreement.
    """
    claims = (
        ledger.filter(OPEN & (pl.col("answer") != ""))
        .with_columns(rank=RANK)
        .with_columns(pl.col("answer", "policy").first().over("copy", order_by=["rank", "order"]).name.prefix("first_"))
        .select("copy", "rank", "answer", reference="first_answer", policy="first_policy")
        .unique(maintain_order=True)
    )
    doubtful = claims.filter(pl.col("answer") != pl.col("reference"))
    differing = doubtful.filter(~pl.Series(same(doubtful) if len(doubtful) else [], dtype=pl.Boolean))
    return ledger.join(
        differing.group_by("copy").agg(disputed=pl.col("rank").min()), on="copy", how="left", maintain_order="left"
    )


def reject_disputed(ledger: pl.DataFrame, rows: pl.Expr) -> pl.DataFrame:
    """Reject the open ones of `rows`, whose copies disagree, each with what the open copies say."""
    claim = pl.format("{}: {}", "source", "answer")
    claims = (
        ledger.filter(OPEN & pl.col("disputed").is_not_null())
        .group_by("copy")
        .agg(claims=claim.sort_by("order").unique(maintain_order=True).str.join("; "))
    )
    marked = ledger.join(claims, on="copy", how="left", maintain_order="left")
    return reject(marked, pl.col("disputed").is_not_null() & rows, "conflicting answers", pl.col("claims")).drop(
        "claims"
    )


def reject_copies(ledger: pl.DataFrame, rows: pl.Expr, *, within: list[str]) -> pl.DataFrame:
    """Reject open ones of `rows` that repeat an earlier open one with equal `within`.

    Args:
        ledger: the rows.
        rows: which are looked at.
        within: columns that make two rows copies of each other.
    """
    looked = OPEN & rows
    first = pl.col("order").filter(looked).min().over(within)
    keeper = pl.col("source").filter(looked).sort_by(pl.col("order").filter(looked)).first().over(within)
    return reject(ledger, rows & (pl.col("order") > first), "duplicate", pl.format("kept from {}", keeper))


def reject_near_duplicates(ledger: pl.DataFrame, rows: pl.Expr, rules: Mapping[str, NearDuplicates]) -> pl.DataFrame:
    """Reject open ones of `rows` that are near duplicates of one of them that stays; its copies are left as they are.

    Args:
        ledger: the rows.
        rows: which are looked at; sources without a rule are left out.
        rules: by source.
    """
    looked = (
        ledger.filter(OPEN & rows & pl.col("source").is_in(list(rules)))
        .sort(pl.col("order").min().over("source"), "problem_id")
        .select("order", "source", "problem_id", "copy", "question")
    )
    wordings = [wording_of(question).words for question in looked["question"]]
    texts = {words: number for number, words in enumerate(dict.fromkeys(wordings))}
    near: dict[int, list[tuple[int, Pair | None]]] = {number: [(number, None)] for number in texts.values()}
    for pair in similar_pairs(list(texts), [rules[source] for source in looked["source"].unique()]):
        near[pair.one].append((pair.other, pair))
        near[pair.other].append((pair.one, pair))
    kept: dict[int, list[dict[str, Any]]] = {number: [] for number in texts.values()}
    gone: list[tuple[int, str]] = []
    for words, row in zip(wordings, looked.iter_rows(named=True), strict=True):
        met = [
            f"{pair.similarity if pair else 1:.2f} of {other['problem_id']} of {other['source']}"
            for number, pair in near[texts[words]]
            for other in kept[number]
            if other["copy"] != row["copy"]
            and (pair is None or _counts(pair, rules[row["source"]], rules[other["source"]]))
        ]
        if met:
            gone.append((row["order"], met[0]))
        else:
            kept[texts[words]].append(row)
    marks = pl.DataFrame(gone, schema={"order": ledger.schema["order"], "met": pl.String}, orient="row")
    marked = ledger.join(marks, on="order", how="left", maintain_order="left")
    return reject(marked, pl.col("met").is_not_null(), "near duplicate", pl.col("met")).drop("met")


def _counts(pair: Pair, one: NearDuplicates, other: NearDuplicates) -> bool:
    """Whether a pair is near enough for both sources: the longer runs count, and the larger threshold."""
    return pair.words == max(one.words, other.words) and pair.similarity >= max(one.threshold, other.threshold)
