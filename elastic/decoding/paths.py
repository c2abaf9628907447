"""Thinking paths and the solutions from their prefixes: what nested budgets, budget forcing and component swap share.

A path is one sample's thinking up to the largest limit wanted. A budget below its natural end takes a prefix, is forced
and gets a solution of its own; all budgets that contain the natural end share the one solution that follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from elastic.budget import Budget
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.decoding.prefixes import cut_solution, holds_the_end, solve_all, solve_prefix
from elastic.engines.protocol import Drawn, Engine, Job, Progress
from elastic.trace import Trace


@dataclass(frozen=True, slots=True)
class Path:
    """One sample's thinking.

    Attributes:
        prompt, sample: whose it is.
        seed: stream of the sample.
        thinking: what was sampled, without a solution.
        inserted: which of the counted thinking tokens a strategy put in, from 0, rising.
    """

    prompt: Prompt
    sample: int
    seed: int
    thinking: Trace
    inserted: tuple[int, ...] = ()

    def insert(self, ids: tuple[int, ...]) -> Path:
        """The path with `ids` in the place of its end."""
        start, thinking = self.thinking.n_think, self.thinking
        return replace(
            self,
            thinking=replace(thinking, think_ids=(*thinking.think_ids, *ids), closed="never", finish="budget"),
            inserted=(*self.inserted, *range(start, start + len(ids))),
        )


@dataclass(frozen=True)
class Solved:
    """A path with its solutions.

    Attributes:
        path: the thinking.
        forced: solutions from prefixes, by how many thinking tokens they follow.
        ended: the solution after the path's own end; None where there is none.
    """

    path: Path
    forced: Mapping[int, Drawn]
    ended: Drawn | None

    def under(self, budget: Budget, method: str) -> Sampled:
        """The trace under one of the budgets that were solved for."""
        path = self.path
        drawn = self.ended if holds_the_end(budget.think, path.thinking) else self.forced[budget.think]
        trace = cut_solution(drawn.trace if drawn else path.thinking, budget.solution)
        trace = replace(trace, inserted=sum(place < trace.n_think for place in path.inserted))
        trace.check(budget)
        logprob = mean_logprob(drawn, trace.n_solution) if drawn else None
        return Sampled(path.prompt.problem_id, path.sample, method, budget, None, trace, logprob=logprob)


def think(
    engine: Engine, prompts: Sequence[Prompt], limit: int, plan: Plan, *, progress: Progress | None = None
) -> list[Path]:
    """One path a prompt and sample, in that order, of up to `limit` tokens; of one token where the limit is 0."""
    samples = [(prompt, sample, plan.stream(prompt, sample)) for prompt, sample in plan.each(prompts)]
    jobs = [Job.think_only(prompt.ids, max(limit, 1), seed) for prompt, _, seed in samples]
    traces = engine.generate(jobs, plan.sampling, progress=progress)
    return [Path(*sample, trace) for sample, trace in zip(samples, traces, strict=True)]


def solve(
    engine: Engine,
    paths: Sequence[Path],
    budgets: Sequence[Budget],
    plan: Plan,
    *,
    limit: int = 0,
    cue: tuple[int, ...] = (),
    cue_after_end: tuple[int, ...] = (),
    progress: Progress | None = None,
) -> list[Solved]:
    """Every path with the solutions that its budgets need, each sampled once and as long as the longest of them.

    Args:
        engine: what solves.
        paths: thinking up to the largest thinking budget or longer.
        budgets: (t, s).
        plan: how solutions are drawn, and whether one follows an EOS inside thinking.
        limit: counted tokens that a trace with its own end of thinking is wanted up to, whatever the budgets.
        cue: what a solution starts after where the budget forced the end of thinking.
        cue_after_end: what it starts after where thinking ended by itself.
        progress: as in Engine.draw.
    """
    largest = Budget(max(budget.think for budget in budgets), max(budget.solution for budget in budgets))
    # Solutions are keyed by path and by how many thinking tokens they follow, None being all of them.
    jobs: dict[tuple[int, int | None], Job] = {}
    for index, path in enumerate(paths):
        for budget in budgets:
            if not holds_the_end(budget.think, path.thinking):
                jobs[index, budget.think] = solve_prefix(
                    path.thinking, budget.think, largest.solution, path.seed, cue=cue
                )
        if length := _solution_after_end(path.thinking, largest, limit, plan.faithful):
            jobs[index, None] = solve_all(path.thinking, length, path.seed, cue=cue_after_end)
    solved = dict(zip(jobs, engine.draw(list(jobs.values()), plan.sampling, progress=progress), strict=True))
    return [
        Solved(
            path,
            {budget.think: solved[index, budget.think] for budget in budgets if (index, budget.think) in solved},
            solved.get((index, None)),
        )
        for index, path in enumerate(paths)
    ]


def _solution_after_end(thinking: Trace, largest: Budget, limit: int, faithful: bool) -> int:
    """How long a solution after the thinking's own end is wanted; 0 where none is."""
    budgeted = largest.solution if holds_the_end(largest.think, thinking) else 0
    if thinking.closed == "natural":
        return max(budgeted, limit - thinking.n_think)
    return budgeted if faithful else 0
