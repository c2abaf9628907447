"""Nothing is lost on a kill: SIGKILL of a stage's process group, then `dvc repro`, gives the uninterrupted bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from clone import Clone

pytestmark = [pytest.mark.smoke, pytest.mark.timeout(1800)]


def committed(clone: Clone, stage: str) -> int:
    """What a killed run of the stage would go on from: the newest complete step, or the number of chunks."""
    scratch = f".scratch/{stage.replace('@', '-')}-*"
    steps = [
        int(marker.parent.name.rpartition("-")[2]) for marker in clone.folder.glob(f"{scratch}/checkpoint-*/COMPLETE")
    ]
    return max(steps, default=len(list(clone.folder.glob(f"{scratch}/chunk-*.parquet"))))


def outs(clone: Clone, stage: str) -> dict[str, str]:
    return {out["path"]: out["md5"] for out in clone.lock()[stage]["outs"]}


def drill(whole: Clone, clone: Clone, stage: str, *, first: int, last: int) -> None:
    """Kill the stage after at least `first` and before `last` are committed; then let `dvc repro` go on."""
    after = random.randint(first, (first + last) // 2)
    print(f"{stage}: SIGKILL once {after} is committed")
    clone.kill_when(lambda: committed(clone, stage) >= after, "dvc", "repro", stage)
    assert not any((clone.folder / path).exists() for path in outs(whole, stage))
    assert committed(clone, stage) < last, "it was killed too late for anything to be left"

    again = clone.reproduce(stage)
    assert again.ran == {stage}
    assert after <= clone.record(stage).resumed_from < last
    assert outs(clone, stage) == outs(whole, stage)
    assert not list(clone.folder.glob(".scratch/*/"))


def test_a_killed_base_goes_on_and_ends_with_the_same_hashes(reproduced: Clone, copy: Callable[..., Clone]) -> None:
    clone = copy(restorable=False)
    clone.forget("base")
    drill(reproduced, clone, "base", first=50, last=200)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("stage", "values", "last"),
    [
        ("probe", {"probe__chunk": 4}, 24),
        ("train@r1", {"rounds__r1__steps": 16}, 16),
        ("sample@r1-test", {"sample__chunk": 1}, 32),
    ],
)
def test_other_killed_stages_go_on_and_end_with_the_same_hashes(
    stage: str, values: dict[str, Any], last: int, copy: Callable[..., Clone]
) -> None:
    """Under params that give the stage more to do than the smoke profile does."""
    whole, clone = copy("whole", restorable=False), copy("killed", restorable=False)
    for one in (whole, clone):
        one.set_params(**values)
    assert whole.reproduce(stage).ran == {stage}
    assert whole.record(stage).resumed_from == 0
    drill(whole, clone, stage, first=1, last=last)
