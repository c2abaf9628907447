"""L1 (LCPO, arXiv 2503.04697; public code cmu-l3/l1 at 93dd330): the prompt asks for a length, and nothing is forced.

`l1_exact` asks for a length ("Think for N tokens.") and `l1_max` for one at most ("Think for maximum N tokens."); both
mean the whole response, thinking and solution together (the authors, l1 issue 23). They say something of models that
were trained to keep to it. The published evaluation decodes up to 2N tokens for the exact form and up to 8192 for the
other, here the limit of the grid.

Departure: the suffix follows the question itself and the template is put around both, as in training here, so that a
model is asked as it was taught; the published prompts end with the suffix.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.params.strategies import Grid, L1Exact, L1Max
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.engines.protocol import Engine, Job, Progress
from elastic.errors import DataError
from elastic.prompts import Prompter


def l1(
    engine: Engine,
    prompts: Sequence[Prompt],
    grid: Grid,
    plan: Plan,
    strategy: L1Exact | L1Max,
    *,
    texts: Prompter,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt once for every length asked for, each trace from its start.

    Returns:
        Traces by prompt, sample and length, in that order; their setting is "asked=N".

    Raises:
        DataError: a prompt came without its question.
        ParamsError: the tokenizer does not know the suffix, or `l1_max` has no limit.
        BudgetError: a prompt and a limit do not fit the model's context; nothing was sampled.
    """
    targets = asked(strategy, grid)
    if nameless := [prompt.problem_id for prompt in prompts if not prompt.question]:
        raise DataError(
            "its prompt came without the question, which the length is added to",
            where=f"problem {nameless[0]}",
            remedy="render the prompts with render_prompts",
        )
    for target in targets:
        texts.ids(suffix(strategy, target))
    rendered = {
        (prompt.problem_id, target): texts.render(prompt.question + suffix(strategy, target))
        for prompt in prompts
        for target in targets
    }
    wanted = [(prompt, sample, target) for prompt, sample in plan.each(prompts) for target in targets]
    jobs = [
        Job.plain(
            rendered[prompt.problem_id, target],
            decoded(strategy, target, grid),
            plan.stream(prompt, sample, strategy.name, str(target)),
        )
        for prompt, sample, target in wanted
    ]
    drawn = engine.draw(jobs, plan.sampling, progress=progress)
    return [
        Sampled(
            prompt.problem_id,
            sample,
            strategy.name,
            None,
            job.total,
            one.trace,
            setting=f"asked={target}",
            logprob=mean_logprob(one),
        )
        for (prompt, sample, target), job, one in zip(wanted, jobs, drawn, strict=True)
    ]


def asked(strategy: L1Exact | L1Max, grid: Grid) -> list[int]:
    """The lengths that are asked for: the strategy's, or the totals of the grid's budgets."""
    return list(strategy.targets or dict.fromkeys(budget.total for budget in grid.budgets))


def suffix(strategy: L1Exact | L1Max, target: int) -> str:
    """What asks for a length."""
    return strategy.suffix.replace("{tokens}", str(target))


def decoded(strategy: L1Exact | L1Max, target: int, grid: Grid) -> int:
    """The most counted tokens of a response that was asked for `target` of them."""
    return strategy.times * target if isinstance(strategy, L1Exact) else grid.limit_for(strategy.name)
