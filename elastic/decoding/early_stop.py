"""Early stopping by agreement (arXiv 2505.12992): probe while thinking, stop when a prediction comes again.

Thinking is probed after `first` tokens and then after `every` more: it is closed there and a solution is written. Once
a prediction has been seen `repeats` times (twice, as published, and not necessarily in a row) the probe that repeats
it is the answer; otherwise the answer is the one after thinking's own end, or after its limit. Published: 6144 tokens,
then every 2048. No code for it is public.

Thinking that goes on after a probe is, id by id, thinking that was never stopped: a trace's thinking is a prefix of
plain thinking. Probes have streams of their own, so that they agree because the thinking says so and not because they
share random numbers. The tokens of probes that were not the answer are counted apart, since they were paid for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from elastic.budget import Budget
from elastic.contracts.params.strategies import EarlyStop
from elastic.decoding.paths import Path, think
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.decoding.prefixes import solution_stream, solve_all, solve_prefix
from elastic.engines.protocol import Drawn, Engine, Job, Progress
from elastic.prompts import Prompter
from elastic.trace import Trace

Extract = Callable[[str], str | None]


@dataclass
class _Probed:
    """One path on its way: its thinking so far, what probes predicted, and the answer once there is one."""

    path: Path
    thinking: Trace
    seen: Counter[str] = field(default_factory=Counter)
    probes: int = 0
    answer: Drawn | None = None


def early_stop(
    engine: Engine,
    prompts: Sequence[Prompt],
    limit: int,
    solution: int,
    plan: Plan,
    strategy: EarlyStop,
    *,
    texts: Prompter,
    extract: Extract,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt, stopping its thinking once probes agree.

    Args:
        engine: samples.
        prompts: problems.
        limit: thinking tokens at most.
        solution: tokens of a probe and of an answer at most.
        plan: how traces are drawn.
        strategy: where probes lie, and how many must agree.
        texts: turns a solution into text.
        extract: the prediction in a solution's text, so that equal predictions are equal strings; None where there is
            none, which agrees with nothing.
        progress: as in Engine.draw.

    Returns:
        Traces by prompt and sample, in that order, with the tokens of their probes; their budget is that of a trace
        that is never stopped.

    Raises:
        BudgetError: a prompt and the lengths do not fit the model's context.
    """
    mark = min(strategy.first, limit)
    states = [_Probed(path, path.thinking) for path in think(engine, prompts, mark, plan, progress=progress)]
    going = _unfinished(states)
    while going and mark < limit:
        probes = [
            solve_prefix(state.thinking, mark, solution, solution_stream(state.path.seed, mark, 0)) for state in going
        ]
        for state, drawn in zip(going, engine.draw(probes, plan.sampling, progress=progress), strict=True):
            prediction = extract(texts.text(drawn.trace.solution_ids, engine.markers))
            if prediction is not None:
                state.seen[prediction] += 1
            if prediction is not None and state.seen[prediction] == strategy.repeats:
                state.answer = drawn
            else:
                state.probes += drawn.trace.n_solution
        mark = min(mark + strategy.every, limit)
        going = _unfinished(going)
        jobs = [
            Job.think_on(
                state.path.prompt.ids,
                state.thinking.think_ids,
                mark,
                state.path.seed,
                opening=state.thinking.opening,
            )
            for state in going
        ]
        for state, trace in zip(going, engine.generate(jobs, plan.sampling, progress=progress), strict=True):
            state.thinking = trace
        going = _unfinished(going)
    last = [state for state in states if state.answer is None and (state.thinking.closed != "eos" or plan.faithful)]
    jobs = [_last(state, solution) for state in last]
    for state, drawn in zip(last, engine.draw(jobs, plan.sampling, progress=progress), strict=True):
        state.answer = drawn
    return [_row(state, Budget(limit, solution)) for state in states]


def _unfinished(states: Sequence[_Probed]) -> list[_Probed]:
    """Those that have no answer and whose thinking has not ended."""
    return [state for state in states if state.answer is None and state.thinking.closed == "never"]


def _last(state: _Probed, solution: int) -> Job:
    """The answer of thinking that was never stopped; it has the sample's own stream, as plain decoding."""
    thinking, seed = state.thinking, state.path.seed
    if thinking.closed == "never":
        return solve_prefix(thinking, thinking.n_think, solution, seed)
    return solve_all(thinking, solution, seed)


def _row(state: _Probed, budget: Budget) -> Sampled:
    trace = state.answer.trace if state.answer else state.thinking
    trace.check(budget)
    return Sampled(
        state.path.prompt.problem_id,
        state.path.sample,
        "early_stop",
        budget,
        None,
        trace,
        probes=state.probes,
        logprob=mean_logprob(state.answer) if state.answer else None,
    )
