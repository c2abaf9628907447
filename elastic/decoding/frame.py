"""From sampled traces to the frame Traces: ids, counts and the text that people and graders read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl

from elastic.contracts.frames import StrictFrame, Traces
from elastic.decoding.plan import Sampled
from elastic.markers import Markers
from elastic.prompts import Prompter


def traces_frame(
    rows: Sequence[Sampled], prompter: Prompter, markers: Markers, *, split: str, model: str
) -> pl.DataFrame:
    """The rows as a frame, in their order; the text keeps every token but EOS and padding."""

    @cache  # Budgets share their thinking, and often their solution.
    def text(ids: tuple[int, ...]) -> str:
        return prompter.text(ids, markers)

    traces = [row.trace for row in rows]
    return pl.DataFrame(
        {
            "problem_id": [row.problem_id for row in rows],
            "split": [split] * len(rows),
            "model": [model] * len(rows),
            "method": [row.method for row in rows],
            "think_budget": [row.budget.think if row.budget else None for row in rows],
            "solution_budget": [row.budget.solution if row.budget else None for row in rows],
            "limit": [row.limit for row in rows],
            "sample": [row.sample for row in rows],
            "prompt_ids": [trace.prompt_ids for trace in traces],
            "think_ids": [trace.think_ids for trace in traces],
            "solution_ids": [trace.solution_ids for trace in traces],
            "n_think": [trace.n_think for trace in traces],
            "n_solution": [trace.n_solution for trace in traces],
            "closed": [trace.closed for trace in traces],
            "finish": [trace.finish for trace in traces],
            "think_text": [text(trace.think_ids) for trace in traces],
            "solution_text": [text(trace.solution_ids) for trace in traces],
        },
        schema=column_types(Traces),
    )


def column_types(model: type[StrictFrame]) -> dict[str, Any]:
    """The polars type of every column of a contract."""
    return {name: column.dtype.type for name, column in model.to_schema().columns.items()}
