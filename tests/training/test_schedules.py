"""Budgets of a group's rollouts are those of its schedule, and a schedule that does not fit is refused."""

from __future__ import annotations

import pytest

from elastic.budget import Budget
from elastic.contracts.params.schedule import (
    BucketsSchedule,
    FixedSchedule,
    PrefixesSchedule,
    SampledSchedule,
    Schedule,
    TargetParams,
    WholeSchedule,
)
from elastic.errors import ParamsError
from elastic.training.schedules import Slot, check_schedule, group_slots, group_target

ROUND = Budget(32, 16)


def thinks(schedule: Schedule, samples: int = 4, *, stream: int = 0, bucket: str | None = None) -> list[int]:
    return [slot.budget.think for slot in group_slots(schedule, ROUND, samples, stream=stream, bucket=bucket)]


def test_a_fixed_schedule_gives_every_rollout_the_round_s_budget_and_thinking_of_its_own() -> None:
    assert group_slots(FixedSchedule(), ROUND, 2, stream=0, bucket=None) == [Slot(ROUND, 0), Slot(ROUND, 1)]


def test_a_whole_schedule_has_one_limit_on_the_response() -> None:
    assert group_slots(WholeSchedule(kind="whole"), ROUND, 1, stream=0, bucket=None) == [Slot(ROUND, 0, whole=True)]


def test_a_sampled_schedule_draws_one_t_a_group_and_reaches_both_ends() -> None:
    schedule = SampledSchedule(kind="sampled", low=30)
    drawn = [thinks(schedule, stream=stream) for stream in range(200)]
    assert all(len(set(group)) == 1 for group in drawn)
    assert {group[0] for group in drawn} == {30, 31, 32}
    assert thinks(schedule, stream=7) == thinks(schedule, stream=7)


def test_prefixes_share_their_thinking_within_a_trace() -> None:
    slots = group_slots(PrefixesSchedule(kind="prefixes", think=[32, 8]), ROUND, 4, stream=0, bucket=None)
    assert [(slot.budget.think, slot.thinking) for slot in slots] == [(8, 0), (32, 0), (8, 1), (32, 1)]
    assert {slot.budget.solution for slot in slots} == {16}


def test_a_bucket_has_its_own_t_and_one_that_is_not_named_has_that_of_the_round() -> None:
    schedule = BucketsSchedule(kind="buckets", think={"easy": 8})
    assert thinks(schedule, 1, bucket="easy") == [8]
    assert thinks(schedule, 1, bucket="hard") == [32]
    with pytest.raises(ParamsError, match="no difficulty bucket"):
        thinks(schedule)


def test_a_target_length_is_drawn_from_both_ends() -> None:
    target = TargetParams(low=4, high=6, suffix=" Think for {tokens} tokens.")
    assert {group_target(target, stream) for stream in range(100)} == {4, 5, 6}


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        (SampledSchedule(kind="sampled", low=33), "t = 33 is above"),
        (BucketsSchedule(kind="buckets", think={"easy": 64}), "t = 64 is above"),
        (PrefixesSchedule(kind="prefixes", think=[8, 16]), "largest of them t"),
        (PrefixesSchedule(kind="prefixes", think=[8, 16, 32]), "multiple of 3"),
        (PrefixesSchedule(kind="prefixes", think=[32, 32]), "name different cuts"),
    ],
)
def test_a_schedule_that_does_not_fit_its_round_is_refused(schedule: Schedule, says: str) -> None:
    with pytest.raises(ParamsError, match=says):
        check_schedule(schedule, ROUND, samples=4)
