"""From the traces of a strategy to the frames Thinking and Solutions: what an evaluation keeps of them.

Long thinking stands once: all answers of one sample were given a prefix of its longest thinking.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import polars as pl

from elastic.contracts.evaluation import Solutions, Thinking
from elastic.decoding.frame import column_types
from elastic.decoding.plan import Sampled
from elastic.errors import DataError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.trace import Trace


def solutions_frames(
    rows: Sequence[Sampled], prompter: Prompter, markers: Markers, *, run: str, model: str, solver: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows as the frames Thinking, one row a path, and Solutions, in their order.

    Args:
        rows: what a strategy gave.
        prompter: turns ids into text.
        markers: delimiters and ends, which text leaves out.
        run: the strategy, as `Strategy.run`.
        model: what thought.
        solver: what wrote the solutions.

    Raises:
        DataError: a thinking is no prefix of the longest of its path.
    """

    @cache
    def text(ids: tuple[int, ...]) -> str:
        return prompter.text(ids, markers)

    longest: dict[tuple[str, str, int], Trace] = {}
    for row in rows:
        path = (row.setting, row.problem_id, row.sample)
        if path not in longest or len(row.trace.think_ids) > len(longest[path].think_ids):
            longest[path] = row.trace
    for row in rows:
        whole = longest[row.setting, row.problem_id, row.sample]
        if (
            whole.think_ids[: len(row.trace.think_ids)] != row.trace.think_ids
            or row.trace.prompt_ids != whole.prompt_ids
        ):
            raise DataError(
                "a thinking is no prefix of the longest one of its sample",
                where=f"run {run}, problem {row.problem_id}, sample {row.sample}",
                remedy="a strategy must name traces of different thinking by their setting: report this",
            )
    traces = [row.trace for row in rows]
    thinking = pl.DataFrame(
        {
            "run": [run] * len(longest),
            "setting": [setting for setting, _, _ in longest],
            "problem_id": [problem_id for _, problem_id, _ in longest],
            "sample": [sample for _, _, sample in longest],
            "prompt_ids": [trace.prompt_ids for trace in longest.values()],
            "think_ids": [trace.think_ids for trace in longest.values()],
            "opening": [trace.opening for trace in longest.values()],
            "think_text": [text(trace.think_ids) for trace in longest.values()],
        },
        schema=column_types(Thinking),
    )
    solutions = pl.DataFrame(
        {
            "run": [run] * len(rows),
            "setting": [row.setting for row in rows],
            "problem_id": [row.problem_id for row in rows],
            "sample": [row.sample for row in rows],
            "model": [model] * len(rows),
            "solver": [solver] * len(rows),
            "method": [row.method for row in rows],
            "think_budget": [row.budget.think if row.budget else None for row in rows],
            "solution_budget": [row.budget.solution if row.budget else None for row in rows],
            "limit": [row.limit for row in rows],
            "depth": [row.depth for row in rows],
            "draw": [row.draw for row in rows],
            "n_think": [trace.n_think for trace in traces],
            "n_solution": [trace.n_solution for trace in traces],
            "n_forced": [trace.n_forced for trace in traces],
            "n_probe": [row.probes for row in rows],
            "closed": [trace.closed for trace in traces],
            "finish": [trace.finish for trace in traces],
            "logprob": [row.logprob for row in rows],
            "solution_ids": [trace.solution_ids for trace in traces],
            "solution_text": [text((*trace.cue_ids, *trace.solution_ids)) for trace in traces],
        },
        schema=column_types(Solutions),
    )
    return thinking, solutions
