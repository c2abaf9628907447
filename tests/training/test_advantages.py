"""Known values of group advantages."""

from __future__ import annotations

import math

import pytest
import torch

from elastic.training.advantages import group_advantages, zero_variance_share

NAN = float("nan")


def test_a_group_is_centred_and_divided_by_its_unbiased_std() -> None:
    # rewards 1 1 0 0: mean 1/2, unbiased variance 4 * 1/4 / 3 = 1/3
    got = group_advantages(torch.tensor([1.0, 1.0, 0.0, 0.0]), 4, eps=0.0)
    expected = 0.5 * math.sqrt(3)
    assert got.tolist() == pytest.approx([expected, expected, -expected, -expected])


def test_eps_is_added_to_the_std_and_not_to_the_variance() -> None:
    # rewards 1 0: unbiased std sqrt(1/2); with eps 1/2 the divisor is sqrt(1/2) + 1/2
    got = group_advantages(torch.tensor([1.0, 0.0]), 2, eps=0.5)
    assert got[0].item() == pytest.approx(0.5 / (math.sqrt(0.5) + 0.5))


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_group_of_equal_rewards_has_advantage_exactly_zero(reward: float) -> None:
    assert group_advantages(torch.full((8,), reward), 4, eps=1e-6).tolist() == [0.0] * 8


def test_a_grading_error_is_left_out_of_its_group() -> None:
    # the known rewards are 1 0 1: mean 2/3, unbiased variance (1/9 + 4/9 + 1/9) / 2 = 1/3
    got = group_advantages(torch.tensor([1.0, 0.0, NAN, 1.0]), 4, eps=0.0)
    assert got.tolist() == pytest.approx([math.sqrt(3) / 3, -2 * math.sqrt(3) / 3, 0.0, math.sqrt(3) / 3])


def test_a_group_without_any_known_reward_teaches_nothing() -> None:
    assert group_advantages(torch.full((4,), NAN), 4, eps=1e-6).tolist() == [0.0] * 4


def test_groups_do_not_touch_each_other() -> None:
    both = group_advantages(torch.tensor([1.0, 0.0, 5.0, 5.0]), 2, eps=1e-6)
    alone = group_advantages(torch.tensor([1.0, 0.0]), 2, eps=1e-6)
    assert both[:2].tolist() == alone.tolist()
    assert both[2:].tolist() == [0.0, 0.0]


def test_the_zero_variance_share_counts_groups_and_ignores_errors() -> None:
    rewards = torch.tensor([1.0, 1.0, 1.0, 0.0, NAN, 1.0, NAN, NAN])
    assert zero_variance_share(rewards, 2) == pytest.approx(3 / 4)
