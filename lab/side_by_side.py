"""Run the lab, two evaluations at a time: `python -m lab.side_by_side`, in this folder, after the pipeline has run."""

from __future__ import annotations

from itertools import product

from elastic.contracts.params.common import validate
from lab.params import ModelsBlock, SetsBlock, SwapParams
from stages.common import exit_with_message, params_block
from stages.side_by_side import repro, repro_side_by_side


def main() -> None:
    """Write the problems, evaluate every model on every set and every swap, then analyse and report."""
    models = validate(ModelsBlock, {"models": params_block("models")}, where="").models
    sets = validate(SetsBlock, {"sets": params_block("sets")}, where="").sets
    swap = validate(SwapParams, params_block("swap"), where="swap")
    stages = [
        *(f"evaluate@{model}-{name}" for name in sets for model in models),
        *(f"swap@{thinker}-{solver}" for thinker, solver in product(swap.models, repeat=2)),
    ]
    repro("problems")
    repro_side_by_side({stage: [stage] for stage in stages})
    repro()


if __name__ == "__main__":
    exit_with_message(main)
