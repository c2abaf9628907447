"""Run the comparison, two runs at a time: `python -m compare.side_by_side`, in this folder.

`dvc repro` alone does the same one stage after the other. DVC has no parallel repro of its own, but several of its
processes may work in one repository: each lets go of the repository's lock while its command runs, and holds no more
than its inputs and outputs. So every run stays a stage of its own, with its own place in dvc.lock, its own cache entry
and its own scratch folder to resume from. Two rules keep them apart: what all runs share is made first, and a run's
stages are then asked for one by one (`--single-item`), since looking at a shared stage again would lock its outputs.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from compare.params import RunsBlock
from elastic.contracts.params.common import validate
from elastic.errors import ElasticError
from stages.common import exit_with_message, params_block

_AT_ONCE = 2
SHARED = ("check@bucketed", "sample-base", "score-base")


def repro(*words: str) -> bool:
    """Whether `dvc repro` on these targets succeeded."""
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *words]
    return subprocess.run(command, check=False).returncode == 0


def stages_of(chain: list[str]) -> list[str]:
    """The stages of a chain of runs, in turn."""
    return [f"{stage}@{name}" for name in chain for stage in ("train", "sample", "score")]


def main() -> None:
    """Make what all runs share, then the runs, then the report."""
    runs = validate(RunsBlock, {"runs": params_block("runs")}, where="").runs
    block = RunsBlock(runs=runs)
    if not repro(*SHARED):
        raise ElasticError("what all runs share could not be made", where="dvc repro", remedy="read the lines above")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        chains = {name: block.chain(name) for name in block.ends}
        done = dict(
            zip(chains, pool.map(lambda c: repro("--single-item", *stages_of(c)), chains.values()), strict=True)
        )
    if failed := [name for name, good in done.items() if not good]:
        raise ElasticError(
            f"{len(failed)} of {len(done)} runs failed: {', '.join(failed)}",
            where="dvc repro",
            remedy="read their lines above, then start again: what is done is not done again",
        )
    if not repro():
        raise ElasticError("the report could not be made", where="dvc repro", remedy="read the lines above")


if __name__ == "__main__":
    exit_with_message(main)
