"""Params of the stage train: budget-constrained GRPO, and the rounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from elastic.contracts.params.common import BudgetText, Count, Natural, Positive, Share, Strict, Temperature


class RoundParams(Strict):
    """One round of training.

    Attributes:
        prev: the model that the round starts from: `base` or an earlier round.
        budget: (t*, s*) of every rollout (E1, section 3.2).
        steps: optimisation steps.
        learning_rate: constant after warm-up.
    """

    prev: str
    budget: BudgetText
    steps: Count
    learning_rate: Positive


class Monitor(Strict):
    """A fixed slice of the validation split, generated every `every` steps at (t*, s*) and at one unseen budget."""

    every: Count
    problems: Count
    unseen: BudgetText


class Preflight(Strict):
    """When training stops because it can teach nothing.

    Attributes:
        steps: how many first steps are watched.
    """

    steps: Count


class TrainParams(Strict):
    """GRPO under a budget.

    Attributes:
        prompts: problems a step.
        samples: rollouts a problem (the group, K of GRPO).
        minibatches: optimisation steps a generation batch is used for, once each (the ratio differs from 1 after
            the first).
        temperature: of rollouts; full support, since top-p or top-k would bias the ratio.
        clip_low, clip_high: PPO clipping of the ratio.
        kl: coefficient of the KL term against the round's start; 0 loads no reference model.
        loss: how token losses are averaged, in TRL's names.
        advantage_eps: added to the group's standard deviation (E1's code: 1e-6).
        warmup_steps: linear warm-up of the learning rate.
        max_grad_norm: gradient clipping.
        faithful: reproduce the published code: forced delimiter in the loss, no clipping, a solution after an EOS
            inside thinking.
        micro_batch: sequences a forward and backward pass.
        save_every: steps between checkpoints, a multiple of `minibatches`.
        seed: order of problems and random streams of rollouts.
    """

    prompts: Count
    samples: Annotated[int, Field(ge=2)]
    minibatches: Count
    temperature: Annotated[Temperature, Field(gt=0)]
    clip_low: Share
    clip_high: Positive
    kl: Annotated[float, Field(ge=0)]
    loss: Literal["dapo", "bnpo", "grpo", "dr_grpo"]
    advantage_eps: Positive
    warmup_steps: Natural
    max_grad_norm: Positive
    faithful: bool
    micro_batch: Count
    save_every: Count
    monitor: Monitor
    preflight: Preflight
    seed: Natural

    @model_validator(mode="after")
    def _shapes(self) -> TrainParams:
        rollouts = self.prompts * self.samples
        if rollouts % self.minibatches or (rollouts // self.minibatches) % self.micro_batch:
            raise ValueError(
                f"prompts x samples = {rollouts} must split into {self.minibatches} minibatches of whole "
                f"micro-batches of {self.micro_batch}"
            )
        if self.save_every % self.minibatches:
            raise ValueError("save_every must be a multiple of minibatches, so that no generation batch is cut")
        return self


class RoundsBlock(Strict):
    """The block `rounds`: a chain by `prev`.

    The order of the mapping is the order of the chain, so every `prev` stands above the round that names it.
    """

    rounds: dict[str, RoundParams]

    @model_validator(mode="after")
    def _chain(self) -> RoundsBlock:
        seen = {"base"}
        if not self.rounds:
            raise ValueError("rounds is empty: name at least one round")
        for name, params in self.rounds.items():
            if name == "base" or not name.replace("_", "").isalnum() or not name.islower():
                raise ValueError(f"{name!r} cannot name a round: use lower-case letters and digits, and not `base`")
            if params.prev not in seen:
                raise ValueError(f"{name}.prev is {params.prev!r}, which is neither base nor a round above it")
            seen.add(name)
        return self
