"""The component swap: one model thinks, the other solves, at every thinking budget (Elastic Reasoning, section 4).

    python -m lab.swap base r1

The published finding is that most of what training gains is the solution learning to answer from unfinished thinking.
"""

from __future__ import annotations

import sys

from elastic.contracts.params.common import validate
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.strategies import Swap
from elastic.errors import ParamsError
from lab.evaluate import checkpoint_of, evaluate_set
from lab.params import PROBLEMS, RESULTS, EvaluateParams, SwapParams, model_folder, pipeline_block
from stages.common import Context, exit_with_message, params_block, run_stage

SET = "test"


def main() -> None:
    """Read params, let the first model named think and the second solve, write the record."""
    swap = validate(SwapParams, params_block("swap"), where="swap")
    if len(sys.argv) != 3 or not set(sys.argv[1:]) <= set(swap.models):
        raise ParamsError(
            f"name who thinks and who solves, each of {', '.join(swap.models)}",
            where="python -m lab.swap",
            remedy="as in `python -m lab.swap base r1`",
        )
    thinker, solver = sys.argv[1:]
    params = validate(EvaluateParams, params_block("evaluate"), where="evaluate")
    prompt = validate(PromptParams, pipeline_block("prompt"), where="prompt")
    problems, out = PROBLEMS / f"{SET}.parquet", RESULTS / "swap" / f"{thinker}-{solver}"

    def run(context: Context) -> None:
        evaluate_set(
            thinker,
            SET,
            swap,
            [Swap(solver=solver).run],
            params,
            prompt,
            problems,
            out,
            context,
            solvers={solver: checkpoint_of(solver, params, prompt)},
        )

    run_stage(
        f"swap@{thinker}-{solver}",
        {"evaluate": params, "swap": swap, "prompt": prompt},
        [problems, *dict.fromkeys([model_folder(thinker), model_folder(solver)])],
        [out],
        run,
    )


if __name__ == "__main__":
    exit_with_message(main)
