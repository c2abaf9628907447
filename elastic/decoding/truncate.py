"""Plain decoding, the control of separate budgeting: one limit on both phases together and nothing forced.

Truncation has the total t + s of the budget that it is compared with (E1, section 3); the unconstrained mode has a
limit that is stated and so large that it seldom binds.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.budget import Budget
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.engines.protocol import Engine, Job, Progress


def truncate(
    engine: Engine,
    prompts: Sequence[Prompt],
    budgets: Sequence[Budget],
    limit: int,
    plan: Plan,
    *,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt at the total of every budget, and unconstrained at `limit`, each trace from its start.

    Returns:
        Traces by prompt, sample and budget, in that order, the unconstrained one after its sample's budgets.

    Raises:
        BudgetError: a prompt and a limit do not fit the model's context; nothing was sampled.
    """
    wanted = [(prompt, sample, budget) for prompt, sample in plan.each(prompts) for budget in (*budgets, None)]
    jobs = [
        Job.plain(prompt.ids, budget.total, plan.stream(prompt, sample, "truncate", str(budget)))
        if budget
        else Job.plain(prompt.ids, limit, plan.stream(prompt, sample, "unconstrained"))
        for prompt, sample, budget in wanted
    ]
    drawn = engine.draw(jobs, plan.sampling, progress=progress)
    return [
        Sampled(
            prompt.problem_id,
            sample,
            "truncate" if budget else "unconstrained",
            budget,
            None if budget else limit,
            one.trace,
            logprob=mean_logprob(one),
        )
        for (prompt, sample, budget), one in zip(wanted, drawn, strict=True)
    ]
