"""The budgeted rollout (E1, section 3.2): traces under (t*, s*), and the ids and loss mask that training sees of them.

Ids go to the trainer as they were sampled; nothing is decoded and encoded again. The forced delimiter is not the
policy's choice, so the mask takes it out of the loss. `faithful` leaves it in, as the published code does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastic.budget import Budget
from elastic.engines.protocol import Engine, Job, Sampling
from elastic.trace import Trace


@dataclass(frozen=True)
class TrainingRow:
    """What the trainer sees of a trace: completion ids and their loss mask, both of shape (C,)."""

    completion_ids: list[int]
    loss_mask: list[int]


def sample_rollouts(
    engine: Engine, prompts: Sequence[tuple[int, ...]], seeds: Sequence[int], budget: Budget, temperature: float
) -> list[Trace]:
    """One trace a prompt under `budget`, with full support (top-p or top-k would bias the importance ratio)."""
    jobs = [Job.separate(prompt, budget, seed) for prompt, seed in zip(prompts, seeds, strict=True)]
    return engine.generate(jobs, Sampling(temperature=temperature))


def training_row(trace: Trace, close_id: int, *, faithful: bool) -> TrainingRow:
    """Completion ids and loss mask of one trace.

    A trace that sampled EOS inside its thinking ends there, as in the published training code (which masks whatever
    follows the first EOS).
    """
    ids = trace.completion_ids(close_id)
    mask = [1] * len(ids)
    if trace.closed == "forced" and not faithful:
        mask[len(trace.think_ids)] = 0
    return TrainingRow(ids, mask)
