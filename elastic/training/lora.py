"""Low-rank adapters through peft: put on, loaded from a checkpoint, merged into the model they stand on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
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


def load_weights(policy: Any, checkpoint: Path) -> None:
    """Load the weights of a checkpoint of this policy in place, those of its adapters where it has some."""
    if isinstance(policy, PeftModel):
        set_peft_model_state_dict(policy, load_file(checkpoint / "adapter_model.safetensors"))
        return
    loaded = type(policy).from_pretrained(checkpoint)
    policy.load_state_dict(loaded.state_dict())
