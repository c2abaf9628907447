"""A policy that FSDP2 shards over two processes rolls out and trains as a whole one does (gloo, on CPUs)."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate import DistributedType
from one_of_many import WORDS
from one_of_sharded import gradient, jobs
from parity import RECIPE, fresh

from elastic.contracts.params.train import Lora
from elastic.engines.protocol import Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.models.tiny import build_tokenizer
from elastic.prompts import Prompter
from elastic.training.sharding import check_sharding

SCRIPT = Path(__file__).with_name("one_of_sharded.py")
ROOT = Path(__file__).parents[2]


def test_two_processes_roll_out_different_lengths_without_waiting_for_each_other_and_train_on(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(SCRIPT.parent)])
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [sys.executable, *launcher, str(SCRIPT), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    prompter = Prompter(build_tokenizer(WORDS, context=64))
    whole = fresh(prompter)
    engine = TransformersEngine(whole, Markers.find(prompter.tokenizer), batch_size=16)
    expected = gradient(fresh(prompter), prompter)
    for rank in (0, 1):
        traces = pickle.loads((tmp_path / f"traces-{rank}.pkl").read_bytes())
        assert traces == engine.generate(jobs(prompter, rank), Sampling(temperature=1.0))
        found = torch.load(tmp_path / f"gradient-{rank}.pt")
        for name, value in expected.items():
            torch.testing.assert_close(found[name], value, rtol=1e-4, atol=1e-6)


def accelerator(**values: Any) -> Any:
    return SimpleNamespace(**{"distributed_type": DistributedType.FSDP, "is_fsdp2": True, **values})


@pytest.mark.parametrize(
    ("over", "recipe", "key"),
    [
        (accelerator(), replace(RECIPE, lora=Lora(rank=2, alpha=4)), "train.lora"),
        (accelerator(), replace(RECIPE, keep="best"), "train.keep"),
        (accelerator(is_fsdp2=False), RECIPE, "fsdp_config.fsdp_version"),
    ],
)
def test_what_sharded_weights_cannot_do_is_refused_by_its_key(over: Any, recipe: Any, key: str) -> None:
    with pytest.raises(TrainingError) as refused:
        check_sharding(over, recipe)
    assert refused.value.where == key


def test_whole_weights_forbid_nothing() -> None:
    several = accelerator(distributed_type=DistributedType.MULTI_GPU)
    check_sharding(several, replace(RECIPE, lora=Lora(rank=2, alpha=4), keep="best"))
    check_sharding(accelerator(), RECIPE)
