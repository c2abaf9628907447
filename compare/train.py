"""Train one run: the main pipeline's round of GRPO under a recipe of params.yaml, or the supervised baseline.

Run it alone, in this folder: `python -m compare.train e1_4`. Every run ends cleanly once it has sampled its allowance
of tokens. After a kill it resumes from its newest complete checkpoint, exactly.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from compare.params import (
    AllowanceBlock,
    GrpoRecipe,
    RunParams,
    RunsBlock,
    ShortestRecipe,
    recipe_named,
    round_params,
    train_params,
)
from elastic.answers.frames import gold_columns, grade_frame
from elastic.answers.graders import load_grader
from elastic.contracts.frames import HAS_DELIMITER, TrainingSet, read_frame
from elastic.contracts.params.base import ContextBlock
from elastic.contracts.params.common import validate
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.prompt import PromptParams
from elastic.decoding.chunks import in_chunks
from elastic.decoding.frame import traces_frame
from elastic.decoding.plan import Plan, Prompt
from elastic.decoding.prompting import render_prompts
from elastic.decoding.separate import separate
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Progress, Sampling
from elastic.engines.runtime import use_cpu
from elastic.errors import ParamsError, TrainingError
from elastic.prompts import Prompter
from elastic.training.recipe import recipe_of
from elastic.training.sft import Demonstration, teach
from elastic.training.shortest import shortest_correct
from stages import train
from stages.common import Context, exit_with_message, params_block, run_stage, staged


def run_shortest(
    recipe: ShortestRecipe,
    run: RunParams,
    prompt: PromptParams,
    grader_name: str,
    allowance: int,
    prev: Path,
    output: Path,
    curves: Path,
    context: Context,
) -> None:
    """Sample K responses a problem until the allowance is spent, and teach the shortest correct one of each.

    Raises:
        TrainingError: no response was correct.
    """
    training = read_frame(TrainingSet, train.TRAINING).sort("rank")
    engine, tokenizer = load_engine(prev, batch_size=recipe.chunk * recipe.samples)
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    prompts = render_prompts(
        training.select("problem_id", "question").iter_rows(), prompter, max_tokens=prompt.max_tokens
    )
    plan = Plan(Sampling(temperature=recipe.temperature), recipe.samples, run.seed)

    def draw(chunk: Sequence[Prompt], progress: Progress) -> pl.DataFrame:
        rows = separate(engine, chunk, [recipe.budget], plan, progress=progress)
        return traces_frame(rows, prompter, engine.markers, split="training", model=run.prev)

    frames, spent = [], 0
    for number, start in enumerate(range(0, len(prompts), recipe.chunk)):
        if spent >= allowance:
            break
        piece, folder = prompts[start : start + recipe.chunk], context.scratch / f"sampled-{number:05d}"
        sampled = in_chunks(piece, recipe.chunk, folder, draw, context.progress)
        frames.append(sampled.frame)
        spent += sampled.sampled_tokens
        context.resumed_from += sampled.resumed_from
    traces = pl.concat(frames).join(gold_columns(training), on="problem_id", how="left", maintain_order="left")
    with load_grader(grader_name) as grader:
        graded = grade_frame(
            traces.with_columns(solution=pl.when(HAS_DELIMITER).then("solution_text")), grader, context.progress
        )
    rows = [Demonstration(*row) for row in shortest_correct(graded).iter_rows()]
    if not rows:
        raise TrainingError(
            f"none of {len(traces)} responses was correct, so there is nothing to teach",
            where=context.stage,
            remedy="raise the recipe's budget, or start from a better base",
        )
    steps = max(1, len(rows) * recipe.epochs // recipe.batch_size)
    context.say(f"{len(rows)} demonstrations of {spent:,} sampled tokens, {steps} steps")
    taught = teach(
        engine.model,
        prompter,
        engine.markers,
        rows,
        scratch=context.scratch,
        steps=steps,
        batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=recipe.warmup_steps,
        weight_decay=0.0,
        save_every=recipe.save_every,
        seed=run.seed,
        use_cpu=use_cpu(),
    )
    context.resumed_from, context.sampled_tokens = context.resumed_from + taught.resumed_from, spent
    context.facts = {"demonstrations": len(rows), "steps": steps}
    with staged(curves) as folder:
        row = {"step": taught.steps, "loss": taught.loss, "sampled_tokens": spent}
        (folder / "metrics.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with staged(output) as folder:
        engine.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def main() -> None:
    """Read params, train the run named on the command line, write the record."""
    runs = validate(RunsBlock, {"runs": params_block("runs")}, where="").runs
    if len(sys.argv) != 2 or sys.argv[1] not in runs:
        raise ParamsError(
            f"name one run of {', '.join(runs)}", where="python -m compare.train", remedy="as in params.yaml"
        )
    name = sys.argv[1]
    run = runs[name]
    recipe = recipe_named(run.recipe, params_block("recipes"))
    allowance = validate(AllowanceBlock, {"allowance": params_block("allowance")}, where="").allowance
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    base = validate(ContextBlock, params_block("base"), where="base")
    base.require(f"recipes.{run.recipe}.budget", prompt.max_tokens, recipe.budget.total)
    prev, output, curves = Path("models") / run.prev, Path("models") / name, Path("reports/training") / name
    shared = params_block("train")

    def work(context: Context) -> None:
        if isinstance(recipe, GrpoRecipe):
            params = train_params(recipe, run, shared, allowance)
            as_round = recipe_of(round_params(recipe, run), params)
            train.run(as_round, params, prompt, grading.training, prev, output, curves, context)
        else:
            spend = round(allowance * recipe.share)
            run_shortest(recipe, run, prompt, grading.training, spend, prev, output, curves, context)

    run_stage(
        f"train@{name}",
        {
            "run": run,
            "recipe": recipe,
            "train": train_params(recipe, run, shared, allowance)
            if isinstance(recipe, GrpoRecipe)
            else AllowanceBlock(allowance=allowance),
            "prompt": prompt,
            "grading": grading,
        },
        [train.TRAINING, train.SLICE, train.VALIDATION, *train.GATES, prev],
        [output, curves],
        work,
    )


if __name__ == "__main__":
    exit_with_message(main)
