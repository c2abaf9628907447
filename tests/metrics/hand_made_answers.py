"""Answers by hand: the columns that the measures read, with defaults for what a test does not name."""

from __future__ import annotations

from typing import Any

import polars as pl

CELL_VALUES = {
    "run": "nested",
    "method": "separate",
    "setting": "",
    "think_budget": 8,
    "solution_budget": 8,
    "limit": None,
}
SCHEMA = {"think_budget": pl.Int64, "solution_budget": pl.Int64, "limit": pl.Int64}


def answers(*rows: dict[str, Any]) -> pl.DataFrame:
    """A frame of answers; every row names what it is about, at least `problem_id`."""
    defaults = {
        **CELL_VALUES, "sample": 0, "verdict": "correct", "n_think": 0, "n_solution": 1, "n_probe": 0, "finish": "eos",
        "think_text": "", "solution_text": "", "question": None,
    }  # fmt: skip
    return pl.DataFrame([defaults | row for row in rows], schema_overrides=SCHEMA, infer_schema_length=None)
