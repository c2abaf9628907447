"""Fractured sampling (arXiv 2505.12992; public code BaohaoLiao/frac-cot at baf8b30): answers from depths of thinking.

Each of n thinking paths is answered at H depths, equal token intervals apart, m times each. Depth i of a thinking of L
tokens keeps its first floor(i L / H) tokens and is closed there; depth H is the whole thinking with its own end. The
paper's Algorithm 1 rounds differently: segments of max(1, floor(L / H)) tokens. Plain decoding is depth H, draw 0.

Departures: thinking is cut and counted on ids (the code counts tokens of re-encoded text); the bare delimiter closes a
prefix, as in E1 (the code adds two line breaks); thinking that reaches its limit without an end is closed and answered
at depth H as well (the code takes what there is for the answer of draw 0 and closes it for the others); after an EOS
inside thinking depth H has no solution. Depths that keep equally many tokens share their solutions, which are sampled
once; a depth that keeps all of the thinking has its own end, whichever number it has. Each solution has a stream named
by how many tokens it follows and by its draw, so that (with the rounding `floor`) a run of few depths is a part of a
run of a multiple of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.budget import Budget
from elastic.contracts.params.strategies import Fractured
from elastic.decoding.paths import Path, think
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.decoding.prefixes import solution_stream, solve_all, solve_prefix
from elastic.engines.protocol import Drawn, Engine, Job, Progress


def fractured(
    engine: Engine,
    prompts: Sequence[Prompt],
    limit: int,
    solution: int,
    plan: Plan,
    strategy: Fractured,
    *,
    progress: Progress | None = None,
) -> list[Sampled]:
    """Sample `plan.samples` paths a prompt and their solutions at every depth.

    Args:
        engine: samples.
        prompts: problems.
        limit: thinking tokens of a path at most.
        solution: tokens of a solution at most.
        plan: how traces are drawn.
        strategy: depths, draws and rounding.
        progress: as in Engine.draw.

    Returns:
        Traces by prompt, path, depth and draw, in that order; their budget is that of the whole path.

    Raises:
        BudgetError: a prompt and the lengths do not fit the model's context.
    """
    paths = think(engine, prompts, limit, plan, progress=progress)
    depths = range(strategy.depths + 1 - (strategy.last or strategy.depths), strategy.depths + 1)
    # Jobs of one path stand together, so that an engine reads their prefix once.
    jobs: dict[tuple[int, int, int], Job] = {}
    for index, path in enumerate(paths):
        for depth in depths:
            kept = depth_tokens(depth, path.thinking.n_think, strategy)
            for draw in range(strategy.draws):
                if job := _job(path, kept, draw, solution, plan.faithful):
                    jobs[index, kept, draw] = job
    solved = dict(zip(jobs, engine.draw(list(jobs.values()), plan.sampling, progress=progress), strict=True))
    budget = Budget(limit, solution)
    rows = []
    for index, path in enumerate(paths):
        for depth in depths:
            kept = depth_tokens(depth, path.thinking.n_think, strategy)
            for draw in range(strategy.draws):
                rows.append(_row(path, budget, depth, draw, solved.get((index, kept, draw))))
    return rows


def depth_tokens(depth: int, length: int, strategy: Fractured) -> int:
    """How many of `length` thinking tokens depth 1..H keeps."""
    if depth == strategy.depths:
        return length
    if strategy.rounding == "floor":
        return depth * length // strategy.depths
    return min(depth * max(1, length // strategy.depths), length)


def _job(path: Path, kept: int, draw: int, solution: int, faithful: bool) -> Job | None:
    """The job of one solution; None after an EOS inside thinking."""
    thinking = path.thinking
    whole = kept == thinking.n_think
    seed = path.seed if whole and draw == 0 else solution_stream(path.seed, kept, draw)
    if not whole or thinking.closed == "never":
        return solve_prefix(thinking, kept, solution, seed)
    if thinking.closed == "natural" or faithful:
        return solve_all(thinking, solution, seed)
    return None


def _row(path: Path, budget: Budget, depth: int, draw: int, drawn: Drawn | None) -> Sampled:
    trace = drawn.trace if drawn else path.thinking
    trace.check(budget)
    return Sampled(
        path.prompt.problem_id,
        path.sample,
        "fractured",
        budget,
        None,
        trace,
        depth=depth,
        draw=draw,
        logprob=mean_logprob(drawn) if drawn else None,
    )
