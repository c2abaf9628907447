"""Component swap (E1, its table of components): one model thinks, another writes the solution.

The published table swaps thinking and solution between a model before and after training, at one budget; its reading is
that most of the gain is the solution learning to answer from unfinished thinking. Here the whole grid of budgets is
served by one thinking path, and a model that is its own solver gives the traces of nested sampling. So the four
combinations are four runs: of each model as thinker with each as solver.

Departure: a natural end of thinking is kept as it is; whether the published experiment did so is not stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from elastic.budget import Budget
from elastic.decoding.paths import solve, think
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.engines.protocol import Engine, Progress
from elastic.errors import MarkerError
from elastic.prompts import Prompter


@dataclass(frozen=True)
class Solver:
    """The model that solves.

    Attributes:
        engine: samples solutions.
        texts: its tokenizer, held against the thinker's.
    """

    engine: Engine
    texts: Prompter


def swap(
    engine: Engine,
    solver: Solver,
    prompts: Sequence[Prompt],
    budgets: Sequence[Budget],
    plan: Plan,
    *,
    texts: Prompter,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Think with `engine` and solve with `solver`, every prompt under every budget.

    Args:
        engine: thinks.
        solver: writes the solutions.
        prompts: problems, rendered for the model that thinks.
        budgets: (t, s).
        plan: how traces are drawn.
        texts: the tokenizer of the model that thinks.
        progress: as in Engine.draw.

    Returns:
        Traces by prompt, sample and budget, in that order.

    Raises:
        MarkerError: the tokenizers read an id that is used differently; about prompts and delimiters, before any work.
        BudgetError: a prompt and a budget do not fit the context of one of the models.
    """
    if engine.markers != solver.engine.markers:
        raise MarkerError(
            "thinker and solver have other delimiters or other ends of a response",
            where="swap",
            remedy="swap models of one tokenizer, as a model and what was trained from it",
        )
    differing = _differing(texts, solver.texts)
    _refuse(differing, (prompt.ids for prompt in prompts))
    paths = think(engine, prompts, max(budget.think for budget in budgets), plan, progress=progress)
    _refuse(differing, (path.thinking.think_ids for path in paths))
    solved = solve(solver.engine, paths, budgets, plan, progress=progress)
    return [one.under(budget, "swap") for one in solved for budget in budgets]


def _differing(first: Prompter, second: Prompter) -> dict[int, str]:
    """Ids of the first tokenizer, with their tokens, that are others or unknown in the second."""
    known = second.tokenizer.get_vocab()
    return {index: token for token, index in first.tokenizer.get_vocab().items() if known.get(token) != index}


def _refuse(differing: dict[int, str], used: Iterable[tuple[int, ...]]) -> None:
    if clash := sorted(differing.keys() & {token for ids in used for token in ids}):
        raise MarkerError(
            f"the solver's tokenizer reads the id {clash[0]} ({differing[clash[0]]!r} of the thinker) differently",
            where="swap",
            remedy="swap models of one tokenizer, as a model and what was trained from it",
        )
