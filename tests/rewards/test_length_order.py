"""In a group of correct answers shorter ones get larger advantages, under each recipe that promises it.

A reward is paired with the estimator that it was published with and the epsilon of the published code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elastic.answers.verdict import Verdict
from elastic.rewards.protocol import Rollout, StatefulReward, load_reward
from elastic.training.advantages import load_estimator, needs_eps

EPS = 1e-6
LENGTHS = st.integers(1, 16384)
GROUP = st.lists(LENGTHS, min_size=2, max_size=16)
TARGET = 4096
LASER_D = {"start_target": TARGET, "lower": 1024, "upper": 16384, "step": 1024}

# Any two lengths are told apart.
STRICT: dict[str, dict[str, Any]] = {
    "kimi": {},
    "r1_alpha": {"alpha": 0.2},
    "alp": {"beta": 1e-7},
}
# Shorter is never worse, and is better where a target lies between.
STEPWISE: dict[str, dict[str, Any]] = {
    "truncation": {"target": TARGET},
    "truncation_quantile": {"start_target": TARGET, "window": 100},
    "thinkprune": {"limit": TARGET},
    "dler": {"target": TARGET},
    "laser": {"target": TARGET},
    "laser_d": LASER_D,
    "laser_de": LASER_D,
    "l1_max": {"alpha": 0.0003},
}


def view(tokens: int, verdict: Verdict = Verdict.CORRECT) -> Rollout:
    return Rollout(tokens - 1, 1, verdict, "natural", "eos", target_tokens=TARGET, ids=tuple(range(9)))


def advantages(
    name: str, params: dict[str, Any], groups: Sequence[Sequence[int]], estimator: str | None = None, eps: float = EPS
) -> list[list[float]]:
    """Advantages of groups of correct rollouts of these lengths."""
    reward = load_reward(name, params)
    state = [reward.start()] if isinstance(reward, StatefulReward) else []
    values = torch.tensor(
        [reward.rewards([view(tokens) for tokens in group], *state) for group in groups], dtype=torch.float64
    )
    estimator = estimator or reward.estimator
    estimate = load_estimator(estimator, eps if needs_eps(estimator) else None)
    return estimate(values.view(-1), values.shape[1]).view(values.shape).tolist()


@st.composite
def batches(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(2, 16))
    return draw(st.lists(st.lists(LENGTHS, min_size=size, max_size=size), min_size=1, max_size=4))


@pytest.mark.parametrize("name", STRICT)
@given(groups=batches())
@settings(deadline=None, max_examples=60)
def test_advantages_fall_with_length(name: str, groups: list[list[int]]) -> None:
    for lengths, values in zip(groups, advantages(name, STRICT[name], groups), strict=True):
        pairs = sorted(zip(lengths, values, strict=True))
        for (short, better), (long, worse) in pairwise(pairs):
            assert better > worse if short < long else better == pytest.approx(worse)


@pytest.mark.parametrize("name", STEPWISE)
@given(groups=batches())
@settings(deadline=None, max_examples=40)
def test_advantages_never_rise_with_length_and_fall_at_the_target(name: str, groups: list[list[int]]) -> None:
    for lengths, values in zip(groups, advantages(name, STEPWISE[name], groups), strict=True):
        pairs = sorted(zip(lengths, values, strict=True))
        for (short, better), (long, worse) in pairwise(pairs):
            assert better >= worse
            assert better > worse or not short <= TARGET < long


@given(group=GROUP)
@settings(deadline=None, max_examples=40)
def test_l1_exact_orders_by_distance_from_the_asked_length(group: list[int]) -> None:
    [values] = advantages("l1_exact", {"alpha": 0.0003}, [group])
    pairs = sorted((abs(TARGET - tokens), value) for tokens, value in zip(group, values, strict=True))
    for (near, better), (far, worse) in pairwise(pairs):
        assert better > worse if near < far else better == pytest.approx(worse)


@given(group=GROUP)
@settings(deadline=None, max_examples=20)
def test_correctness_alone_promises_nothing(group: list[int]) -> None:
    assert advantages("correctness", {}, [group]) == [[0.0] * len(group)]


def test_alp_lives_off_the_division_by_the_groups_std() -> None:
    # lengths 0 and 1000 * sqrt(2) apart: the unbiased std of rewards is 1e-4 (1414 tokens: 0.99985e-4)
    group = [1, 1415]
    std = 1e-7 * 1414 / 2**0.5
    half = 1e-7 * 1414 / 2
    assert advantages("alp", {"beta": 1e-7}, [group])[0][0] == pytest.approx(half / (std + 1e-6))
    assert advantages("alp", {"beta": 1e-7}, [group], eps=1e-4)[0][0] == pytest.approx(0.5 * 2**-0.5, rel=1e-3)
    assert advantages("alp", {"beta": 1e-7}, [group], "group_mean")[0][0] == pytest.approx(half)


def test_alp_of_length_over_the_longest_vanishes_at_a_beta_per_token() -> None:
    group = [1, 1415]
    per_token = {"beta": 1e-7, "divide_by_longest": True}
    assert advantages("alp", per_token, [group])[0][0] < 0.05
    per_response = {"beta": 1e-7 * 8192, "divide_by_longest": True}
    assert advantages("alp", per_response, [group])[0][0] > 0.7
