"""Which budget each rollout of a group gets: a schedule of params, drawn from the group's own random stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastic.budget import Budget
from elastic.contracts.params.schedule import (
    BucketsSchedule,
    PrefixesSchedule,
    SampledSchedule,
    Schedule,
    TargetParams,
    WholeSchedule,
)
from elastic.errors import ParamsError
from elastic.seeding import uniforms


@dataclass(frozen=True)
class Slot:
    """What one rollout of a group is to be.

    Attributes:
        budget: its (t, s).
        thinking: number of its thinking; rollouts of a group with the same number share it.
        whole: whether t + s is one limit on the whole response.
    """

    budget: Budget
    thinking: int
    whole: bool = False


def _draw(stream: int, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(np.floor(uniforms(stream, 1)[0] * (high - low + 1)))


def group_slots(schedule: Schedule, budget: Budget, samples: int, *, stream: int, bucket: str | None) -> list[Slot]:
    """The slots of one group's `samples` rollouts.

    Args:
        schedule: of the recipe.
        budget: (t*, s*) of the round.
        samples: K.
        stream: the group's random stream.
        bucket: of the problem, where it is known.

    Raises:
        ParamsError: the schedule needs the problem's bucket and there is none.
    """
    if isinstance(schedule, PrefixesSchedule):
        cuts = sorted(schedule.think)
        return [Slot(Budget(cuts[i % len(cuts)], budget.solution), i // len(cuts)) for i in range(samples)]
    think = budget.think
    if isinstance(schedule, SampledSchedule):
        think = _draw(stream, schedule.low, budget.think)
    elif isinstance(schedule, BucketsSchedule):
        if bucket is None:
            raise ParamsError(
                "a problem has no difficulty bucket", where="train.schedule", remedy="train on bucketed problems"
            )
        think = schedule.think.get(bucket, budget.think)
    slot = Budget(think, budget.solution)
    return [Slot(slot, i, isinstance(schedule, WholeSchedule)) for i in range(samples)]


def group_target(target: TargetParams, stream: int) -> int:
    """The length, in tokens, that the prompt of a group asks for."""
    return _draw(stream, target.low, target.high)


def check_schedule(schedule: Schedule, budget: Budget, samples: int) -> None:
    """Refuse a schedule that does not fit its round.

    Raises:
        ParamsError: naming what does not fit.
    """
    where, tokens = "train.schedule", []
    if isinstance(schedule, SampledSchedule):
        tokens = [schedule.low]
    elif isinstance(schedule, BucketsSchedule):
        tokens = list(schedule.think.values())
    elif isinstance(schedule, PrefixesSchedule):
        tokens = schedule.think
        if max(tokens) != budget.think or len(set(tokens)) < len(tokens):
            raise ParamsError(
                f"prefixes at {tokens} of thinking up to t* = {budget.think}",
                where=where,
                remedy="name different cuts, the largest of them t* itself",
            )
        if samples % len(tokens):
            raise ParamsError(
                f"{samples} samples cannot be shared evenly by {len(tokens)} prefixes",
                where=where,
                remedy=f"set train.samples to a multiple of {len(tokens)}",
            )
    if over := [number for number in tokens if number > budget.think]:
        raise ParamsError(
            f"t = {max(over)} is above the round's t* = {budget.think}",
            where=where,
            remedy="t* is the largest thinking budget: lower the schedule or raise the round's budget",
        )
