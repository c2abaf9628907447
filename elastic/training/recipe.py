"""A recipe: everything that says how a round trains, and whether its parts go together.

Nothing here loads torch, so that a params file is checked in a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from elastic.budget import Budget
from elastic.contracts.params.schedule import BucketsSchedule, Schedule, TargetParams
from elastic.contracts.params.train import Alerts, Ceiling, LeaveOut, Lora, RewardParams, RoundParams, TrainParams
from elastic.engines.protocol import EngineName
from elastic.errors import ParamsError
from elastic.rewards.protocol import load_reward
from elastic.training.advantages import load_estimator
from elastic.training.schedules import check_schedule


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
    advantage_eps: float | None
    entropy: float
    reward: RewardParams
    estimator: str
    schedule: Schedule
    target: TargetParams | None
    leave_out: LeaveOut | None
    resample: int
    keep: str
    alerts: Alerts
    ceiling: Ceiling
    lora: Lora | None
    engine: EngineName
    importance_cap: float | None


def recipe_of(round_params: RoundParams, params: TrainParams) -> Recipe:
    """The recipe of one round."""
    blocks = {name: getattr(params, name) for name in type(params).model_fields if name not in ("monitor", "preflight")}
    return Recipe(
        **blocks,
        budget=round_params.budget,
        steps=round_params.steps,
        learning_rate=round_params.learning_rate,
    )


def check_rounds(rounds: Mapping[str, RoundParams], params: TrainParams, buckets: Sequence[str]) -> None:
    """Refuse what training would refuse only once its round has come.

    Args:
        rounds: the block `rounds`.
        params: the block `train`.
        buckets: difficulty buckets that a problem can be in.

    Raises:
        ParamsError: naming every key at fault, with a remedy: the reward or a hyperparameter of it, the estimator or
            its eps, a schedule that does not fit a round.
    """
    checks: list[Callable[[], Any]] = [
        partial(_check_reward, params),
        partial(_check_estimator, params),
        partial(_check_buckets, params.schedule, buckets),
        *(partial(_check_round, name, value, params) for name, value in rounds.items()),
    ]
    if faults := list(_faults(checks)):
        raise ParamsError("; ".join(faults), remedy="edit params.yaml at the keys named above")


def _faults(checks: Sequence[Callable[[], Any]]) -> Iterator[str]:
    for check in checks:
        try:
            check()
        except ParamsError as error:
            yield f"{error.where}: {error.what} ({error.remedy})" if error.where else error.what


def _check_reward(params: TrainParams) -> None:
    reward = load_reward(params.reward.name, params.reward.hyperparameters, where="train.reward")
    if "target_tokens" in reward.needs and params.target is None:
        raise ParamsError(
            f"the reward {params.reward.name} needs a length that the prompt asks for",
            where="train.target",
            remedy="add the block, as in {low: 100, high: 4000, suffix: ' Think for {tokens} tokens.'}",
        )


def _check_estimator(params: TrainParams) -> None:
    try:
        load_estimator(params.estimator, params.advantage_eps)
    except ParamsError as error:
        key = {"estimator": "train.estimator", "eps": "train.advantage_eps"}[str(error.where)]
        raise ParamsError(error.what, where=key, remedy=error.remedy) from None


def _check_buckets(schedule: Schedule, buckets: Sequence[str]) -> None:
    if isinstance(schedule, BucketsSchedule) and (unknown := sorted(set(schedule.think) - set(buckets))):
        raise ParamsError(
            f"no problem is in a bucket {unknown[0]!r}",
            where="train.schedule.think",
            remedy=f"name some of {', '.join(buckets)}",
        )


def _check_round(name: str, value: RoundParams, params: TrainParams) -> None:
    try:
        check_schedule(params.schedule, value.budget, params.samples)
    except ParamsError as error:
        where = f"{error.where} in {name}, rounds.{name}.budget {value.budget}"
        raise ParamsError(error.what, where=where, remedy=error.remedy) from None
