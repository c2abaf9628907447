"""An engine with weights of its own as the policy's sampler: it takes the policy's over whenever they have changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch
from transformers import TrainerCallback

from elastic.engines.protocol import Drawn, Engine, Job, Progress, Sampling
from elastic.training.lora import merged_weights


class LoadingEngine(Engine, Protocol):
    """An engine that can be given other weights of the same model."""

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Take over the weights by the names of the state dict."""
        ...


class FollowingEngine(TrainerCallback, Engine):
    """An engine that samples from `policy` as it is now, and the callback that tells it of optimisation steps.

    The weights go over once a step at most, before the first job after it; those of adapters are merged on the way.

    Args:
        policy: what is trained.
        engine: started with the same model, whatever its weights.
    """

    def __init__(self, policy: Any, engine: LoadingEngine) -> None:
        self.policy, self.engine, self.markers = policy, engine, engine.markers
        self._changed = True

    @property
    def context(self) -> int | None:
        """See Engine.context."""
        return self.engine.context

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note that the policy has moved."""
        self._changed = True

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        """See Engine.draw."""
        if self._changed:
            self.engine.load_weights(merged_weights(self.policy))
            self._changed = False
        return self.engine.draw(jobs, sampling, progress=progress)
