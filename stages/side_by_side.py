"""Stages of one DVC repository, two chains of them at a time.

DVC has no parallel repro of its own, but several of its processes may work in one repository: each lets go of the
repository's lock while its command runs, and holds no more than its inputs and outputs. So every stage keeps its own
place in dvc.lock, its own cache entry and its own scratch folder to resume from. Two rules keep the processes apart:
what several chains share is made before them, and the stages of a chain are asked for one by one (`--single-item`),
since looking at a shared stage again would lock its outputs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from elastic.errors import ElasticError

_AT_ONCE = 2


def repro(*words: str) -> None:
    """Run `dvc repro` in this folder.

    Args:
        words: targets and options; none for everything.

    Raises:
        ElasticError: a stage failed.
    """
    if not _succeeds(*words):
        raise ElasticError(
            "a stage failed",
            where=" ".join(["dvc repro", *words]),
            remedy="read the lines above, then start again: what is done is not done again",
        )


def repro_side_by_side(chains: Mapping[str, Sequence[str]]) -> None:
    """Run chains of stages, two at a time; all of them, also when one fails.

    Args:
        chains: stages in their order, by the chain's name.

    Raises:
        ElasticError: naming the chains that failed.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        done = pool.map(lambda stages: _succeeds("--single-item", *stages), chains.values())
    if failed := [name for name, good in zip(chains, done, strict=True) if not good]:
        raise ElasticError(
            f"{len(failed)} of {len(chains)} runs failed: {', '.join(failed)}",
            where="dvc repro",
            remedy="read their lines above, then start again: what is done is not done again",
        )


def _succeeds(*words: str) -> bool:
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *words]
    return subprocess.run(command, check=False).returncode == 0
