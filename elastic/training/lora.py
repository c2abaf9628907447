"""Low-rank adapters through peft: put on, loaded from a checkpoint, merged into the model they stand on or a copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
from peft.tuners.lora import Linear
from safetensors.torch import load_file
from transformers import PreTrainedModel

from elastic.contracts.params.train import Lora


def adapt(model: PreTrainedModel, lora: Lora) -> PeftModel:
    """The model with fresh adapters, whose first output equals the model's own; only they are trained."""
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)


def merge(policy: Any) -> None:
    """Add the adapters to the weights of the model under them, in place."""
    policy.merge_and_unload()


@torch.no_grad()
def merged_weights(policy: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """What the state dict would be after `merge`, name by name; the policy stays as it is.

    Merging and taking the adapters out again would leave a rounding error in the weights each time.
    """
    if not isinstance(policy, PeftModel):
        yield from policy.state_dict().items()
        return
    model, adapter = policy.get_base_model(), policy.active_adapter
    adapted = {name: module for name, module in model.named_modules() if isinstance(module, Linear)}
    for name, tensor in model.state_dict().items():
        owner, base, leaf = name.rpartition(".base_layer.")
        if base and leaf == "weight":
            tensor = tensor + adapted[owner].get_delta_weight(adapter).to(tensor.dtype)
        if ".lora_" not in name:
            yield name.replace(base, ".") if base else name, tensor


def load_weights(policy: Any, checkpoint: Path) -> None:
    """Load the weights of a checkpoint of this policy in place, those of its adapters where it has some."""
    if isinstance(policy, PeftModel):
        set_peft_model_state_dict(policy, load_file(checkpoint / "adapter_model.safetensors"))
        return
    loaded = type(policy).from_pretrained(checkpoint)
    policy.load_state_dict(loaded.state_dict())
