"""Probe the base: K sampled traces a training problem under a stated budget, from which pass rates are made.

Run it alone: `python -m stages.probe`. After a kill it goes on after its last committed chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from elastic.contracts.frames import Problems, Traces, read_frame, write_frame
from elastic.contracts.params.base import ContextBlock
from elastic.contracts.params.common import validate
from elastic.contracts.params.probe import ProbeParams
from elastic.contracts.params.prompt import PromptParams
from elastic.decoding.chunks import in_chunks
from elastic.decoding.frame import traces_frame
from elastic.decoding.plan import Plan, Prompt
from elastic.decoding.prompting import render_prompts
from elastic.decoding.separate import separate
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Progress, Sampling
from elastic.prompts import Prompter
from stages.common import Context, exit_with_message, params_block, run_stage

PROBLEMS = Path("data/curated/training.parquet")
MODEL = Path("models/base")
OUTPUT = Path("data/probed/traces.parquet")


def run(
    params: ProbeParams, prompt: PromptParams, folder: Path, problems: Path, output: Path, context: Context
) -> None:
    """Sample the model in `folder` K times on every problem in `problems` and write the traces to `output`.

    Raises:
        DataError: an input is missing, damaged or breaks its contract, or a prompt is too long.
        BudgetError: the budget does not fit the model's context.
    """
    frame = read_frame(Problems, problems)
    engine, tokenizer = load_engine(folder, batch_size=params.batch_size, engine=params.engine)
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    prompts = render_prompts(frame.select("problem_id", "question").iter_rows(), prompter, max_tokens=prompt.max_tokens)
    plan = Plan(Sampling(temperature=params.temperature), params.samples, params.seed)

    def draw(chunk: Sequence[Prompt], progress: Progress) -> pl.DataFrame:
        rows = separate(engine, chunk, [params.budget], plan, progress=progress)
        return traces_frame(rows, prompter, engine.markers, split="training", model="base")

    sampled = in_chunks(prompts, params.chunk, context.scratch, draw, context.progress)
    write_frame(Traces, sampled.frame, output)
    context.sampled_tokens, context.resumed_from = sampled.sampled_tokens, sampled.resumed_from
    context.facts = {"problems": len(prompts), "traces": len(sampled.frame), "budget": str(params.budget)}


def main() -> None:
    """Read params, probe the base, write the record."""
    params = validate(ProbeParams, params_block("probe"), where="probe")
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    base = validate(ContextBlock, params_block("base"), where="base")
    base.require("probe.budget", prompt.max_tokens, params.budget.total)
    run_stage(
        "probe",
        {"probe": params, "prompt": prompt, "base": base},
        [PROBLEMS, MODEL],
        [OUTPUT],
        lambda context: run(params, prompt, MODEL, PROBLEMS, OUTPUT, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
