"""Sample one model on one split: every budget of the split's grid, plain truncation, and unconstrained.

Separate budgeting against plain truncation at equal totals is E1, section 4. Traces are kept, so that graders and
metrics can change without sampling again. Departure from the published evaluation: budgets are nested by default (one
thinking trace serves them all), and `sample.faithful` decides whether a solution follows an EOS inside thinking.

Run it alone: `python -m stages.sample base test`. After a kill it goes on after its last committed chunk.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from elastic.contracts.frames import EVALUATED_SPLITS, Problems, Traces, read_frame, write_frame
from elastic.contracts.params.base import ContextBlock
from elastic.contracts.params.common import validate
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.sample import SampleParams
from elastic.decoding.chunks import in_chunks
from elastic.decoding.frame import traces_frame
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt
from elastic.decoding.prompting import render_prompts
from elastic.decoding.separate import separate
from elastic.decoding.truncate import truncate
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Progress, Sampling
from elastic.errors import ParamsError
from elastic.prompts import Prompter
from stages.common import Context, exit_with_message, params_block, run_stage


def run(
    params: SampleParams,
    prompt: PromptParams,
    model: str,
    split: str,
    folder: Path,
    problems: Path,
    output: Path,
    context: Context,
) -> None:
    """Sample the model in `folder` on the split in `problems` and write its traces to `output`.

    Raises:
        DataError: an input is missing, damaged or breaks its contract, or a prompt is too long.
        BudgetError: a budget does not fit the model's context.
    """
    grid = params.grids[split]
    frame = read_frame(Problems, problems)
    engine, tokenizer = load_engine(folder, batch_size=params.batch_size, engine=params.engine)
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    prompts = render_prompts(frame.select("problem_id", "question").iter_rows(), prompter, max_tokens=prompt.max_tokens)
    plan = Plan(
        Sampling(temperature=params.temperature), grid.samples, params.seed, params.faithful, paired=params.nested
    )

    def draw(chunk: Sequence[Prompt], progress: Progress) -> pl.DataFrame:
        if params.nested:
            rows = nested(engine, chunk, grid.budgets, grid.limit, plan, progress=progress)
        else:
            rows = separate(engine, chunk, grid.budgets, plan, progress=progress)
            rows += truncate(engine, chunk, grid.budgets, grid.limit, plan, progress=progress)
        return traces_frame(rows, prompter, engine.markers, split=split, model=model)

    sampled = in_chunks(prompts, params.chunk, context.scratch, draw, context.progress)
    write_frame(Traces, sampled.frame, output)
    context.sampled_tokens, context.resumed_from = sampled.sampled_tokens, sampled.resumed_from
    context.facts = {"problems": len(prompts), "traces": len(sampled.frame)}


def main() -> None:
    """Read params, sample the model and the split named on the command line, write the record."""
    if len(sys.argv) != 3 or sys.argv[2] not in EVALUATED_SPLITS:
        raise ParamsError(
            f"name a model and a split ({' or '.join(EVALUATED_SPLITS)})",
            where="python -m stages.sample",
            remedy="as in `python -m stages.sample base test`",
        )
    model, split = sys.argv[1:]
    params = validate(SampleParams, params_block("sample"), where="sample")
    # The other split's grid is none of this stage's business: changing it must not change the fingerprint.
    params = params.model_copy(update={"grids": {split: params.grids[split]}})
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    base = validate(ContextBlock, params_block("base"), where="base")
    base.require(f"sample.grids.{split}.limit", prompt.max_tokens, params.grids[split].limit)
    folder, problems = Path("models") / model, Path("data/curated") / f"{split}.parquet"
    output = Path("results/traces") / split / model / "traces.parquet"
    run_stage(
        f"sample-base@{split}" if model == "base" else f"sample@{model}-{split}",
        {"sample": params, "prompt": prompt, "base": base},
        [problems, folder],
        [output],
        lambda context: run(params, prompt, model, split, folder, problems, output, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
