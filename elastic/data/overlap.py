"""Contamination: problems that stand in taught data and in an evaluation set, found by their normalised text.

The keys are made again from the questions, so an id that was written wrong hides nothing.
"""

from __future__ import annotations

import polars as pl

from elastic.contracts.records import Overlap
from elastic.data.normalise import normalise_question


def _keyed(frames: list[pl.DataFrame]) -> pl.DataFrame:
    rows = pl.concat([frame.select("split", "source", "problem_id", "question") for frame in frames])
    return rows.with_columns(key=pl.Series([normalise_question(q) for q in rows["question"]], dtype=pl.String))


def find_overlaps(taught: list[pl.DataFrame], evaluated: list[pl.DataFrame]) -> list[Overlap]:
    """Every pair of a taught and an evaluated row with the same normalised question.

    Args:
        taught: frames Problems: teaching and training.
        evaluated: frames Problems: validation and test.
    """
    pairs = _keyed(taught).join(_keyed(evaluated), on="key", suffix="_met", maintain_order="left_right")
    return [
        Overlap(
            split=row["split"],
            source=row["source"],
            question=row["question"],
            met_split=row["split_met"],
            met_problem_id=row["problem_id_met"],
            met_source=row["source_met"],
        )
        for row in pairs.iter_rows(named=True)
    ]
