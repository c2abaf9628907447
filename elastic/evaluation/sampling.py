"""One run sampled in committed chunks: solutions, their thinking, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from elastic.answers.classes import answer_class
from elastic.answers.extract import BOX, find_answer
from elastic.answers.programs.fences import FENCED
from elastic.contracts.evaluation import Costs, Solutions, Thinking
from elastic.contracts.evaluation_records import Protocol
from elastic.contracts.params.strategies import Assigned, Grid, Swap
from elastic.decoding.assigned import require_budgets
from elastic.decoding.chunks import Chunks
from elastic.decoding.frame import column_types
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.decoding.solutions import solutions_frames
from elastic.decoding.strategies import require_room, sample_run
from elastic.decoding.swap import Solver
from elastic.engines.protocol import Progress, Sampling, Spent
from elastic.errors import ParamsError
from elastic.evaluation.checkpoint import Checkpoint
from elastic.evaluation.planning import Beside, Run

# A chunk is committed once its solutions are there.
CONTRACTS = {"thinking": Thinking, "costs": Costs, "solutions": Solutions}


class RunSampler:
    """One run on its way: `chunks.sample(draw, pace)` gives its frames.

    Args:
        run: what is sampled.
        checkpoint: thinks, and solves unless the run is a component swap.
        beside: models and budgets that the strategy may name.
        prompts: problems.
        protocol: how answers are drawn.
        chunk: problems a committed chunk.
        scratch: folder for chunks of this fingerprint and chunk size alone.

    Raises:
        BudgetError: the context of a model cannot hold the run; no weights were loaded for it.
        DataError: an assignment leaves out a problem.
        ParamsError: a tokenizer does not know the strategy's texts, or the engine cannot swap models.
    """

    def __init__(
        self,
        run: Run,
        checkpoint: Checkpoint,
        beside: Beside,
        prompts: Sequence[Prompt],
        protocol: Protocol,
        *,
        chunk: int,
        scratch: Path,
    ) -> None:
        self.run, self.checkpoint, self.scratch = run, checkpoint, scratch
        self.solver = beside.solvers[run.strategy.solver] if isinstance(run.strategy, Swap) else None
        self.budgets = beside.assignments[run.strategy.budgets] if isinstance(run.strategy, Assigned) else None
        if self.solver and self.solver.engine_name == "vllm":
            raise ParamsError(
                "a process runs one vLLM engine, and a swap needs two models at once",
                where=f"strategy {run.strategy.run}",
                remedy="evaluate the swap with the engine transformers",
            )
        self.chunks = Chunks(prompts, chunk, scratch, CONTRACTS)
        self.plan = Plan(
            Sampling(protocol.temperature, protocol.top_p, protocol.top_k),
            protocol.samples,
            protocol.seed,
            protocol.faithful,
        )
        for model in [checkpoint, *([self.solver] if self.solver else [])]:
            require_room(run.strategy, prompts, run.grid, model.context, texts=checkpoint.prompter)
        if self.budgets is not None:
            require_budgets(prompts, self.budgets)
            for prompt in prompts:
                own = Grid(budgets=(self.budgets[prompt.problem_id],))
                require_room(run.strategy, [prompt], own, checkpoint.context, texts=checkpoint.prompter)

    def draw(self, prompts: Sequence[Prompt], progress: Progress) -> dict[str, pl.DataFrame]:
        """One chunk, as the frames of CONTRACTS."""
        engines = [one.engine for one in (self.checkpoint, self.solver) if one]
        for engine in engines:
            engine.take()
        rows = sample_run(
            self.run.strategy,
            self.checkpoint.engine,
            prompts,
            self.run.grid,
            self.plan,
            texts=self.checkpoint.prompter,
            solver=Solver(self.solver.engine, self.solver.prompter) if self.solver else None,
            extract=prediction,
            budgets=self.budgets,
            progress=progress,
        )
        thinking, solutions = solutions_frames(
            rows,
            self.checkpoint.prompter,
            self.checkpoint.markers,
            run=self.run.name,
            model=self.checkpoint.named.name,
            solver=(self.solver or self.checkpoint).named.name,
        )
        spent = [engine.take() for engine in engines]
        return {"thinking": thinking, "solutions": solutions, "costs": costs_frame(self.run.name, prompts, rows, spent)}


def prediction(solution: str) -> str | None:
    """The answer in a solution, equal ones as equal texts: what early stopping compares.

    It is found by the box, in programs by the fenced block, whatever grades the answers later: another grader samples
    nothing.
    """
    found = find_answer(solution, (BOX, FENCED))
    return answer_class(found.answer) if found else None


def costs_frame(
    run: str,
    prompts: Sequence[Prompt],
    rows: Sequence[Sampled],
    spent: Sequence[Mapping[tuple[int, ...], Spent]],
) -> pl.DataFrame:
    """What each problem cost: engines are asked about prompts, of which a problem may have several.

    Problems of one prompt (a file may ask twice) share its cost, a token that cannot be halved going to the first.

    Args:
        run: name of the run.
        prompts: of the chunk.
        rows: what was sampled for them.
        spent: of each engine, by prompt.
    """
    owners: dict[tuple[int, ...], dict[str, None]] = {}
    for problem_id, ids in [
        *((p.problem_id, p.ids) for p in prompts),
        *((r.problem_id, r.trace.prompt_ids) for r in rows),
    ]:
        owners.setdefault(ids, {})[problem_id] = None
    total = {prompt.problem_id: [0, 0, 0.0] for prompt in prompts}
    for engine in spent:
        for ids, cost in engine.items():
            names = list(owners[ids])
            for place, name in enumerate(names):
                total[name][0] += _part(cost.sampled, place, len(names))
                total[name][1] += _part(cost.prefilled, place, len(names))
                total[name][2] += cost.seconds
    return pl.DataFrame(
        [(run, name, *costs) for name, costs in total.items()], schema=column_types(Costs), orient="row"
    )


def _part(tokens: int, place: int, of: int) -> int:
    return tokens // of + (place < tokens % of)
