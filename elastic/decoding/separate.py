"""Separate budgeting (E1, section 3): thinking and solution each under its own budget, sampled budget by budget."""

from __future__ import annotations

from collections.abc import Sequence

from elastic.budget import Budget
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.engines.protocol import Engine, Job, Progress


def separate(
    engine: Engine,
    prompts: Sequence[Prompt],
    budgets: Sequence[Budget],
    plan: Plan,
    *,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt under every budget, each trace from its start.

    Returns:
        Traces by prompt, sample and budget, in that order.

    Raises:
        BudgetError: a prompt and a budget do not fit the model's context; nothing was sampled.
    """
    wanted = [(prompt, sample, budget) for prompt, sample in plan.each(prompts) for budget in budgets]
    jobs = [
        Job.separate(prompt.ids, budget, plan.stream(prompt, sample, "separate", str(budget)), after_eos=plan.faithful)
        for prompt, sample, budget in wanted
    ]
    drawn = engine.draw(jobs, plan.sampling, progress=progress)
    return [
        Sampled(prompt.problem_id, sample, "separate", budget, None, one.trace, logprob=mean_logprob(one))
        for (prompt, sample, budget), one in zip(wanted, drawn, strict=True)
    ]
