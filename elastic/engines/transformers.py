"""The transformers engine: one batched decoding loop over a KV cache, with budgets kept row by row.

Each row carries its own limits, phase and random stream, so rows of different budgets and kinds share a batch. When a
row uses up its thinking budget the closing delimiter takes the place of its next token and goes through the model like
a sampled one: no second prefill. Finished rows leave the batch and its cache; they would be dead weight. Thinking that
several jobs were given is read once (`elastic/engines/prefill.py`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch

from elastic.budget import Budget
from elastic.engines.batches import batches
from elastic.engines.cache import can_spread, growing_cache, select_rows
from elastic.engines.prefill import share, whole
from elastic.engines.protocol import Drawn, Engine, Job, Progress, Sampling, Spent
from elastic.engines.rows import Rows
from elastic.engines.sampling import draw, draw_with_logprobs
from elastic.markers import Markers
from elastic.trace import Trace

# Rows are dropped once this share of the batch has finished: dropping copies the cache, keeping wastes work.
_DROP_SHARE = 0.2


class TransformersEngine(Engine):
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

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        """See Engine.draw."""
        return self._run(jobs, sampling, progress, keep_logprobs=True)

    def generate(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Trace]:
        """See Engine.generate; it spares the log-probabilities."""
        return [drawn.trace for drawn in self._run(jobs, sampling, progress, keep_logprobs=False)]

    def _run(
        self, jobs: Sequence[Job], sampling: Sampling, progress: Progress | None, *, keep_logprobs: bool
    ) -> list[Drawn]:
        for job in jobs:
            job.check(self.context)
        found = {i: Drawn(trace, (), Spent(0, 0, 0.0)) for i, job in enumerate(jobs) if (trace := job.finished)}
        if progress and found:
            progress(len(found), 0)
        going = {i: job for i, job in enumerate(jobs) if i not in found}
        was_training = self.model.training
        self.model.eval()
        try:
            for batch in batches(going, self.batch_size):
                drawn = self._decode([jobs[i] for i in batch], sampling, keep_logprobs)
                for index, one in zip(batch, drawn, strict=True):
                    found[index] = one
                    if jobs[index].kind == "separate":
                        one.trace.check(Budget(jobs[index].think, jobs[index].solution))
                if progress:
                    progress(len(batch), sum(one.spent.sampled for one in drawn))
        finally:
            self.model.train(was_training)
        return [found[index] for index in range(len(jobs))]

    @torch.inference_mode()
    def _decode(self, jobs: list[Job], sampling: Sampling, keep_logprobs: bool) -> list[Drawn]:
        mask: torch.Tensor | None
        started, ends = time.perf_counter(), []
        rows = Rows(jobs, self.markers, self.model.device, keep_logprobs=keep_logprobs)
        cache = growing_cache(self.model.config)
        pad = self.markers.pad_id
        if can_spread(cache) and all(job.from_given for job in jobs):
            unread = share(self.model, cache, rows.inputs, [job.given for job in jobs], pad)
        else:
            unread = whole(rows.inputs, pad, self.model.device)
        ids = unread.ids
        positions = (unread.mask.cumsum(-1) - 1).clamp_min(0)[:, -ids.shape[-1] :]
        mask = _needed(unread.mask)
        while True:
            logits = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            if keep_logprobs:
                token = rows.step(*draw_with_logprobs(logits, rows.uniform(), sampling))
            else:
                token = rows.step(draw(logits, rows.uniform(), sampling))
            going = rows.going()
            left = int(going.sum())
            ends.append(time.perf_counter())
            if left == 0:
                break
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
        steps = rows.lengths.tolist()
        return [
            Drawn(trace, logprobs, Spent(job.drawn(trace), read, ends[step - 1] - started))
            for job, trace, logprobs, read, step in zip(
                jobs, rows.traces(), rows.drawn_logprobs(), unread.prefilled, steps, strict=True
            )
        ]


def _needed(mask: torch.Tensor) -> torch.Tensor | None:
    """The mask, or None when it hides nothing: attention is cheaper without."""
    return None if mask.all() else mask
