"""Nested sampling: one thinking trace serves all budgets, and only solutions are sampled budget by budget.

Thinking up to 2K tokens is a prefix of thinking up to 4K. So each sample thinks once, up to the largest limit. A
budget below the natural end of that thinking takes a prefix, is forced, and gets a solution of its own; all budgets
that contain the natural end share the one solution that follows it. Smaller solution budgets, plain truncation and the
unconstrained mode are prefixes again. It costs a fraction and pairs the comparisons. Since thinking and solution draw
from streams of their own, the traces are, id by id, those that separate and plain sampling draw from the same streams.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.budget import Budget
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.decoding.prefixes import cut_solution, cut_total, holds_the_end, solve_all, solve_prefix
from elastic.engines.protocol import Engine, Job, Progress
from elastic.errors import BudgetError
from elastic.trace import Trace


def nested(
    engine: Engine,
    prompts: Sequence[Prompt],
    budgets: Sequence[Budget],
    limit: int,
    plan: Plan,
    *,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt under every budget, truncated at every total, and unconstrained at `limit`.

    Returns:
        Traces by prompt and sample, in that order; of each sample the separate ones by budget, the truncated ones by
        budget, then the unconstrained one.

    Raises:
        BudgetError: a prompt, a budget or the limit do not fit the model's context, or a total is over the limit;
            nothing was sampled.
    """
    samples = plan.each(prompts)
    largest = Budget(max(budget.think for budget in budgets), max(budget.solution for budget in budgets))
    if over := [budget for budget in budgets if budget.total > limit]:
        raise BudgetError(
            f"the budgets {', '.join(map(str, over))} have a total over the limit {limit} of the unconstrained mode",
            remedy="raise the limit: truncation at these totals is read off the unconstrained traces",
        )
    for prompt in prompts:
        Job.separate(prompt.ids, largest, plan.seed).check(engine.context)
        Job.plain(prompt.ids, limit, plan.seed).check(engine.context)
    seeds = [plan.stream(prompt, sample) for prompt, sample in samples]
    thinking = engine.generate(
        [
            Job.think_only(prompt.ids, max(limit, largest.think), seed)
            for (prompt, _), seed in zip(samples, seeds, strict=True)
        ],
        plan.sampling,
        progress=progress,
    )
    # Solutions are keyed by sample and by how many thinking tokens they follow, None being all of them.
    jobs: dict[tuple[int, int | None], Job] = {}
    for index, (trace, seed) in enumerate(zip(thinking, seeds, strict=True)):
        for budget in budgets:
            if not holds_the_end(budget.think, trace):
                jobs[index, budget.think] = solve_prefix(trace, budget.think, largest.solution, seed)
        if length := _solution_after_end(trace, largest, limit, plan.faithful):
            jobs[index, None] = solve_all(trace, length, seed)
    solved = dict(zip(jobs, engine.generate(list(jobs.values()), plan.sampling, progress=progress), strict=True))

    rows = []
    for index, (prompt, sample) in enumerate(samples):
        ended = solved.get((index, None), thinking[index])
        plain = thinking[index] if ended.closed == "eos" else ended
        for budget in budgets:
            trace = ended if holds_the_end(budget.think, thinking[index]) else solved[index, budget.think]
            trace = cut_solution(trace, budget.solution)
            trace.check(budget)
            rows.append(Sampled(prompt.problem_id, sample, "separate", budget, None, trace))
        for budget in budgets:
            rows.append(Sampled(prompt.problem_id, sample, "truncate", budget, None, cut_total(plain, budget.total)))
        rows.append(Sampled(prompt.problem_id, sample, "unconstrained", None, limit, cut_total(plain, limit)))
    return rows


def _solution_after_end(trace: Trace, largest: Budget, limit: int, faithful: bool) -> int:
    """How long a solution after the thinking's own end is wanted; 0 where none is."""
    budgeted = largest.solution if holds_the_end(largest.think, trace) else 0
    if trace.closed == "natural":
        return max(budgeted, limit - trace.n_think)
    return budgeted if faithful else 0
