"""How vLLM is started and ended: what it refuses, and what it leaves as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import DataError, ParamsError
from elastic.markers import Markers
from elastic.models.tiny import build_model

Start = Callable[[Path], Any]
Prompts = Callable[..., list[tuple[int, ...]]]
GREEDY = Sampling(temperature=0)


def test_the_engine_that_was_started_last_is_the_one_that_runs(
    start_vllm: Start, vllm_checkpoint: Path, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs = [Job.separate(prompt, Budget(5, 4), 0) for prompt in tiny_prompts(4)]
    theirs = TransformersEngine(checkpoint_model, tiny_markers).generate(jobs, GREEDY)
    first = start_vllm(vllm_checkpoint)
    assert first.generate(jobs, GREEDY) == theirs
    second = start_vllm(vllm_checkpoint)
    with pytest.raises(ParamsError, match="this vLLM engine has ended"):
        first.generate(jobs, GREEDY)
    with pytest.raises(ParamsError, match="this vLLM engine has ended"):
        first.load_weights(checkpoint_model.state_dict().items())
    del first
    assert second.generate(jobs, GREEDY) == theirs
    second.close()
    second.close()


def test_the_process_is_left_as_it_was(start_vllm: Start, vllm_checkpoint: Path) -> None:
    preload = os.environ.get("LD_PRELOAD")
    start_vllm(vllm_checkpoint)
    assert os.environ.get("LD_PRELOAD") == preload
    assert torch.get_num_threads() == 1
    torch.set_num_threads(2)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


def test_new_weights_reach_a_head_of_its_own(
    start_vllm: Start, tiny_tokenizer: Any, tiny_prompts: Prompts, tiny_markers: Markers, tmp_path: Path
) -> None:
    models = []
    for seed in (0, 1):
        model = build_model(tiny_tokenizer, hidden=64, layers=2, heads=2, context=128, seed=seed).eval()
        model.config.tie_word_embeddings = False
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight) / 8)
        models.append(model)
    models[0].save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    jobs = [Job.separate(prompt, Budget(6, 4), 0) for prompt in tiny_prompts(8)]
    first, second = (TransformersEngine(model, tiny_markers).generate(jobs, GREEDY) for model in models)
    engine = start_vllm(tmp_path)
    assert engine.generate(jobs, GREEDY) == first
    engine.load_weights(models[1].state_dict().items())
    assert engine.generate(jobs, GREEDY) == second != first


def test_weights_of_another_model_are_refused_and_end_the_engine(
    start_vllm: Start, vllm_checkpoint: Path, checkpoint_model: Any
) -> None:
    engine, weights = start_vllm(vllm_checkpoint), checkpoint_model.state_dict()
    weights["model.layers.1.mlp.up_proj.lora_A.default.weight"] = torch.ones(2, 2)
    with pytest.raises(DataError, match=r"cannot take over these weights: .*lora_A"):
        engine.load_weights(weights.items())
    with pytest.raises(ParamsError, match="this vLLM engine has ended"):
        engine.load_weights(checkpoint_model.state_dict().items())


def test_a_checkpoint_without_a_weight_is_refused(start_vllm: Start, vllm_checkpoint: Path, tmp_path: Path) -> None:
    for path in vllm_checkpoint.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"norm\.weight") as refused:
        start_vllm(tmp_path)
    assert str(tmp_path) in str(refused.value)


def test_a_device_that_vllm_is_not_built_for_is_refused(
    start_vllm: Start, vllm_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELASTIC_DEVICE", "mps")
    with pytest.raises(ParamsError, match="ELASTIC_DEVICE: models should run on mps, this vLLM runs on cpu"):
        start_vllm(vllm_checkpoint)
