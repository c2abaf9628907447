"""The transformers engine: one batched decoding loop over a KV cache, with budgets kept row by row.

Each row carries its own limits, phase and random stream, so rows of different budgets and kinds share a batch. When a
row uses up its thinking budget the closing delimiter takes the place of its next token and goes through the model like
a sampled one: no second prefill. Finished rows leave the batch and its cache; they would be dead weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from elastic.budget import Budget
from elastic.engines.cache import growing_cache, select_rows
from elastic.engines.protocol import Job, Progress, Sampling
from elastic.engines.rows import Rows
from elastic.engines.sampling import draw
from elastic.markers import Markers
from elastic.trace import Trace

# Rows are dropped once this share of the batch has finished: dropping copies the cache, keeping wastes work.
_DROP_SHARE = 0.2


class TransformersEngine:
    """Budgeted decoding with a transformers causal language model.

    Args:
        model: the model; its device and dtype are used as they are.
        markers: delimiters of its tokenizer.
        batch_size: rows decoded together.
    """

    name = "transformers"

    def __init__(self, model: Any, markers: Markers, *, batch_size: int = 64) -> None:
        self.model, self.markers, self.batch_size = model, markers, batch_size

    @property
    def context(self) -> int | None:
        """The longest sequence the model can hold, or None when its config does not say."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def generate(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Trace]:
        """See Engine.generate. Jobs of like limits and then like lengths share a batch, so that little is padding."""
        for job in jobs:
            job.check(self.context)
        order = sorted(range(len(jobs)), key=lambda i: (jobs[i].wanted, jobs[i].given, i))
        traces: list[Trace | None] = [None] * len(jobs)
        was_training = self.model.training
        self.model.eval()
        try:
            for batch in _chunks(order, self.batch_size):
                tokens = 0
                for index, trace in zip(batch, self._decode([jobs[i] for i in batch], sampling), strict=True):
                    traces[index] = trace
                    if jobs[index].kind == "separate":
                        trace.check(Budget(jobs[index].think, jobs[index].solution))
                    tokens += jobs[index].drawn(trace)
                if progress:
                    progress(len(batch), tokens)
        finally:
            self.model.train(was_training)
        return [trace for trace in traces if trace is not None]

    @torch.inference_mode()
    def _decode(self, jobs: list[Job], sampling: Sampling) -> list[Trace]:
        mask: torch.Tensor | None
        rows = Rows(jobs, self.markers, self.model.device)
        ids, mask = rows.inputs()
        cache = growing_cache(self.model.config)
        positions = (mask.cumsum(-1) - 1).clamp_min(0)
        mask = _needed(mask)
        while True:
            logits = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            token = rows.step(draw(logits, rows.uniform(), sampling))
            going = rows.going()
            left = int(going.sum())
            if left == 0:
                return rows.traces()
            # A finished row stands still: it may be at the end of the context while others go on.
            position = positions[:, -1] + going
            if left <= (1 - _DROP_SHARE) * len(token):
                alive = going.nonzero(as_tuple=True)[0]
                rows.keep(alive)
                token, position = token[alive], position[alive]
                mask = None if mask is None else mask[alive]
                padding = 0 if mask is None else int(mask.argmax(dim=-1).min())
                dropped = select_rows(cache, alive, padding)
                mask = None if mask is None else _needed(mask[:, dropped:])
            if mask is not None:
                mask = torch.cat([mask, mask.new_ones((len(mask), 1))], dim=-1)
            ids, positions = token.unsqueeze(-1), position.unsqueeze(-1)


def _needed(mask: torch.Tensor) -> torch.Tensor | None:
    """The mask, or None when it hides nothing: attention is cheaper without."""
    return None if mask.all() else mask


def _chunks(order: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(order), size):
        yield order[start : start + size]
