"""Frames of every contract from the columns that a test names; the others are filled, so a new one breaks no test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandera.polars as pa
import polars as pl

# What a column holds where a test does not say; nullable ones are null.
FILLED: dict[str, Any] = {
    "source": "world",
    "source_id": "0",
    "role": "training",
    "licence": "MIT",
    "domain": "math",
    "question": "1+1=?",
    "answer": "2",
    "answer_original": "2",
    "reason": "duplicate",
    "detail": "",
    "samples": 4,
    "graded": 4,
    "kept": True,
    "split": "validation",
    "model": "base",
    "method": "separate",
    "sample": 0,
    "prompt_ids": [1],
    "think_ids": [2],
    "solution_ids": [3],
    "n_think": 1,
    "n_solution": 1,
    "closed": "natural",
    "finish": "eos",
    "think_text": "",
    "solution_text": "",
    "gold": "2",
    "grader": "exact 1",
}


def filled(model: type[pa.DataFrameModel], rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """A frame with the columns of `model`, in their order and types; it is validated where it is written."""
    columns = model.to_schema().columns
    known = {name: None if column.nullable else FILLED.get(name) for name, column in columns.items()}
    whole = [{**known, **row} for row in rows]
    assert all(row.keys() == known.keys() for row in whole), f"a row has a column that is not in {model.__name__}"
    return pl.DataFrame(whole, schema={name: column.dtype.type for name, column in columns.items()})
