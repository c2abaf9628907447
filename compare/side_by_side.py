"""Run the comparison, two runs at a time: `python -m compare.side_by_side`, in this folder.

`dvc repro` alone does the same one stage after the other.
"""

from __future__ import annotations

from compare.params import RunsBlock
from elastic.contracts.params.common import validate
from stages.common import exit_with_message, params_block
from stages.side_by_side import repro, repro_side_by_side

SHARED = ("check@bucketed", "sample-base", "score-base")


def stages_of(chain: list[str]) -> list[str]:
    """The stages of a chain of runs, in turn."""
    return [f"{stage}@{name}" for name in chain for stage in ("train", "sample", "score")]


def main() -> None:
    """Make what all runs share, then the runs, then the report."""
    runs = validate(RunsBlock, {"runs": params_block("runs")}, where="").runs
    block = RunsBlock(runs=runs)
    repro(*SHARED)
    repro_side_by_side({name: stages_of(block.chain(name)) for name in block.ends})
    repro()


if __name__ == "__main__":
    exit_with_message(main)
