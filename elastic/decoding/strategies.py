"""From a strategy to traces: one call for all of them, and what each needs of the model's context.

Strategies are described by elastic/contracts/params/strategies.py; each has its file here, which says what it follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from elastic.budget import Budget
from elastic.contracts.params.strategies import (
    S1R1,
    Assigned,
    EarlyStop,
    Fractured,
    Grid,
    Independent,
    L1Exact,
    L1Max,
    Nested,
    S1Exact,
    S1Original,
    Strategy,
    Swap,
)
from elastic.decoding.assigned import assigned
from elastic.decoding.early_stop import Extract, early_stop
from elastic.decoding.fractured import fractured
from elastic.decoding.l1 import asked, decoded, l1, suffix
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.decoding.s1 import s1
from elastic.decoding.separate import separate
from elastic.decoding.swap import Solver, swap
from elastic.decoding.truncate import truncate
from elastic.engines.protocol import Engine, Progress
from elastic.errors import BudgetError, ParamsError
from elastic.prompts import Prompter

Given = TypeVar("Given")


def sample_run(
    strategy: Strategy,
    engine: Engine,
    prompts: Sequence[Prompt],
    grid: Grid,
    plan: Plan,
    *,
    texts: Prompter,
    solver: Solver | None = None,
    extract: Extract | None = None,
    budgets: Mapping[str, Budget] | None = None,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample every prompt with a strategy.

    Args:
        strategy: which, with its settings.
        engine: samples; under a component swap it thinks.
        prompts: problems, each with its question.
        grid: budgets and limit.
        plan: how traces are drawn, and how many a problem.
        texts: the engine's tokenizer, which turns the strategy's texts into ids.
        solver: the model that solves, for `swap`.
        extract: the prediction in a solution's text, for `early_stop`.
        budgets: by problem, for `assigned`; none of them over the grid's largest.
        progress: as in Engine.draw.

    Returns:
        Traces in the order that the strategy states; of one prompt's samples, all that share setting and sample number
        have thinking that is a prefix of the longest.

    Raises:
        ParamsError: the strategy lacks something that it needs, or the tokenizer does not know its texts.
        BudgetError: a prompt does not fit the model's context; nothing was sampled.
    """
    for model in [engine] if solver is None else [engine, solver.engine]:
        require_room(strategy, prompts, grid, model.context, texts=texts)
    match strategy:
        case Nested():
            limit = grid.limit_for(strategy.name)
            return nested(engine, prompts, grid.budgets, limit, plan, progress=progress)
        case Independent():
            limit, own = grid.limit_for(strategy.name), replace(plan, paired=False)
            rows = separate(engine, prompts, grid.budgets, own, progress=progress)
            rows += truncate(engine, prompts, grid.budgets, limit, own, progress=progress)
            # Every trace has a thinking of its own.
            return [replace(row, setting=f"{row.method} {row.budget or row.limit}") for row in rows]
        case S1Original() | S1R1() | S1Exact():
            return s1(engine, prompts, grid.budgets, plan, strategy, texts=texts, progress=progress)
        case L1Exact() | L1Max():
            return l1(engine, prompts, grid, plan, strategy, texts=texts, progress=progress)
        case Fractured():
            limit = grid.limit_for(strategy.name)
            return fractured(engine, prompts, limit, grid.solution, plan, strategy, progress=progress)
        case EarlyStop():
            return early_stop(
                engine,
                prompts,
                grid.limit_for(strategy.name),
                grid.solution,
                plan,
                strategy,
                texts=texts,
                extract=_given(extract, strategy, "what finds a prediction"),
                progress=progress,
            )
        case Swap():
            other = _given(solver, strategy, "a model that solves")
            return swap(engine, other, prompts, grid.budgets, plan, texts=texts, progress=progress)
        case Assigned():
            given = _given(budgets, strategy, "a budget for every problem")
            return assigned(engine, prompts, given, plan, progress=progress)


def needs(strategy: Strategy, grid: Grid, texts: Prompter) -> tuple[int, int]:
    """The most tokens that a trace can hold beside its prompt and the closing delimiter.

    Returns:
        Before the delimiter and after it: thinking (with what L1 adds to the prompt), and solution with its cue.

    Raises:
        ParamsError: the strategy needs a limit and there is none, or the tokenizer does not know its texts.
    """
    match strategy:
        case Nested() | Independent():
            return grid.think, max(grid.solution, grid.limit_for(strategy.name) - grid.think)
        case S1Original() | S1R1():
            return grid.think, len(texts.ids(strategy.cue)) + grid.solution
        case S1Exact():
            return grid.think, len(texts.ids(strategy.cue)) + strategy.solution
        case L1Exact() | L1Max():
            return max(
                (len(texts.ids(suffix(strategy, target))) + decoded(strategy, target, grid), 0)
                for target in asked(strategy, grid)
            )
        case Fractured() | EarlyStop():
            return grid.limit_for(strategy.name), grid.solution
        case Swap() | Assigned():
            return grid.think, grid.solution


def require_room(
    strategy: Strategy, prompts: Sequence[Prompt], grid: Grid, context: int | None, *, texts: Prompter
) -> None:
    """Refuse a strategy that a model's context cannot hold; neither model nor engine is needed for it.

    Args:
        strategy: which, with its settings.
        prompts: problems.
        grid: budgets and limit.
        context: the longest sequence that the model can hold; None where that is not known.
        texts: the model's tokenizer.

    Raises:
        BudgetError: naming the problem and the lengths.
        ParamsError: as in `needs`.
    """
    before, after = needs(strategy, grid, texts)
    for prompt in prompts:
        needed = len(prompt.ids) + before + 1 + after
        if context is not None and needed > context:
            raise BudgetError(
                f"{strategy.run} needs {len(prompt.ids)} prompt tokens + {before} + 1 + {after} = {needed}, "
                f"the model's context holds {context}",
                where=f"problem {prompt.problem_id}",
                remedy="lower the budgets or the limit, or use a model with a longer context",
            )


def _given(value: Given | None, strategy: Strategy, what: str) -> Given:
    if value is None:
        raise ParamsError(f"it was given no {what}", where=f"strategy {strategy.run}", remedy=f"give it {what}")
    return value
