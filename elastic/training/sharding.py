"""Weights that are sharded over processes (FSDP2, DeepSpeed ZeRO-3), whole where that is needed.

Rows of different processes end at different steps, so the forward passes of a rollout must not wait for each other:
every process gathers all weights once, samples, and lets them go. A model that does not fit one device whole cannot
roll out this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate import Accelerator, DistributedType
from torch.distributed.fsdp import FSDPModule
from trl.models import unwrap_model_for_generation

from elastic.errors import TrainingError
from elastic.training.recipe import Recipe


def is_sharded(accelerator: Accelerator) -> bool:
    """Whether no process holds all weights."""
    if accelerator.distributed_type is DistributedType.DEEPSPEED:
        return bool(accelerator.state.deepspeed_plugin.zero_stage == 3)
    return accelerator.distributed_type is DistributedType.FSDP


def check_sharding(accelerator: Accelerator, recipe: Recipe) -> None:
    """Refuse what needs weights that no process holds.

    Raises:
        TrainingError: naming the key of params, or of accelerate's configuration.
    """
    if not is_sharded(accelerator):
        return
    if recipe.lora or recipe.keep == "best":
        raise TrainingError(
            "the weights are sharded over processes, and adapters are merged and earlier checkpoints loaded whole",
            where="train.lora" if recipe.lora else "train.keep",
            remedy="set lora to null and keep to last, or let every process hold all weights (torchrun alone)",
        )
    if accelerator.distributed_type is DistributedType.FSDP and not accelerator.is_fsdp2:
        raise TrainingError(
            "rollouts know no way to gather the weights of FSDP1",
            where="fsdp_config.fsdp_version",
            remedy="set it to 2, as in infra/accelerate/fsdp2.yaml",
        )


@contextmanager
def whole_weights(trainer: Any) -> Iterator[None]:
    """Within, the policy of a transformers trainer is whole in every process; all of them must enter together."""
    with unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as policy, unsharded(policy):
        yield


@contextmanager
def unsharded(policy: torch.nn.Module) -> Iterator[None]:
    """Within, all weights that FSDP2 has sharded are gathered, and stay so whatever forward passes run."""
    parts = [module for module in policy.modules() if isinstance(module, FSDPModule)]
    for part in parts:
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()
    try:
        yield
    finally:
        for part in parts:
            part.reshard()
            part.set_reshard_after_forward(True, recurse=False)


def whole_state(trainer: Any) -> dict[str, torch.Tensor] | None:
    """All weights by name, in the main process at least; None where the policy is not sharded and holds them itself."""
    if not is_sharded(trainer.accelerator):
        return None
    state: dict[str, torch.Tensor] = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    return state
