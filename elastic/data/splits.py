"""Cutting the splits: benchmarks whole, the rest by a hash of the problem, so that adding rows moves none of it.

Benchmarks, sources with the role `test` or `validation`, go whole into that split; several may stand in one, each by
its source. What the taught splits have of them, in the same text or in most of it, is turned away
(elastic/data/overlap.py): whatever evaluates does not train.

Sources with the role `any` are cut by hash. A problem's id is a hash: read as a number it is a point of [0, 1), and the
params cut that interval once. Points below `held_out_share` are held out of teaching; of the rest, the first
`training_share` may train, and the others may teach. Among the held out, odd ids are the validation half and even ids
the test half. A set is drawn from its half in proportion to source and level, from each the smallest ids: a growing
pool may push a problem out of a set, never into the other one, nor into teaching. Near duplicates are taken out before,
so that no set shares one with another split.

Sources with the role `teaching` teach the base and nothing else. Their held-out points are turned away like those of
the role `any`: a family of problems that was taught and never trained on, from which transfer is measured.

Sources with the role `training` go to training, in front of all others. A problem of theirs may have a held-out point:
it stands in no evaluation set, and can enter none; unless the validation set is asked to be drawn from them, which
holds their validation half out of training.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.contracts.frames import EVALUATED_SPLITS
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.sources import NearDuplicates
from elastic.data.duplicates import (
    AMONG_BENCHMARKS,
    AMONG_EVALUATED,
    reject_copies,
    reject_disputed,
    reject_near_duplicates,
)
from elastic.data.ledger import ANY_ROLE, BENCHMARK, OPEN, TEACHING_ROLE, TRAINING_ROLE, place, reject
from elastic.data.overlap import EQUAL, SAME_TEXT, find_hits
from elastic.errors import DataError

Rules = Mapping[str, NearDuplicates]

HELD_OUT = "held out, not drawn"
# Test before validation: of a problem that stands in both, test keeps it.
_BY_PRECEDENCE = ("test", "validation")
_HALVES = {"validation": 1, "test": 0}
_STRATUM = ["source", "level"]


def turned_away(split: str) -> list[str]:
    """Reasons of rows that may not be taught because of what stands in an evaluation split."""
    return [f"stands in {split}", f"overlaps {split}"]


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
    return ANY_ROLE & (pl.col("region") == region)


_MAY_TEACH = _in("teaching") | (TEACHING_ROLE & (pl.col("region") != "held out"))
_UNDRAWN = (ANY_ROLE | TEACHING_ROLE) & (pl.col("region") == "held out")


def _held_out_for(split: str, params: CurateParams) -> pl.Expr:
    """Rows that the set of an evaluation split is drawn from."""
    role = params.validation_from if split == "validation" else "any"
    return (pl.col("role") == role) & (pl.col("region") == "held out") & (pl.col("half") == _HALVES[split])


def _turn_away(ledger: pl.DataFrame, split: str, drawn: pl.Expr, params: CurateParams, rules: Rules) -> pl.DataFrame:
    """Reject open rows that overlap with the `drawn` rows of an evaluation split, each with the nearest one."""
    evaluated = ledger.filter((pl.col("split") == split) & drawn).rows(named=True)
    looked = ledger.filter(OPEN).select("order", "question").rows()
    hits = find_hits(
        [question for _, question in looked],
        [row["question"] for row in evaluated],
        [rules.get(row["source"]) for row in evaluated],
        params.overlap_share,
    )
    met: dict[int, tuple[int, str, str, str]] = {}
    for one in hits:
        row = evaluated[one.evaluated]
        said = f"{split} {row['problem_id']} of {row['source']} (answer {row['answer']})"
        how = "" if one.measure == SAME_TEXT else f", {one.measure} {one.share:.2f}"
        order = looked[one.taught][0]
        met.setdefault(order, (order, one.measure, said + how, row["source"]))
    marks = pl.DataFrame(
        list(met.values()),
        schema={"order": ledger.schema["order"], "measure": pl.String, "met": pl.String, "keeper": pl.String},
        orient="row",
    )
    ledger = ledger.join(marks, on="order", how="left", maintain_order="left")
    stands, overlaps = turned_away(split)
    equal, hit = pl.col("measure").is_in(EQUAL), pl.col("met").is_not_null()
    ledger = reject(ledger, hit & equal & ~TRAINING_ROLE, "duplicate", pl.format("kept from {}", "keeper"))
    ledger = reject(ledger, hit & equal, stands, pl.col("met"))
    ledger = reject(ledger, hit, overlaps, pl.col("met"))
    return ledger.drop("measure", "met", "keeper")


def _place_benchmarks(ledger: pl.DataFrame, params: CurateParams, rules: Rules) -> pl.DataFrame:
    """Place the rows of benchmarks, and turn everything else away that overlaps with them."""
    ledger = reject_disputed(ledger, BENCHMARK & AMONG_BENCHMARKS)
    for split in _BY_PRECEDENCE:
        own = pl.col("role") == split
        ledger = reject_copies(ledger, own, within=["copy"])
        ledger = place(ledger, ledger.filter(OPEN & own)["order"], split)
        ledger = _turn_away(ledger, split, BENCHMARK, params, rules)
    return ledger


def _quotas(pool: pl.DataFrame, wanted: int) -> pl.DataFrame:
    """How many problems of each stratum a set of `wanted` gets: its share, by largest remainders."""
    share = pl.col("len") * wanted / max(len(pool), 1)
    strata = pool.group_by(_STRATUM).len().sort(_STRATUM, nulls_last=True).with_columns(quota=share.floor(), left=share)
    missing = wanted - int(strata["quota"].sum())
    largest = (pl.col("left") - pl.col("quota")).rank("ordinal", descending=True)
    return strata.select(*_STRATUM, quota=pl.col("quota").cast(pl.Int64) + (largest <= missing))


def _draw_sets(ledger: pl.DataFrame, params: CurateParams, rules: Rules) -> pl.DataFrame:
    """Draw the validation and test sets out of the held-out problems, and turn away what overlaps with them."""
    may_evaluate = ANY_ROLE | (pl.col("role") == params.validation_from)
    ledger = reject_near_duplicates(ledger, may_evaluate, rules)
    for split in EVALUATED_SPLITS:
        wanted: int = getattr(params, split)
        pool = (
            ledger.filter(OPEN & _held_out_for(split, params) & ~AMONG_EVALUATED.fill_null(False))
            .unique("copy", keep="first", maintain_order=True)
            .sort("problem_id")
        )
        if len(pool) < wanted:
            role = params.validation_from if split == "validation" else "any"
            raise DataError(
                f"{split} needs {wanted} problems, but its half of the held-out ones has only {len(pool)}",
                where=f"curate.{split}",
                remedy=f"collect more problems from sources with the role `{role}`, raise curate.held_out_share, or "
                f"lower curate.{split} (to 0 where benchmarks make the split)",
            )
        drawn = (
            pool.join(_quotas(pool, wanted), on=_STRATUM, nulls_equal=True, maintain_order="left")
            .with_columns(place=pl.int_range(pl.len()).over(_STRATUM))
            .filter(pl.col("place") < pl.col("quota"))
        )
        ledger = place(ledger, drawn["order"], split)
    for split in EVALUATED_SPLITS:
        ledger = _turn_away(ledger, split, ~BENCHMARK, params, rules)
    return ledger


def _draw_teaching(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Place the teaching set: demonstrations in the order of ids, up to the limit."""
    complete = pl.col("thinking").is_not_null() & pl.col("solution").is_not_null()
    ledger = reject(ledger, _MAY_TEACH & ~complete, "no demonstration", pl.lit("a teaching row needs one"))
    claim = pl.col("order").filter(OPEN & TRAINING_ROLE).min().over("copy")
    ledger = reject(
        ledger, _MAY_TEACH & (pl.col("order") > claim), "duplicate", pl.lit("kept by a source for training")
    )
    pool = ledger.filter(OPEN & _MAY_TEACH).sort("problem_id")
    ledger = place(ledger, pool.head(params.teaching)["order"], "teaching")
    ledger = reject(ledger, _MAY_TEACH, "over the limit of teaching", pl.lit(f"curate.teaching is {params.teaching}"))
    taught = (pl.col("split") == "teaching").any().over("copy")
    return reject(ledger, taught, "duplicate", pl.lit("stands in teaching"))


def _draw_training(ledger: pl.DataFrame, params: CurateParams) -> pl.DataFrame:
    """Place the training set: problems of sources for training first, then the others, each in the order of ids."""
    wanted = ledger.filter(OPEN).with_columns(asked=TRAINING_ROLE.any().over("copy"))
    ledger = reject_copies(ledger, pl.lit(True), within=["copy"])
    pool = wanted.unique("copy", keep="first", maintain_order=True).sort(~pl.col("asked"), "problem_id")
    ledger = place(ledger, pool.head(params.training)["order"], "training")
    return reject(ledger, pl.lit(True), "over the limit of training", pl.lit(f"curate.training is {params.training}"))


def _check_filled(ledger: pl.DataFrame, params: CurateParams) -> None:
    role = "a source with the role `{0}`, or let curate.{0} be more than 0"
    remedies = {
        "teaching": "collect rows with `thinking` and `solution`, or set curate.teaching to 0 for a base from a hub",
        "training": "collect more problems, or raise curate.training_share",
        **{split: f"collect {role.format(split)}" for split in EVALUATED_SPLITS},
    }
    if not params.teaching:
        del remedies["teaching"]
    for split, remedy in remedies.items():
        if ledger.filter(pl.col("split") == split).is_empty():
            raise DataError("no problem is left for it", where=f"curate.{split}", remedy=remedy)


def cut_splits(ledger: pl.DataFrame, params: CurateParams, rules: Rules) -> pl.DataFrame:
    """Decide about every open row.

    Args:
        ledger: with golds checked and disagreement marked.
        params: shares and sizes.
        rules: when two questions are near duplicates, by source; without one, equal texts alone are.

    Raises:
        DataError: too few problems for validation or test, or none for a split.
    """
    ledger = _with_regions(ledger, params)
    ledger = _draw_sets(_place_benchmarks(ledger, params, rules), params, rules)
    ledger = reject_copies(reject_disputed(ledger, pl.lit(True)), pl.lit(True), within=["copy", "role"])
    undrawn = _UNDRAWN | _held_out_for("validation", params)
    ledger = reject(ledger, undrawn, HELD_OUT, pl.lit("no set needs it, and no model may see it"))
    ledger = reject_near_duplicates(ledger, pl.lit(True), rules)
    ledger = _draw_training(_draw_teaching(ledger, params), params)
    _check_filled(ledger, params)
    return ledger.drop("region", "half", "copy", "disputed")
