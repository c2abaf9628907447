"""The rollouts of training: traces as their slots ask for, and the ids and loss mask that the trainer sees of them.

E1, section 3.2: thinking up to t*, a forced delimiter, a solution up to s*. Ids go to the trainer as they were sampled;
nothing is decoded and encoded again. The forced delimiter is not the policy's choice, so the mask takes it out of the
loss. `faithful` leaves it in, as the published code does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from elastic.decoding.prefixes import cut_solution, holds_the_end, solve_all, solve_prefix
from elastic.engines.protocol import Engine, Job, Sampling
from elastic.trace import Trace
from elastic.training.schedules import Slot


@dataclass(frozen=True)
class TrainingRow:
    """What the trainer sees of a trace: completion ids and their loss mask, both of shape (C,)."""

    completion_ids: list[int]
    loss_mask: list[int]


@dataclass(frozen=True)
class Wanted:
    """One rollout wanted: its rendered prompt (P,), its slot and its random stream.

    Rollouts of one prompt with the same stream share their thinking.
    """

    prompt_ids: tuple[int, ...]
    slot: Slot
    stream: int


@dataclass(frozen=True)
class Rolled:
    """Traces, one a rollout wanted, and how many tokens were drawn for all of them."""

    traces: list[Trace]
    drawn: int


def roll_out(engine: Engine, wanted: Sequence[Wanted], temperature: float) -> Rolled:
    """One trace a rollout wanted, with full support (top-p or top-k would bias the importance ratio).

    Thinking that several rollouts share is sampled once, up to the largest of their budgets.
    """
    sampling = Sampling(temperature=temperature)
    rows_of = Counter(row.stream for row in wanted)
    shared = [row for row in wanted if rows_of[row.stream] > 1]
    jobs = {index: _job(row) for index, row in enumerate(wanted) if rows_of[row.stream] == 1}
    traces = dict(zip(jobs, engine.generate(list(jobs.values()), sampling), strict=True)) if jobs else {}
    drawn = sum(trace.n_sampled for trace in traces.values())
    if shared:
        forked, cost = _fork(engine, shared, sampling)
        drawn += cost
        rest = iter(forked)
        traces |= {index: next(rest) for index in range(len(wanted)) if index not in jobs}
    return Rolled([traces[index] for index in range(len(wanted))], drawn)


def _job(row: Wanted) -> Job:
    if row.slot.whole:
        return Job.plain(row.prompt_ids, row.slot.budget.total, row.stream)
    return Job.separate(row.prompt_ids, row.slot.budget, row.stream)


def _fork(engine: Engine, rows: Sequence[Wanted], sampling: Sampling) -> tuple[list[Trace], int]:
    """Traces of rollouts that share thinking: it is sampled once a stream, then one solution a budget."""
    longest: dict[int, Wanted] = {}
    for row in rows:
        known = longest.get(row.stream)
        if known is None or row.slot.budget.think > known.slot.budget.think:
            longest[row.stream] = row
    jobs = [Job.think_only(row.prompt_ids, row.slot.budget.think, row.stream) for row in longest.values()]
    thinking = dict(zip(longest, engine.generate(jobs, sampling), strict=True))
    # A solution follows a prefix of the thinking, or all of it (None): budgets that hold its end share one.
    solutions: dict[tuple[int, int | None], Job] = {}
    for row in rows:
        trace, budget = thinking[row.stream], row.slot.budget
        if not holds_the_end(budget.think, trace):
            solutions[row.stream, budget.think] = solve_prefix(trace, budget.think, budget.solution, row.stream)
        elif trace.closed == "natural":
            solutions[row.stream, None] = solve_all(trace, budget.solution, row.stream)
    solved = dict(zip(solutions, engine.generate(list(solutions.values()), sampling), strict=True))
    drawn = sum(trace.n_sampled for trace in thinking.values()) + sum(trace.n_solution for trace in solved.values())
    traces = []
    for row in rows:
        trace, budget = thinking[row.stream], row.slot.budget
        if not holds_the_end(budget.think, trace):
            trace = solved[row.stream, budget.think]
        elif trace.closed == "natural":
            trace = cut_solution(solved[row.stream, None], budget.solution)
        trace.check(budget)
        traces.append(trace)
    return traces, drawn


def training_row(trace: Trace, close_id: int, *, faithful: bool) -> TrainingRow:
    """Completion ids and loss mask of one trace.

    A trace that sampled EOS inside its thinking ends there, as in the published training code (which masks whatever
    follows the first EOS).
    """
    ids = trace.completion_ids(close_id)
    mask = [1] * len(ids)
    if trace.closed == "forced" and not faithful:
        mask[len(trace.think_ids)] = 0
    return TrainingRow(ids, mask)
