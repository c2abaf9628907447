"""Sample one run's model, or the base, on the test split: every budget of the grid, truncation, and unconstrained.

Run it alone, in this folder: `python -m compare.sample e1_4`. It is the main pipeline's stage sample; only the prompt
may differ, since a policy that was trained to be asked for a length (L1) is asked for one here too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from compare.params import BASE, SPLIT, EvaluateParams, RunsBlock, evaluation_prompt, recipe_named
from elastic.contracts.params.base import ContextBlock
from elastic.contracts.params.common import validate
from elastic.contracts.params.prompt import PromptParams
from elastic.errors import ParamsError
from stages import sample
from stages.common import exit_with_message, params_block, run_stage


def main() -> None:
    """Read params, sample the model named on the command line, write the record."""
    runs = validate(RunsBlock, {"runs": params_block("runs")}, where="").runs
    if len(sys.argv) != 2 or sys.argv[1] not in (BASE, *runs):
        raise ParamsError(
            f"name base or one run of {', '.join(runs)}", where="python -m compare.sample", remedy="as in params.yaml"
        )
    name = sys.argv[1]
    recipe = None if name == BASE else recipe_named(runs[name].recipe, params_block("recipes"))
    params = validate(EvaluateParams, params_block("evaluate"), where="evaluate")
    prompt = evaluation_prompt(validate(PromptParams, params_block("prompt"), where="prompt"), recipe)
    base = validate(ContextBlock, params_block("base"), where="base")
    base.require("evaluate.grid.limit", prompt.max_tokens, params.grid.limit)
    folder, problems = Path("models") / name, Path("data/curated") / f"{SPLIT}.parquet"
    output = Path("results/traces") / SPLIT / name / "traces.parquet"
    run_stage(
        f"sample@{name}",
        {"evaluate": params, "prompt": prompt},
        [problems, folder],
        [output],
        lambda context: sample.run(params.sample, prompt, name, SPLIT, folder, problems, output, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
