"""An engine with weights of its own that keeps log-probabilities, as vLLM does, and samples with transformers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from elastic.engines.protocol import Drawn, Job, Progress, Sampling
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

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        found = []
        for job, trace in zip(jobs, self.generate(jobs, sampling, progress=progress), strict=True):
            logprobs = own_logprobs(self.model, trace, self.markers.close_id, sampling.temperature)
            if trace.n_forced:
                del logprobs[len(trace.think_ids)]
            found.append(Drawn(trace, tuple(logprobs[len(logprobs) - job.drawn(trace) :])))
        return found
