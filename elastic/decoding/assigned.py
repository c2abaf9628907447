"""Every problem under a budget of its own: separate budgeting (E1, section 3) with budgets that somebody chose.

Adaptive budgets are assignments of this kind (elastic/adaptive). Streams are the samples' own, so that a problem's
traces are those of nested sampling at the same budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elastic.budget import Budget
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.engines.protocol import Engine, Job, Progress
from elastic.errors import DataError


def assigned(
    engine: Engine,
    prompts: Sequence[Prompt],
    budgets: Mapping[str, Budget],
    plan: Plan,
    *,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt under the budget of its problem.

    Args:
        engine: samples.
        prompts: problems.
        budgets: (t, s) by problem.
        plan: how traces are drawn.
        progress: as in Engine.draw.

    Returns:
        Traces by prompt and sample, in that order. They say no budget: all problems are one row of a table.

    Raises:
        DataError: a problem has no budget.
        BudgetError: a prompt and its budget do not fit the model's context; nothing was sampled.
    """
    require_budgets(prompts, budgets)
    wanted = plan.each(prompts)
    jobs = [
        Job.separate(
            prompt.ids, budgets[prompt.problem_id], plan.stream(prompt, sample, "assigned"), after_eos=plan.faithful
        )
        for prompt, sample in wanted
    ]
    drawn = engine.draw(jobs, plan.sampling, progress=progress)
    return [
        Sampled(prompt.problem_id, sample, "assigned", None, None, one.trace, logprob=mean_logprob(one))
        for (prompt, sample), one in zip(wanted, drawn, strict=True)
    ]


def require_budgets(prompts: Sequence[Prompt], budgets: Mapping[str, Budget]) -> None:
    """Refuse an assignment that leaves out a problem.

    Raises:
        DataError: a problem has no budget.
    """
    if missing := [prompt.problem_id for prompt in prompts if prompt.problem_id not in budgets]:
        raise DataError(
            f"{len(missing)} problems have no budget, first {missing[0]}",
            where="assigned budgets",
            remedy="assign a budget to every problem that is sampled",
        )
