"""A round that two processes train is the round that one trains, and one of them alone writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from clone import Clone
from safetensors.torch import load_file

pytestmark = [pytest.mark.smoke, pytest.mark.timeout(1800)]


def test_a_stage_under_torchrun_gives_the_model_of_one_process_and_one_record(
    reproduced: Clone, copy: Callable[..., Clone]
) -> None:
    clone = copy(restorable=False)
    before = load_file(clone.folder / "models/base/model.safetensors")
    one = load_file(clone.folder / "models/r1/model.safetensors")
    clone.set_params(train__micro_batch=16)  # each process has half of the batch
    clone.remove("models/r1", "reports/training/r1", "records/train@r1.json")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    clone.call("python", *launcher, "-m", "stages.train", "r1")

    two = load_file(clone.folder / "models/r1/model.safetensors")
    moved = max(float((one[name] - before[name]).abs().max()) for name in one)
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=moved / 100)
    assert clone.record("train@r1").sampled_tokens == reproduced.record("train@r1").sampled_tokens
    assert clone.json("reports/training/r1/outcome.json") == reproduced.json("reports/training/r1/outcome.json")
    left = [path.name for path in (clone.folder / ".scratch").glob("train-r1-*") if path.is_dir()]
    assert not left
    assert not list(clone.folder.rglob(".*.partial"))
