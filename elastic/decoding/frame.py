"""From sampled traces to the frame Traces: ids, counts and the text that people and graders read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import polars as pl

from elastic.contracts.frames import Traces
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

    types = {name: column.dtype.type for name, column in Traces.to_schema().columns.items()}
    return pl.DataFrame(
        [
            (
                row.problem_id,
                split,
                model,
                row.method,
                row.budget.think if row.budget else None,
                row.budget.solution if row.budget else None,
                row.limit,
                row.sample,
                row.trace.prompt_ids,
                row.trace.think_ids,
                row.trace.solution_ids,
                row.trace.n_think,
                row.trace.n_solution,
                row.trace.closed,
                row.trace.finish,
                text(row.trace.think_ids),
                text(row.trace.solution_ids),
            )
            for row in rows
        ],
        schema=types,
        orient="row",
    )
