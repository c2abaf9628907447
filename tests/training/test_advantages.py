"""Known values of group advantages."""

from __future__ import annotations

import math

import pytest
import torch

from elastic.errors import ParamsError
from elastic.training.advantages import (
    group_advantages,
    group_mean,
    load_estimator,
    reinforce_pp,
    reinforce_pp_baseline,
    rloo,
)

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


# Two groups of 3 and a rollout whose grading failed: means 2 (of 1 and 3) and 5 (of 2, 5 and 8).
BATCH = torch.tensor([1.0, NAN, 3.0, 2.0, 5.0, 8.0], dtype=torch.float64)


def test_the_group_mean_is_subtracted_and_nothing_divided() -> None:
    assert group_mean(BATCH, 3).tolist() == [-1.0, 0.0, 1.0, -3.0, 0.0, 3.0]


def test_rloo_subtracts_the_mean_of_the_others() -> None:
    # 1 - 3, 3 - 1; 2 - 6.5, 5 - 5, 8 - 3.5
    assert rloo(BATCH, 3).tolist() == pytest.approx([-2.0, 0.0, 2.0, -4.5, 0.0, 4.5])
    assert rloo(torch.tensor([1.0, NAN]), 2).tolist() == [0.0, 0.0]


def test_reinforce_pp_normalises_over_the_batch() -> None:
    # 1 3 2 5 8: mean 19/5, squares 7.84 + 0.64 + 3.24 + 1.44 + 17.64 = 30.8, unbiased variance 7.7
    expected = [(r - 3.8) / (math.sqrt(7.7) + 0.1) for r in (1, 3.8, 3, 2, 5, 8)]
    assert reinforce_pp(BATCH, 3, eps=0.1).tolist() == pytest.approx(expected)


def test_reinforce_pp_with_a_baseline_centres_groups_and_divides_by_the_std_of_what_is_left() -> None:
    # -1 1 -3 0 3: mean 0, unbiased variance 20 / 4
    expected = [r / (math.sqrt(5) + 0.1) for r in (-1, 0, 1, -3, 0, 3)]
    assert reinforce_pp_baseline(BATCH, 3, eps=0.1).tolist() == pytest.approx(expected)


ESTIMATORS = ["group_std", "group_mean", "rloo", "reinforce_pp", "reinforce_pp_baseline"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_without_any_known_reward_no_estimator_teaches(name: str) -> None:
    estimate = load_estimator(name, None if name in ("group_mean", "rloo") else 1e-6)
    assert estimate(torch.full((4,), NAN), 2).tolist() == [0.0] * 4
    assert estimate(torch.full((4,), 0.5), 2).tolist() == [0.0] * 4


def test_group_std_is_the_estimator_of_the_trainer() -> None:
    assert load_estimator("group_std", 0.1)(BATCH, 3).tolist() == group_advantages(BATCH, 3, 0.1).tolist()


@pytest.mark.parametrize(
    ("name", "eps", "fault"),
    [
        ("std", 1e-6, "no advantage estimator is called 'std'\n.*group_std"),
        ("group_std", None, "eps: group_std divides by a standard deviation"),
        ("reinforce_pp", -1.0, "not -1.0"),
        ("group_std", NAN, "not nan"),
        ("rloo", 1e-6, "eps: rloo divides by no standard deviation"),
    ],
)
def test_a_wrong_estimator_or_epsilon_is_refused(name: str, eps: float | None, fault: str) -> None:
    with pytest.raises(ParamsError, match=fault):
        load_estimator(name, eps)
