"""Copies of one problem: which one stays, and what happens when their answers differ.

The written rule: a copy is an equal normalised question; the first source in the order of params keeps the problem.
Where copies disagree about the answer nobody knows which is right, so none is kept, with one exception: what a source
with the role `training` says never removes a problem from a validation or test set (elastic/data/splits.py).
"""

from __future__ import annotations

import polars as pl

from elastic.data.ledger import OPEN, TRAINING_ROLE, Same, reject


def mark_disagreement(ledger: pl.DataFrame, same: Same) -> pl.DataFrame:
    """Add `disputed` and `disputed_any`: whether the open copies of a problem disagree, all or those of role `any`.

    Args:
        ledger: with problems whose golds were checked.
        same: whether two answers are equal in value, pairwise; `1/2` and `0.5` are no disagreement.
    """
    claims = (
        ledger.filter(OPEN)
        .with_columns(reference=pl.col("answer").first().over("problem_id", order_by=[TRAINING_ROLE, "order"]))
        .select("problem_id", "role", "answer", "reference")
        .unique(maintain_order=True)
    )
    doubtful = claims.filter(pl.col("answer") != pl.col("reference"))
    equal = same(doubtful["answer"].to_list(), doubtful["reference"].to_list()) if len(doubtful) else []
    differing = doubtful.filter(~pl.Series(equal, dtype=pl.Boolean))
    return ledger.with_columns(
        disputed=pl.col("problem_id").is_in(differing["problem_id"].implode()),
        disputed_any=pl.col("problem_id").is_in(differing.filter(~TRAINING_ROLE)["problem_id"].implode()),
    )


def reject_disputed(ledger: pl.DataFrame) -> pl.DataFrame:
    """Reject every open copy of a problem whose copies disagree, each with what the copies say."""
    claim = pl.format("{}: {}", "source", "answer")
    claims = (
        ledger.filter(OPEN & pl.col("disputed"))
        .group_by("problem_id")
        .agg(claims=claim.sort_by("order").unique(maintain_order=True).str.join("; "))
    )
    marked = ledger.join(claims, on="problem_id", how="left", maintain_order="left")
    return reject(marked, pl.col("claims").is_not_null(), "conflicting answers", pl.col("claims")).drop("claims")


def reject_copies(ledger: pl.DataFrame, *, within: list[str]) -> pl.DataFrame:
    """Reject open rows that repeat an earlier open row with equal `within`.

    Args:
        ledger: the rows.
        within: columns that make two rows copies of each other.
    """
    first = pl.col("order").filter(OPEN).min().over(within)
    keeper = pl.col("source").filter(OPEN).sort_by(pl.col("order").filter(OPEN)).first().over(within)
    return reject(ledger, pl.col("order") > first, "duplicate", pl.format("kept from {}", keeper))
