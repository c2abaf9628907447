"""Evaluate one of the pipeline's models on one set of problems, under every strategy that the set names.

    python -m lab.evaluate base test

Answers, their thinking and what they cost are as `elastic eval` writes them (elastic/evaluation). The folder is built
in the scratch folder of the stage and moved when it is whole: DVC empties it before a stage runs, and what a killed run
has sampled stays.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast, get_args

import polars as pl

from elastic.answers.graders import load_grader
from elastic.contracts.evaluation_records import Named, Protocol
from elastic.contracts.frames import Problems as ProblemsFrame
from elastic.contracts.frames import read_frame
from elastic.contracts.params.common import validate
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.sample import Grid
from elastic.contracts.params.strategies import Grid as Budgets
from elastic.contracts.params.strategies import parse_strategy
from elastic.errors import ParamsError
from elastic.evaluation.checkpoint import Checkpoint, checkpoint_in
from elastic.evaluation.evaluate import Measuring, evaluate
from elastic.evaluation.planning import Beside
from elastic.evaluation.problems import Problems
from elastic.prompts import user_turn
from lab.params import (
    PROBLEMS,
    RESULTS,
    EvaluateParams,
    ModelsBlock,
    SetName,
    SetsBlock,
    model_folder,
    pipeline_block,
)
from stages.common import Context, exit_with_message, file_digest, params_block, run_stage


def checkpoint_of(model: str, params: EvaluateParams, prompt: PromptParams) -> Checkpoint:
    """A model of the pipeline, read but not loaded."""
    folder = model_folder(model)
    return checkpoint_in(
        folder, Named(name=model, sha256=file_digest(folder)), batch_size=params.batch_size, system=prompt.system
    )


def evaluate_set(
    model: str,
    name: str,
    wanted: Grid,
    strategies: Sequence[str],
    params: EvaluateParams,
    prompt: PromptParams,
    problems: Path,
    out: Path,
    context: Context,
    solvers: Mapping[str, Checkpoint] | None = None,
) -> None:
    """Evaluate a model on the problems in a file and leave the evaluation's folder at `out`.

    Args:
        model: thinks, and solves unless a strategy names another.
        name: of the set.
        wanted: its grid.
        strategies: as `elastic eval --strategy` writes them.
        params: how answers are drawn.
        prompt: how problems are put.
        problems: a frame Problems.
        out: the folder.
        context: of the stage.
        solvers: models that strategies name.

    Raises:
        BudgetError: a model's context cannot hold a strategy at the grid.
        GraderError: too many errors.
    """
    frame = read_frame(ProblemsFrame, problems)
    turns = [user_turn(prompt.template, question) for question in frame["question"]]
    asked = frame.with_columns(pl.Series("prompt", turns, dtype=pl.String))
    protocol = Protocol(
        benchmark=name,
        template=prompt.template,
        system=prompt.system,
        temperature=params.temperature,
        samples=wanted.samples,
        seed=params.seed,
    )
    built = context.scratch / "evaluation"
    with load_grader(params.grader) as grader:
        rows = evaluate(
            built,
            context.scratch / "chunks",
            checkpoint_of(model, params, prompt),
            Problems(name, asked),
            [parse_strategy(text) for text in strategies],
            Budgets(budgets=tuple(wanted.budgets), limit=wanted.limit),
            protocol,
            grader,
            beside=Beside(solvers=solvers or {}),
            measuring=Measuring(max_error_share=params.max_error_share),
            report=context.progress,
            say=context.say,
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    shutil.move(built, out)
    context.facts = {"rows": len(rows), "problems": len(frame)}


def main() -> None:
    """Read params, evaluate the model and the set named on the command line, write the record."""
    models = validate(ModelsBlock, {"models": params_block("models")}, where="").models
    if len(sys.argv) != 3 or sys.argv[1] not in models or sys.argv[2] not in get_args(SetName):
        raise ParamsError(
            f"name one of {', '.join(models)} and one of {', '.join(get_args(SetName))}",
            where="python -m lab.evaluate",
            remedy="as in `python -m lab.evaluate base test`",
        )
    model, name = sys.argv[1:]
    params = validate(EvaluateParams, params_block("evaluate"), where="evaluate")
    wanted = validate(SetsBlock, {"sets": params_block("sets")}, where="").sets[cast(SetName, name)]
    prompt = validate(PromptParams, pipeline_block("prompt"), where="prompt")
    problems, out = PROBLEMS / f"{name}.parquet", RESULTS / model / name
    run_stage(
        f"evaluate@{model}-{name}",
        {"evaluate": params, "set": wanted, "prompt": prompt},
        [problems, model_folder(model)],
        [out],
        lambda context: evaluate_set(model, name, wanted, wanted.strategies, params, prompt, problems, out, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
