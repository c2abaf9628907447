"""What curation did, in counts: the record Curation from a decided ledger, and the table that a person reads."""

from __future__ import annotations

from collections import Counter

import polars as pl

from elastic.contracts.frames import EVALUATED_SPLITS
from elastic.contracts.records import Contamination, Curation, Departure, Overlap
from elastic.data.ledger import TRAINING_ROLE
from elastic.data.splits import HELD_OUT, turned_away


def counts(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Rows by the value of a column, nulls left out."""
    return dict(frame[column].drop_nulls().value_counts().sort(column).iter_rows())


def met_an_evaluation_set(ledger: pl.DataFrame) -> pl.DataFrame:
    """The rows that were turned away because of what they met, for the comparison that lists it."""
    reasons = [reason for split in EVALUATED_SPLITS for reason in turned_away(split)]
    return ledger.filter(pl.col("reason").is_in(reasons)).with_columns(split=pl.lit("training"))


def _departures(ledger: pl.DataFrame, removed: list[Overlap]) -> list[Departure]:
    """What does not train because it validates: rows that meet a benchmark's, and rows that were held out."""
    roles = dict(ledger.select("source", "role").unique().iter_rows())
    met = {
        (overlap.source, overlap.question): overlap.met_source
        for overlap in reversed(removed)
        if overlap.met_split == "validation" and roles[overlap.met_source] != "any"
    }
    held_out = ledger.filter(TRAINING_ROLE & ((pl.col("split") == "validation") | (pl.col("reason") == HELD_OUT)))
    rows = Counter((source, validates) for (source, _), validates in met.items())
    rows.update((source, source) for source in held_out["source"])
    return [
        Departure(source=source, validates=validates, rows=count) for (source, validates), count in sorted(rows.items())
    ]


def curation_of(
    ledger: pl.DataFrame, graders: dict[str, str], unfit: dict[str, dict[str, int]], contamination: Contamination
) -> Curation:
    """The record of a ledger in which every row is decided.

    Args:
        ledger: after `cut_splits`.
        graders: name and version by domain.
        unfit: what `reject_unfit` counted among benchmarks.
        contamination: taught rows against the evaluation sets, as written.
    """
    sources = ledger["source"].unique().sort()
    of = {source: ledger.filter(source=source) for source in sources}
    code = ledger.filter(pl.col("split").is_not_null() & (pl.col("domain") == "code"))
    return Curation(
        grader=graders,
        collected=counts(ledger, "source"),
        rows={source: counts(rows, "split") for source, rows in of.items()},
        rejected=counts(ledger, "reason"),
        rejected_by_source={source: counts(rows, "reason") for source, rows in of.items()},
        unfit=unfit,
        unchecked=counts(code.filter(pl.col("reference").is_null()), "source"),
        contamination=contamination,
        departures=_departures(ledger, contamination.removed),
    )


def table(curation: Curation) -> str:
    """What became of every row, by source."""
    rows = [
        (source, outcome, count)
        for source, collected in curation.collected.items()
        for outcome, count in (
            ("collected", collected),
            *((f"kept: {split}", count) for split, count in curation.rows[source].items()),
            *((f"rejected: {reason}", count) for reason, count in curation.rejected_by_source[source].items()),
        )
    ]
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_rows=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        fmt_str_lengths=100,
        tbl_width_chars=200,
    ):
        return str(pl.DataFrame(rows, schema=["source", "outcome", "rows"], orient="row"))
