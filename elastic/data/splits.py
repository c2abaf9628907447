"""Cutting the splits by a hash of the normalised problem, so that adding rows moves no problem to another split.

A problem's id is a hash: read as a number it is a point of [0, 1), and the params cut that interval once. Points below
`held_out_share` are held out of teaching; of the rest, the first `training_share` may train, and the others may teach.
Among the held out, odd ids are the validation half and even ids the test half, and each set is the smallest ids of its
half: a growing pool may push a problem out of a set, never into the other one, nor into teaching.

Only sources with the role `any` are cut this way. What stands in validation and test depends on them alone. Sources
with the role `training` go to training, in front of all others, except for problems that stand in an evaluation set.
A problem of theirs may have a held-out point: it stands in no evaluation set, and can enter none.
"""

from __future__ import annotations

import polars as pl

from elastic.contracts.frames import EVALUATED_SPLITS
from elastic.contracts.params.curate import CurateParams
from elastic.data.duplicates import reject_copies, reject_disputed
from elastic.data.ledger import OPEN, TRAINING_ROLE, place, reject
from elastic.errors import DataError

OVERLAP = "stands in an evaluation set"
_HALVES = {"validation": 1, "test": 0}


def _points(ledger: pl.DataFrame) -> pl.Series:
    """Each id as a point of [0, 1)."""
    return pl.Series([int(name, 16) / 16**16 for name in ledger["problem_id"]], dtype=pl.Float64)


def _with_regions(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    training_below = params.held_out_share + (1 - params.held_out_share) * params.training_share
    point = _points(ledger)
    return ledger.with_columns(
        region=pl.when(point < params.held_out_share)
        .then(pl.lit("held out"))
        .when(point < training_below)
        .then(pl.lit("training"))
        .otherwise(pl.lit("teaching")),
        half=pl.Series([int(name[-1], 16) % 2 for name in ledger["problem_id"]], dtype=pl.Int64),
    )


def _in(region: str) -> pl.Expr:
    return ~TRAINING_ROLE & (pl.col("region") == region)


def _draw_evaluation(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Place the validation and test sets, and reject every other copy of their problems."""
    pool = (
        ledger.filter(OPEN & _in("held out") & ~pl.col("disputed_any"))
        .unique("problem_id", keep="first", maintain_order=True)
        .sort("problem_id")
    )
    for split in EVALUATED_SPLITS:
        half = pool.filter(pl.col("half") == _HALVES[split])
        wanted: int = getattr(params, split)
        if len(half) < wanted:
            raise DataError(
                f"{split} needs {wanted} problems, but its half of the held-out ones has only {len(half)}",
                where=f"curate.{split}",
                remedy="collect more problems from sources with the role `any`, raise curate.held_out_share, or lower "
                f"curate.{split}",
            )
        ledger = place(ledger, half.head(wanted)["order"], split)
    evaluated = ledger.filter(pl.col("split").is_not_null()).select(
        "problem_id",
        met=pl.format("{} {} of {} (answer {})", "split", "problem_id", "source", "answer"),
        keeper="source",
    )
    ledger = ledger.join(evaluated, on="problem_id", how="left", maintain_order="left")
    met = pl.col("met").is_not_null()
    ledger = reject(ledger, met & TRAINING_ROLE, OVERLAP, pl.col("met"))
    ledger = reject(ledger, met, "duplicate", pl.format("kept from {}", "keeper"))
    return ledger.drop("met", "keeper")


def _draw_teaching(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Place the teaching set: demonstrations in the order of ids, up to the limit."""
    complete = pl.col("thinking").is_not_null() & pl.col("solution").is_not_null()
    ledger = reject(ledger, _in("teaching") & ~complete, "no demonstration", pl.lit("a teaching row needs one"))
    claim = pl.col("order").filter(OPEN & TRAINING_ROLE).min().over("problem_id")
    ledger = reject(
        ledger, _in("teaching") & (pl.col("order") > claim), "duplicate", pl.lit("kept by a source for training")
    )
    pool = ledger.filter(OPEN & _in("teaching")).sort("problem_id")
    ledger = place(ledger, pool.head(params.teaching)["order"], "teaching")
    ledger = reject(
        ledger, _in("teaching"), "over the limit of teaching", pl.lit(f"curate.teaching is {params.teaching}")
    )
    taught = (pl.col("split") == "teaching").any().over("problem_id")
    return reject(ledger, taught, "duplicate", pl.lit("stands in teaching"))


def _draw_training(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Place the training set: problems of sources for training first, then the others, each in the order of ids."""
    wanted = ledger.filter(OPEN).with_columns(asked=TRAINING_ROLE.any().over("problem_id"))
    ledger = reject_copies(ledger, within=["problem_id"])
    pool = wanted.unique("problem_id", keep="first", maintain_order=True).sort(~pl.col("asked"), "problem_id")
    ledger = place(ledger, pool.head(params.training)["order"], "training")
    return reject(ledger, pl.lit(True), "over the limit of training", pl.lit(f"curate.training is {params.training}"))


def cut_splits(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Decide about every open row.

    Args:
        ledger: with golds checked and disagreement marked.
        params: shares and sizes.

    Raises:
        DataError: too few problems for validation or test, or none for teaching or training.
    """
    ledger = _draw_evaluation(_with_regions(ledger, params), params)
    ledger = reject_copies(reject_disputed(ledger), within=["problem_id", "role"])
    ledger = reject(ledger, _in("held out"), "held out, not drawn", pl.lit("no set needs it, and no model may see it"))
    ledger = _draw_training(_draw_teaching(ledger, params), params)
    for split, remedy in (
        ("teaching", "collect rows with `thinking` and `solution`, or set curate.teaching to 0 for a base from a hub"),
        ("training", "collect more problems, or raise curate.training_share"),
    ):
        if getattr(params, split) and ledger.filter(pl.col("split") == split).is_empty():
            raise DataError("no problem is left for it", where=f"curate.{split}", remedy=remedy)
    return ledger.drop("region", "half", "disputed", "disputed_any")
