"""Params of the stage train: budget-constrained GRPO, and the rounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from elastic.contracts.params.common import BudgetText, Count, EngineName, Natural, Positive, Share, Strict, Temperature
from elastic.contracts.params.schedule import FixedSchedule, Schedule, TargetParams


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


class RewardParams(BaseModel):
    """The name of a reward (a file of elastic/rewards) and, beside it, the reward's own hyperparameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Everything but the name, to be validated by the reward itself."""
        return dict(self.model_extra or {})


Kind = Literal["correct", "wrong", "correct_long", "correct_short", "wrong_long", "wrong_short"]


class LeaveOut(Strict):
    """Samples that take no part in the loss (The Art of Efficient Reasoning compares such choices).

    They keep their place in the statistics of their group.

    Attributes:
        kinds: by correctness and length.
        long_above: a response with more tokens than this is long.
    """

    kinds: Annotated[list[Kind], Field(min_length=1)]
    long_above: Natural = 0

    @model_validator(mode="after")
    def _length(self) -> LeaveOut:
        if self.long_above == 0 and any("_" in kind for kind in self.kinds):
            raise ValueError("long and short need long_above, the tokens that a long response exceeds")
        return self


class Alerts(Strict):
    """When a run is said to collapse. A bound is held against the mean of the last `window` steps.

    Attributes:
        window: steps.
        min_entropy: nats a token.
        max_reward_fall, max_accuracy_fall: fall below the best earlier mean, as a share of it.
        min_think_share: mean thinking over that of the first `window` steps.
        stop: whether an alert ends the run.
    """

    window: Count = 10
    min_entropy: Annotated[float, Field(ge=0)] = 0.01
    max_reward_fall: Share = 0.5
    max_accuracy_fall: Share = 0.5
    min_think_share: Share = 0.05
    stop: bool = False


class Ceiling(Strict):
    """Where a run ends cleanly before its last step.

    Attributes:
        tokens: sampled by rollouts and monitors; None for no ceiling.
        seconds: of this process; a run that it ends is not reproducible to the step.
    """

    tokens: Count | None = None
    seconds: Positive | None = None


class Lora(Strict):
    """Low-rank adapters (peft) instead of full fine-tuning; the round's model is saved merged.

    Attributes:
        rank: r.
        alpha: the update is scaled by alpha / r.
        dropout: on the adapter's input.
        targets: names of the linear layers; "all-linear" for every one but the head.
    """

    rank: Count
    alpha: Count
    dropout: Share = 0.0
    targets: list[str] | Literal["all-linear"] = "all-linear"


class TrainParams(Strict):
    """GRPO under a budget.

    A recipe is the reward, the estimator with its eps, the clip, the schedule and what the loss leaves out, together:
    they only work together (docs/recipes.md).

    Attributes:
        reward: see elastic/rewards.
        estimator: see elastic/training/advantages.py.
        schedule: budgets of the rollouts of a group.
        target: a length that the prompt asks for (L1).
        leave_out: samples without a part in the loss.
        resample: how often a group whose rewards are all equal is sampled anew, at most.
        prompts: problems a step.
        samples: rollouts a problem (the group, K of GRPO).
        minibatches: optimisation steps a generation batch is used for, once each (the ratio differs from 1 after
            the first). The last of them is minibatches - 1 steps behind its policy: staleness.
        temperature: of rollouts; full support, since top-p or top-k would bias the ratio.
        clip_low, clip_high: PPO clipping of the ratio.
        kl: coefficient of the KL term against the round's start; 0 loads no reference model.
        entropy: coefficient of an entropy bonus.
        loss: how token losses are averaged, in TRL's names.
        advantage_eps: added to the estimator's standard deviation (E1's code: 1e-6); None where it has none.
        warmup_steps: linear warm-up of the learning rate.
        max_grad_norm: gradient clipping.
        faithful: reproduce the published code: forced delimiter in the loss, no clipping, a solution after an EOS
            inside thinking.
        micro_batch: sequences a forward and backward pass.
        save_every: steps between checkpoints, a multiple of `minibatches`.
        keep: the model that the round hands on: of its last step, or of the checkpoint with the best accuracy on the
            monitor slice at (t*, s*).
        alerts, ceiling: when a run warns or ends early.
        lora: adapters, None for full fine-tuning.
        engine: what samples the rollouts and the monitor slice: engines draw other numbers from the same streams.
        importance_cap: tokens weigh by the trainer's probability over that of the engine, no more than this (truncated
            importance sampling); None for no correction. The transformers engine needs none, it samples from the
            policy itself.
        seed: order of problems and random streams of rollouts.
    """

    reward: RewardParams = RewardParams(name="correctness")
    estimator: str = "group_std"
    schedule: Schedule = FixedSchedule()
    target: TargetParams | None = None
    leave_out: LeaveOut | None = None
    resample: Natural = 0
    prompts: Count
    samples: Annotated[int, Field(ge=2)]
    minibatches: Count
    temperature: Annotated[Temperature, Field(gt=0)]
    clip_low: Share
    clip_high: Positive
    kl: Annotated[float, Field(ge=0)]
    entropy: Annotated[float, Field(ge=0)] = 0.0
    loss: Literal["dapo", "bnpo", "grpo", "dr_grpo", "cispo", "sapo", "luspo", "vespo"]
    advantage_eps: Positive | None = None
    warmup_steps: Natural
    max_grad_norm: Positive
    faithful: bool
    micro_batch: Count
    save_every: Count
    keep: Literal["last", "best"] = "last"
    alerts: Alerts = Alerts()
    ceiling: Ceiling = Ceiling()
    lora: Lora | None = None
    engine: EngineName = "transformers"
    importance_cap: Positive | None = None
    monitor: Monitor
    preflight: Preflight
    seed: Natural

    @model_validator(mode="before")
    @classmethod
    def _full_support(cls, values: Any) -> Any:
        narrowed = sorted({"top_p", "top_k", "min_p"} & set(values)) if isinstance(values, dict) else []
        if narrowed:
            raise ValueError(
                f"{', '.join(narrowed)}: training samples from the full distribution, since the trainer's "
                "log-probabilities know nothing of a narrowed one and the importance ratio would be biased; remove it"
            )
        return values

    @model_validator(mode="after")
    def _shapes(self) -> TrainParams:
        rollouts = self.prompts * self.samples
        if rollouts % self.minibatches or (rollouts // self.minibatches) % self.micro_batch:
            raise ValueError(
                f"prompts x samples = {rollouts} must split into {self.minibatches} minibatches of whole "
                f"micro-batches of {self.micro_batch}"
            )
        if self.keep == "best" and self.monitor.every % self.save_every:
            raise ValueError("keep: best needs monitor.every to be a multiple of save_every: it keeps a checkpoint")
        if self.importance_cap is not None and self.engine == "transformers":
            raise ValueError(
                "importance_cap corrects for an engine of its own weights: set engine to vllm or remove it"
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
