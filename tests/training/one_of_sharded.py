"""One process of two whose policy FSDP2 shards: rolls out with whole weights, then trains a step.

    python -m torch.distributed.run --nproc_per_node 2 one_of_sharded.py FOLDER

The processes sample 2 and 9 rollouts of different lengths, so that their forward passes do not pair up. Each writes
`traces-RANK.pkl` and the full gradient after the rollouts, `gradient-RANK.pt`.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from one_of_many import WORDS
from parity import QUESTIONS, fresh
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.models.tiny import build_tokenizer
from elastic.prompts import Prompter
from elastic.training.sharding import unsharded


def jobs(prompter: Prompter, rank: int) -> list[Job]:
    """The rollouts of a process."""
    prompts = [prompter.render(question.question) for question in QUESTIONS]
    return [
        Job.separate(prompts[row % len(prompts)], Budget(2 + 3 * rank + row, 4), seed=row)
        for row in range(2 + 7 * rank)
    ]


def gradient(model: Any, prompter: Prompter) -> dict[str, torch.Tensor]:
    """The full gradient of one sequence's loss."""
    ids = torch.tensor([prompter.render(QUESTIONS[0].question)])
    model.train()
    model(input_ids=ids, labels=ids).loss.backward()
    found = {}
    for name, weight in model.named_parameters():
        value = weight.grad
        found[name] = value.full_tensor() if isinstance(value, DTensor) else value
    return found


def main(folder: Path) -> None:
    """Roll out and train."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    prompter = Prompter(build_tokenizer(WORDS, context=64))
    model = fresh(prompter)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    engine = TransformersEngine(model, Markers.find(prompter.tokenizer), batch_size=16)
    with unsharded(model):
        traces = engine.generate(jobs(prompter, rank), Sampling(temperature=1.0))
    assert all(isinstance(weight, DTensor) for weight in model.parameters())
    assert isinstance(model, FSDPModule)
    (folder / f"traces-{rank}.pkl").write_bytes(pickle.dumps(traces))
    torch.save(gradient(model, prompter), folder / f"gradient-{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
