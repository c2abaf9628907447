"""A recipe: everything that says how a round trains."""

from __future__ import annotations

from dataclasses import dataclass, field

from elastic.budget import Budget
from elastic.contracts.params.schedule import FixedSchedule, Schedule, TargetParams
from elastic.contracts.params.train import Alerts, Ceiling, LeaveOut, Lora, RewardParams, RoundParams, TrainParams


@dataclass(frozen=True)
class Recipe:
    """How to train; see TrainParams and RoundParams for the meaning of each value."""

    budget: Budget
    steps: int
    learning_rate: float
    prompts: int
    samples: int
    minibatches: int
    micro_batch: int
    temperature: float
    clip_low: float
    clip_high: float
    kl: float
    loss: str
    warmup_steps: int
    max_grad_norm: float
    faithful: bool
    save_every: int
    seed: int
    advantage_eps: float | None = None
    entropy: float = 0.0
    reward: RewardParams = field(default_factory=lambda: RewardParams(name="correctness"))
    estimator: str = "group_std"
    schedule: Schedule = field(default_factory=FixedSchedule)
    target: TargetParams | None = None
    leave_out: LeaveOut | None = None
    resample: int = 0
    keep: str = "last"
    alerts: Alerts = field(default_factory=Alerts)
    ceiling: Ceiling = field(default_factory=Ceiling)
    lora: Lora | None = None


def recipe_of(round_params: RoundParams, params: TrainParams) -> Recipe:
    """The recipe of one round."""
    blocks = {name: getattr(params, name) for name in type(params).model_fields if name not in ("monitor", "preflight")}
    return Recipe(
        **blocks,
        budget=round_params.budget,
        steps=round_params.steps,
        learning_rate=round_params.learning_rate,
    )
