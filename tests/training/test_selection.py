"""A rule leaves out the rollouts that it names and no others."""

from __future__ import annotations

import pytest

from elastic.answers.verdict import Verdict
from elastic.contracts.params.common import validate
from elastic.contracts.params.train import LeaveOut
from elastic.errors import ParamsError
from elastic.rewards.protocol import Rollout
from elastic.training.selection import takes_part


def rollout(tokens: int, verdict: Verdict) -> Rollout:
    return Rollout(tokens, 0, verdict, "natural", "eos")


ALL = [
    rollout(10, Verdict.CORRECT),
    rollout(30, Verdict.CORRECT),
    rollout(10, Verdict.WRONG),
    rollout(30, Verdict.TIMEOUT),
]


@pytest.mark.parametrize(
    ("kinds", "kept"),
    [
        (["wrong"], [True, True, False, False]),
        (["correct_long", "wrong_short"], [True, False, False, True]),
        (["correct_long", "wrong_long"], [True, False, True, False]),
        (["correct_long"], [True, False, True, True]),
    ],
)
def test_the_choices_of_the_art_of_efficient_reasoning(kinds: list[str], kept: list[bool]) -> None:
    rule = LeaveOut.model_validate({"kinds": kinds, "long_above": 20})
    assert [takes_part(each, rule) for each in ALL] == kept


def test_without_a_rule_all_take_part_but_rollouts_whose_grading_failed() -> None:
    assert [takes_part(each, None) for each in (*ALL, rollout(1, Verdict.ERROR))] == [True] * 4 + [False]


def test_long_and_short_need_a_length() -> None:
    with pytest.raises(ParamsError, match="long_above"):
        validate(LeaveOut, {"kinds": ["correct_long"]}, where="train.leave_out")
