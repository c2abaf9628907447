"""A vLLM engine, started once for each file of tests, and only where vLLM is installed (`make test-engines`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def checkpoint_model(tiny_tokenizer: Any) -> Any:
    """A float32 decoder with random weights that opens and ends its phases often: their logits vary the most."""
    import torch

    from elastic.models.tiny import build_model

    torch.set_num_threads(1)
    model = build_model(tiny_tokenizer, hidden=64, layers=2, heads=2, context=128, seed=2).eval()
    for name, scale in (("<think>", 2), ("</think>", 2), ("<eos>", 2.4)):
        model.get_input_embeddings().weight.data[tiny_tokenizer.convert_tokens_to_ids(name)] *= scale
    return model


@pytest.fixture(scope="session")
def vllm_checkpoint(checkpoint_model: Any, tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vllm") / "checkpoint"
    checkpoint_model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def start_vllm() -> Callable[[Path], Any]:
    """Starts an engine, which ends the one before."""
    if find_spec("vllm") is None:
        pytest.skip("vLLM has an environment of its own: make test-engines")
    from elastic.engines.loading import load_engine

    return lambda folder: load_engine(folder, batch_size=16, engine="vllm")[0]


@pytest.fixture(scope="module")
def vllm_engine(start_vllm: Callable[[Path], Any], vllm_checkpoint: Path) -> Any:
    return start_vllm(vllm_checkpoint)
