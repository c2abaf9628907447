"""One round of budget-constrained GRPO (E1, section 3.2): rollouts under (t*, s*), from the round's `prev`.

Run it alone: `python -m stages.train r1`. After a kill it resumes from its newest complete checkpoint, exactly.
Departures from the published code, each a parameter: the forced delimiter is masked out of the loss and the ratio is
clipped (`train.faithful` turns both back), there is no KL term unless `train.kl` is set.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import polars as pl
from dvclive import Live
from transformers import PreTrainedModel

from elastic.answers.frames import gold_columns, golds_of
from elastic.answers.graders import load_grader
from elastic.contracts.frames import Problems, TrainingSet, read_frame
from elastic.contracts.params.base import ContextBlock
from elastic.contracts.params.common import validate
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.train import RoundsBlock, TrainParams
from elastic.contracts.records import TrainingOutcome, write_json
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Engine
from elastic.engines.runtime import use_cpu
from elastic.errors import ParamsError
from elastic.prompts import Prompter
from elastic.training.following import FollowingEngine
from elastic.training.groups import Question
from elastic.training.grpo import train
from elastic.training.monitor_slice import MonitorSlice
from elastic.training.recipe import Recipe, recipe_of
from stages.common import Context, exit_with_message, params_block, run_stage, staged

TRAINING = Path("data/bucketed/training.parquet")
VALIDATION = Path("data/curated/validation.parquet")
SLICE = Path("data/bucketed/validation.parquet")
GATES = [Path("reports/checks/curated.json"), Path("reports/checks/bucketed.json")]


def questions_of(frame: pl.DataFrame) -> list[Question]:
    """The problems of a frame Problems or TrainingSet, with their bucket where it has one."""
    golds = golds_of(gold_columns(frame))
    buckets = frame["bucket"].to_list() if "bucket" in frame.columns else [None] * len(frame)
    columns = zip(frame["problem_id"], frame["question"], golds, buckets, strict=True)
    return [Question(name, question, gold, bucket) for name, question, gold, bucket in columns]


def write_curves(log: Path, folder: Path) -> None:
    """Copy the log of a run and replay it through DVCLive, for `dvc plots`.

    Replayed at the end and not written along the way, so that a run which was killed and resumed has the same curves.
    """
    shutil.copyfile(log, folder / "metrics.jsonl")
    with Live(str(folder / "dvclive"), dvcyaml=None, save_dvc_exp=False, report=None, monitor_system=False) as live:
        for line in log.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            live.step = row.pop("step")
            if "alert" in row:
                continue
            prefix = f"monitor/{row.pop('monitor')}/" if "monitor" in row else "train/"
            for key, value in row.items():
                if value is not None:
                    live.log_metric(prefix + key, value)


def run(
    recipe: Recipe,
    params: TrainParams,
    prompt: PromptParams,
    grader_name: str,
    prev: Path,
    output: Path,
    curves: Path,
    context: Context,
) -> None:
    """Train from `prev` and save the model to `output`, its training curves to `curves`.

    Raises:
        TrainingError: nothing can be learnt as configured.
        DataError: an input is missing or breaks its contract.
    """
    training = read_frame(TrainingSet, TRAINING).sort("rank")
    cut = read_frame(TrainingSet, SLICE, empty=True)
    validation = cut if len(cut) else read_frame(Problems, VALIDATION)
    validation = validation.sort("problem_id").head(params.monitor.problems)

    batch_size = recipe.prompts * recipe.samples
    engine, tokenizer = load_engine(prev, batch_size=batch_size)

    def start_vllm(policy: PreTrainedModel) -> Engine:
        return FollowingEngine(policy, load_engine(prev, batch_size=batch_size, engine="vllm")[0])

    with load_grader(grader_name) as grader:
        trained = train(
            engine.model,
            Prompter(tokenizer, template=prompt.template, system=prompt.system),
            engine.markers,
            grader,
            questions_of(training),
            MonitorSlice(
                params.monitor.every,
                questions_of(validation),
                list(dict.fromkeys([recipe.budget, params.monitor.unseen])),
            ),
            recipe,
            preflight_steps=params.preflight.steps,
            scratch=context.scratch,
            batch_size=engine.batch_size,
            use_cpu=use_cpu(),
            say=context.say,
            make_engine=start_vllm if recipe.engine == "vllm" else None,
        )
    context.resumed_from, context.sampled_tokens = trained.resumed_from, trained.sampled_tokens
    outcome = TrainingOutcome(
        steps=trained.steps,
        kept=trained.kept,
        ended_by=trained.ended_by,
        alerts=trained.alerts,
        turning_step=trained.turning_step,
    )
    context.facts = {
        "budget": str(recipe.budget),
        "grader": grader_name,
        "engine": recipe.engine,
        **outcome.model_dump(),
    }
    if not context.main:
        return
    with staged(curves) as folder:
        write_curves(context.scratch / "metrics.jsonl", folder)
        write_json(folder / "outcome.json", outcome)
    with staged(output) as folder:
        engine.model.save_pretrained(folder, state_dict=trained.weights)
        tokenizer.save_pretrained(folder)


def main() -> None:
    """Read params, train the round named on the command line, write the record."""
    if len(sys.argv) != 2:
        raise ParamsError("name one round", where="python -m stages.train", remedy="as in `python -m stages.train r1`")
    name = sys.argv[1]
    rounds = validate(RoundsBlock, {"rounds": params_block("rounds")}, where="").rounds
    if name not in rounds:
        raise ParamsError(f"no round {name!r}", where="rounds", remedy=f"name one of {', '.join(rounds)}")
    params = validate(TrainParams, params_block("train"), where="train")
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    base = validate(ContextBlock, params_block("base"), where="base")
    prev, output, curves = Path("models") / rounds[name].prev, Path("models") / name, Path("reports/training") / name
    base.require(f"rounds.{name}.budget", prompt.max_tokens, rounds[name].budget.total)
    base.require("train.monitor.unseen", prompt.max_tokens, params.monitor.unseen.total)
    run_stage(
        f"train@{name}",
        {"round": rounds[name], "train": params, "prompt": prompt, "grading": grading},
        [TRAINING, SLICE, VALIDATION, *GATES, prev],
        [output, curves],
        lambda context: run(
            recipe_of(rounds[name], params), params, prompt, grading.training, prev, output, curves, context
        ),
    )


if __name__ == "__main__":
    exit_with_message(main)
