"""The rollouts of training: traces as their slots ask for, and the ids and loss mask that the trainer sees of them.

E1, section 3.2: thinking up to t*, a forced delimiter, a solution up to s*. Ids go to the trainer as they were sampled;
nothing is decoded and encoded again. The forced delimiter is not the policy's choice, so the mask takes it out of the
loss, and it has no log-probability. `faithful` leaves it in the loss, as the published code does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from elastic.decoding.prefixes import cut_solution, holds_the_end, solve_all, solve_prefix
from elastic.engines.protocol import Engine, Job, Sampling
from elastic.trace import Trace
from elastic.training.following import FollowingEngine
from elastic.training.schedules import Slot


@dataclass(frozen=True)
class TrainingRow:
    """What the trainer sees of a trace, each of shape (C,).

    Attributes:
        completion_ids: with the delimiter in its place.
        loss_mask: 0 where a token has no part in the loss.
        logprobs: of the engine when it drew the tokens, NaN where it drew none; None where the policy itself drew.
    """

    completion_ids: list[int]
    loss_mask: list[int]
    logprobs: list[float] | None


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
    """What came of the rollouts wanted.

    Attributes:
        traces: one a rollout.
        logprobs: of the tokens drawn for each, in the shape of Drawn; None where the policy itself was sampled from.
        drawn: tokens drawn for all of them; shared ones count once.
    """

    traces: list[Trace]
    logprobs: list[tuple[float, ...] | None]
    drawn: int


def roll_out(engine: Engine, wanted: Sequence[Wanted], temperature: float) -> Rolled:
    """One trace a rollout wanted, with full support (top-p or top-k would bias the importance ratio).

    Thinking that several rollouts share is sampled once, up to the largest of their budgets.
    """
    sampling = Sampling(temperature=temperature)
    rows_of = Counter(row.stream for row in wanted)
    shared = [row for row in wanted if rows_of[row.stream] > 1]
    jobs = {index: _job(row) for index, row in enumerate(wanted) if rows_of[row.stream] == 1}
    found = dict(zip(jobs, _draw(engine, list(jobs.values()), sampling), strict=True)) if jobs else {}
    cost = sum(one.trace.n_sampled for one in found.values())
    if shared:
        forked, extra = _fork(engine, shared, sampling)
        cost += extra
        rest = iter(forked)
        found |= {index: next(rest) for index in range(len(wanted)) if index not in jobs}
    ordered = [found[index] for index in range(len(wanted))]
    return Rolled([one.trace for one in ordered], [one.logprobs for one in ordered], cost)


@dataclass(frozen=True)
class _Sampled:
    trace: Trace
    logprobs: tuple[float, ...] | None


def _draw(engine: Engine, jobs: Sequence[Job], sampling: Sampling) -> list[_Sampled]:
    # Where the policy itself is sampled from, the trainer's log-probabilities are the only ones there are.
    if isinstance(engine, FollowingEngine):
        return [_Sampled(drawn.trace, drawn.logprobs) for drawn in engine.draw(jobs, sampling)]
    return [_Sampled(trace, None) for trace in engine.generate(jobs, sampling)]


def _job(row: Wanted) -> Job:
    if row.slot.whole:
        return Job.plain(row.prompt_ids, row.slot.budget.total, row.stream)
    return Job.separate(row.prompt_ids, row.slot.budget, row.stream)


def _fork(engine: Engine, rows: Sequence[Wanted], sampling: Sampling) -> tuple[list[_Sampled], int]:
    """Rollouts that share thinking, and their cost: it is sampled once a stream, then one solution a budget."""
    longest: dict[int, Wanted] = {}
    for row in rows:
        known = longest.get(row.stream)
        if known is None or row.slot.budget.think > known.slot.budget.think:
            longest[row.stream] = row
    jobs = [Job.think_only(row.prompt_ids, row.slot.budget.think, row.stream) for row in longest.values()]
    thinking = dict(zip(longest, _draw(engine, jobs, sampling), strict=True))
    # A solution follows a prefix of the thinking, or all of it (None): budgets that hold its end share one.
    solutions: dict[tuple[int, int | None], Job] = {}
    for row in rows:
        trace, budget = thinking[row.stream].trace, row.slot.budget
        if not holds_the_end(budget.think, trace):
            solutions[row.stream, budget.think] = solve_prefix(trace, budget.think, budget.solution, row.stream)
        elif trace.closed == "natural":
            solutions[row.stream, None] = solve_all(trace, budget.solution, row.stream)
    solved = dict(zip(solutions, _draw(engine, list(solutions.values()), sampling), strict=True))
    drawn = sum(one.trace.n_sampled for one in thinking.values())
    drawn += sum(one.trace.n_solution for one in solved.values())
    found = []
    for row in rows:
        one, budget = thinking[row.stream], row.slot.budget
        if not holds_the_end(budget.think, one.trace):
            one = _joined(one, solved[row.stream, budget.think], budget.solution)
        elif one.trace.closed == "natural":
            one = _joined(one, solved[row.stream, None], budget.solution)
        one.trace.check(budget)
        found.append(one)
    return found, drawn


def _joined(thinking: _Sampled, solved: _Sampled, solution: int) -> _Sampled:
    """The thinking up to where the solution follows it, and the solution up to its budget."""
    trace = cut_solution(solved.trace, solution)
    if thinking.logprobs is None or solved.logprobs is None:
        return _Sampled(trace, None)
    before = trace.n_sampled - trace.n_solution
    return _Sampled(trace, thinking.logprobs[:before] + solved.logprobs[: trace.n_solution])


def training_row(
    trace: Trace, close_id: int, *, faithful: bool, logprobs: Sequence[float] | None = None
) -> TrainingRow:
    """Completion ids and loss mask of one trace, with its log-probabilities (n_sampled,) in their places.

    A trace that sampled EOS inside its thinking ends there, as in the published training code (which masks whatever
    follows the first EOS).
    """
    ids = trace.completion_ids(close_id)
    mask = [1] * len(ids)
    placed = None if logprobs is None else list(logprobs)
    if trace.closed == "forced":
        place = len(trace.think_ids)
        mask[place] = int(faithful)
        if placed is not None:
            placed.insert(place, math.nan)
    return TrainingRow(ids, mask, placed)
