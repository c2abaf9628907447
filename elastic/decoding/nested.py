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
from elastic.decoding.paths import Solved, solve, think
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.decoding.prefixes import cut_total
from elastic.engines.protocol import Engine, Job, Progress
from elastic.errors import BudgetError


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
    largest = Budget(max(budget.think for budget in budgets), max(budget.solution for budget in budgets))
    if over := [budget for budget in budgets if budget.total > limit]:
        raise BudgetError(
            f"the budgets {', '.join(map(str, over))} have a total over the limit {limit} of the unconstrained mode",
            remedy="raise the limit: truncation at these totals is read off the unconstrained traces",
        )
    for prompt in prompts:
        Job.separate(prompt.ids, largest, plan.seed).check(engine.context)
        Job.plain(prompt.ids, limit, plan.seed).check(engine.context)
    paths = think(engine, prompts, max(limit, largest.think), plan, progress=progress)
    rows = []
    for solved in solve(engine, paths, budgets, plan, limit=limit, progress=progress):
        rows += [solved.under(budget, "separate") for budget in budgets]
        rows += [_plain(solved, budget.total, "truncate", budget=budget) for budget in budgets]
        rows.append(_plain(solved, limit, "unconstrained", limit=limit))
    return rows


def _plain(
    solved: Solved, total: int, method: str, *, budget: Budget | None = None, limit: int | None = None
) -> Sampled:
    """What plain decoding gives within `total` tokens; it ends with an EOS inside thinking, whatever follows here."""
    path = solved.path
    ended = solved.ended if path.thinking.closed == "natural" else None
    trace = cut_total(ended.trace if ended else path.thinking, total)
    logprob = mean_logprob(ended, trace.n_solution) if ended else None
    return Sampled(path.prompt.problem_id, path.sample, method, budget, limit, trace, logprob=logprob)
