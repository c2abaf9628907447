"""What an evaluation leaves: answers, the thinking that they follow, and what it cost.

Long thinking stands once, in `Thinking`; an answer says how many of its tokens it was given. A *run* is one strategy
with its settings, as it is written on a command line (`fractured:depths=16,draws=4`); each run has files of its own, so
that a folder of them is read whole in one line and a new run is added without touching the others.
"""

from __future__ import annotations

import pandera.polars as pa
import polars as pl

from elastic.contracts.frames import CLOSED, FINISH, VERDICTS, StrictFrame

# The thinking of an answer: the row of Thinking with equal values here.
PATH = ["run", "setting", "problem_id", "sample"]
# What one row of a table is made of: answers that differ in problem, sample, depth and draw alone.
CELL = ["run", "method", "setting", "think_budget", "solution_budget", "limit"]


class Thinking(StrictFrame):
    """One thinking trace: the longest that any answer of its path was given; every answer's is a prefix of it.

    `opening` is how many of `think_ids` are an opening delimiter, which is not counted.
    """

    run: str
    setting: str
    problem_id: str
    sample: int = pa.Field(ge=0)
    prompt_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    think_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    opening: int = pa.Field(ge=0)
    think_text: str


class Solutions(StrictFrame):
    """One solution from a thinking trace or from a prefix of it, before it is graded.

    `model` thought; `solver` wrote the solution, and is the same model except under a component swap. `n_think` counts
    the thinking tokens that the solution was given, `n_forced` inserted tokens of all kinds, `n_probe` solution tokens
    of probes spent before. `depth` (from 1) and `draw` are null and 0 where a strategy has none. `logprob` is the mean
    log-probability of the solution's tokens, null where there are none. `solution_text` is all that follows the closing
    delimiter, a cue included: a cue can open the box that the solution fills; `solution_ids` are sampled ones alone.
    """

    run: str
    setting: str
    problem_id: str
    sample: int = pa.Field(ge=0)
    model: str
    solver: str
    method: str
    think_budget: int = pa.Field(ge=0, nullable=True)
    solution_budget: int = pa.Field(ge=1, nullable=True)
    limit: int = pa.Field(ge=1, nullable=True)
    depth: int = pa.Field(ge=1, nullable=True)
    draw: int = pa.Field(ge=0)
    n_think: int = pa.Field(ge=0)
    n_solution: int = pa.Field(ge=0)
    n_forced: int = pa.Field(ge=0)
    n_probe: int = pa.Field(ge=0)
    closed: str = pa.Field(isin=CLOSED)
    finish: str = pa.Field(isin=FINISH)
    logprob: float = pa.Field(le=0, nullable=True)
    solution_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    solution_text: str


class Answers(Solutions):
    """A solution and its verdict; the columns from `question` on are as in Scored."""

    question: str = pa.Field(nullable=True)
    gold: str
    policy: str = pa.Field(nullable=True)
    answer: str = pa.Field(nullable=True)
    found_by: str = pa.Field(nullable=True)
    verdict: str = pa.Field(isin=VERDICTS)
    pass_share: float = pa.Field(ge=0, le=1, nullable=True)
    grader: str


class Costs(StrictFrame):
    """What a run really spent on one problem, all its budgets, depths and samples together.

    `prefilled_tokens` are given tokens that the model read, a shared prefix once. `seconds` is how long the problem was
    in the engine, its batches one after the other; it depends on the machine and on what shared the batch.
    """

    run: str
    problem_id: str
    sampled_tokens: int = pa.Field(ge=0)
    prefilled_tokens: int = pa.Field(ge=0)
    seconds: float = pa.Field(ge=0)
