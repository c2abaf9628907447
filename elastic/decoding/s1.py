r"""Budget forcing (S1, arXiv 2501.19393) in the three forms of public code: one thinking path serves all budgets.

What all three share: thinking that reaches its budget is closed by force, and a cue follows the delimiter to ask for
the answer. They differ in when the cue comes and in whether a natural end of thinking is accepted:

- `s1_original` (simplescaling/s1 at 77272c6, its fork of lm-evaluation-harness): the cue "\nFinal Answer:" follows a
  forced delimiter alone; a natural end of thinking can be replaced by "Wait" a stated number of times.
- `s1_r1` (ThinkPrune at 0f7449b, for R1 models): the cue "\n\n**Final Answer:**\n\n" follows a forced delimiter.
- `s1_exact` (cmu-l3/l1 at 93dd330, the baseline that L1 compares itself with): every natural end is replaced by "Wait",
  up to 100 times, until the budget is used exactly; then a cue and a greedy answer of 20 tokens. It is a much weaker
  baseline than the original and is reported apart from it.

Departures, all three: phases are split and counted on ids, no line break is put before the delimiter (the original adds
one where it is missing), an EOS inside thinking ends the trace, and the solution keeps to a budget (the original leaves
it all but open). The delimiter stands between thinking and cue in `s1_exact` too, so that a reader and a grader find
the solution. The original leaves 100 tokens of the context to the answer, decodes greedily and has another delimiter:
here budgets, sampling and delimiters are those of the evaluation and the model.

Inserted tokens count as thinking, since the model reads them there and the budget holds them, and are counted apart as
inserted. Going on after a "Wait" equals never having stopped, and an end that lies on or after the budget is never
seen; so a path up to the largest budget has the path of every smaller one as its prefix, Waits cut by it included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elastic.budget import Budget
from elastic.contracts.params.strategies import S1R1, S1Exact, S1Original
from elastic.decoding.paths import Path, solve, think
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.engines.protocol import Engine, Job, Progress, Sampling
from elastic.prompts import Prompter


def s1(
    engine: Engine,
    prompts: Sequence[Prompt],
    budgets: Sequence[Budget],
    plan: Plan,
    strategy: S1Original | S1R1 | S1Exact,
    *,
    texts: Prompter,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt under every budget with one of the forms of budget forcing.

    Args:
        engine: samples.
        prompts: problems.
        budgets: (t, s); `s1_exact` has a solution budget of its own in the place of s.
        plan: how traces are drawn.
        strategy: which form, with its texts.
        texts: the tokenizer that knows them.
        progress: as in Engine.draw.

    Returns:
        Traces by prompt, sample and budget, in that order.

    Raises:
        ParamsError: the tokenizer does not know a text of the strategy.
        BudgetError: a prompt and a budget do not fit the model's context.
    """
    cue, solving = texts.ids(strategy.cue), plan
    if isinstance(strategy, S1Exact):
        solving = replace(plan, sampling=Sampling(temperature=0))
        budgets = list(dict.fromkeys(Budget(budget.think, strategy.solution) for budget in budgets))
    waits = [] if isinstance(strategy, S1R1) else [texts.ids(strategy.wait) for _ in range(strategy.waits)]
    paths = think_on(engine, prompts, max(budget.think for budget in budgets), plan, waits, progress=progress)
    cue_after_end = cue if isinstance(strategy, S1Exact) else ()
    solved = solve(engine, paths, budgets, solving, cue=cue, cue_after_end=cue_after_end, progress=progress)
    return [one.under(budget, strategy.name) for one in solved for budget in budgets]


def think_on(
    engine: Engine,
    prompts: Sequence[Prompt],
    limit: int,
    plan: Plan,
    waits: Sequence[tuple[int, ...]],
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """Thinking up to `limit` tokens whose first natural ends are replaced by `waits`, one after the other.

    The last of them may reach over the limit; what is solved is a prefix.

    Returns:
        One path a prompt and sample, in that order.
    """
    paths = think(engine, prompts, limit, plan, progress=progress)
    for wait in waits:
        going = []
        for index, path in enumerate(paths):
            if path.thinking.closed == "natural":
                paths[index] = path.insert(wait)
                if paths[index].thinking.n_think < limit:
                    going.append(index)
        if not going:
            break
        jobs = [
            Job.think_on(
                paths[index].prompt.ids,
                paths[index].thinking.think_ids,
                limit,
                paths[index].seed,
                opening=paths[index].thinking.opening,
            )
            for index in going
        ]
        for index, trace in zip(going, engine.generate(jobs, plan.sampling, progress=progress), strict=True):
            paths[index] = replace(paths[index], thinking=trace)
    return paths
