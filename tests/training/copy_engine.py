"""An engine with weights of its own, as vLLM is, that samples with transformers."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch

from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.trace import Trace


def own_logprobs(model: Any, trace: Trace, close_id: int, temperature: float) -> list[float]:
    """The model's log-probabilities of all tokens after the prompt, shape (C,)."""
    ids, start = [*trace.prompt_ids, *trace.completion_ids(close_id)], len(trace.prompt_ids)
    with torch.inference_mode():
        rows = (model(torch.tensor([ids])).logits[0] / temperature).log_softmax(-1)
    return rows[range(start - 1, len(ids) - 1), ids[start:]].tolist()


class CopyEngine(TransformersEngine):
    def __init__(self, model: Any, markers: Markers) -> None:
        super().__init__(copy.deepcopy(model).eval(), markers, batch_size=16)
        self.taken = 0

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        self.model.load_state_dict(dict(weights))
        self.taken += 1
