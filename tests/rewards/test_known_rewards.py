"""Known values of every reward, worked by hand; an error always leaves its group and changes nothing in it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

import pytest

from elastic.answers.verdict import Verdict
from elastic.errors import DataError, ParamsError
from elastic.rewards.laser_d import TargetsState
from elastic.rewards.laser_de import repeats
from elastic.rewards.protocol import Reward, Rollout, StatefulReward, load_reward, reward_names
from elastic.rewards.truncation_quantile import QuantileState
from elastic.trace import Trace

RIGHT, WRONG, NONE, TIMEOUT, ERROR = Verdict


def rollout(tokens: int, verdict: Verdict = RIGHT, **more: Any) -> Rollout:
    """A closed rollout of `tokens`, 2 of them in its solution, unless it has no answer because of an EOS inside."""
    if verdict is NONE:
        return Rollout(tokens, 0, verdict, "eos", "eos", **more)
    return Rollout(tokens - 2, 2, verdict, "natural", more.pop("finish", "eos"), **more)


def rewards(name: str, group: Sequence[Rollout], **params: Any) -> list[float | None]:
    reward = load_reward(name, params)
    assert isinstance(reward, Reward)
    return reward.rewards(group)


def stateful(name: str, **params: Any) -> StatefulReward[Any]:
    reward = load_reward(name, params)
    assert isinstance(reward, StatefulReward)
    return reward


def test_a_rollout_counts_as_its_trace_does_and_holds_no_delimiter() -> None:
    trace = Trace((9,), (1, 5, 6), (7, 8), "forced", "eos", opening=1)
    view = Rollout.of(trace, WRONG, target_tokens=3)
    assert (view.tokens, view.think_tokens, view.solution_tokens) == (4, 2, 2)
    assert (view.ids, view.closed, view.finish, view.target_tokens) == ((5, 6, 7, 8), "forced", "eos", 3)


def test_correctness() -> None:
    assert rewards("correctness", [rollout(9, verdict) for verdict in Verdict]) == [1.0, 0.0, 0.0, 0.0, None]


@pytest.mark.parametrize("name", ["truncation", "dler"])
def test_truncation_pays_correct_answers_up_to_the_target_itself(name: str) -> None:
    group = [rollout(10), rollout(11), rollout(10, finish="budget"), rollout(5, WRONG), rollout(5, NONE)]
    assert rewards(name, [*group, rollout(5, ERROR)], target=10) == [1.0, 0.0, 1.0, 0.0, 0.0, None]


def test_thinkprune_pays_nothing_for_a_response_that_was_cut() -> None:
    group = [rollout(10), rollout(11), rollout(10, finish="budget"), rollout(5, WRONG), rollout(5, ERROR)]
    assert rewards("thinkprune", group, limit=10) == [1.0, 0.0, 0.0, 0.0, None]


def test_the_running_quantile_is_a_length_that_enough_correct_responses_keep_to() -> None:
    reward = stateful("truncation_quantile", start_target=6, window=10)
    group = [rollout(6), rollout(7), rollout(7, ERROR)]
    assert reward.rewards(group, reward.start()) == [1.0, 0.0, None]
    # the latest ten correct lengths are 12..21: nine of them, 0.9, are at most 20
    batch = [[rollout(10 + i), rollout(99, WRONG), rollout(99, ERROR)] for i in range(12)]
    state = reward.update(reward.start(), batch)
    assert state == QuantileState(lengths=tuple(range(12, 22)))
    assert reward.rewards([rollout(20), rollout(21), rollout(9, WRONG)], state) == [1.0, 0.0, 0.0]
    assert reward.update(state, [[rollout(50)]]).lengths == (*range(13, 22), 50)


def test_kimi() -> None:
    # lengths 10 to 30: lam is 1/2, 0, -1/2 at 10, 20, 30; a wrong answer never gains
    group = [rollout(10), rollout(20), rollout(30), rollout(10, WRONG), rollout(30, WRONG), rollout(20, NONE)]
    expected = [1.2, 1.0, 0.8, 0.0, -0.2, 0.0, None]
    assert rewards("kimi", [*group, rollout(90, ERROR)]) == pytest.approx(expected)
    assert rewards("kimi", group, weight=1)[:3] == pytest.approx([1.5, 1.0, 0.5])


def test_kimi_has_no_length_term_where_all_lengths_are_equal() -> None:
    assert rewards("kimi", [rollout(10), rollout(10, WRONG), rollout(99, ERROR)]) == [1.0, 0.0, None]


def test_laser_tells_wrong_from_no_answer() -> None:
    group = [rollout(10), rollout(11), rollout(5, WRONG), rollout(5, TIMEOUT), rollout(5, NONE), rollout(5, ERROR)]
    assert rewards("laser", group, target=10) == [1.5, 1.0, -0.5, -0.5, -1.0, None]


LASER_D = {"start_target": 40, "lower": 10, "upper": 40, "step": 10}


def test_laser_d_takes_the_target_of_the_groups_difficulty() -> None:
    reward = stateful("laser_d", **LASER_D)
    state = TargetsState(easy=10, medium=20, hard=30)
    easy, medium, hard = (
        [*[rollout(20)] * right, *[rollout(20, WRONG)] * (3 - right), rollout(20, ERROR)] for right in (2, 1, 0)
    )
    assert reward.rewards(easy, state) == [1.0, 1.0, -0.5, None]
    assert reward.rewards(medium, state) == [1.5, -0.5, -0.5, None]
    assert reward.rewards(hard, state) == [-0.5, -0.5, -0.5, None]


def test_laser_d_estimates_its_targets_on_the_monitor_problems() -> None:
    reward = stateful("laser_d", **LASER_D)
    # n = 3. Easy: m = 2, half of the responses must keep to L. Medium and hard: m = 1, all of them must.
    easy = [rollout(9), rollout(30), rollout(31)]  # 1 of 3 up to 10 and 20, 2 of 3 up to 30
    medium = [rollout(5), rollout(12, WRONG), rollout(20, WRONG), rollout(99, ERROR)]
    hard = [rollout(5, WRONG), rollout(12, WRONG), rollout(41, WRONG)]
    state = reward.update(reward.start(), [easy, medium, hard])
    assert state == TargetsState(easy=30, medium=20, hard=40)
    assert reward.update(state, [[rollout(5)] * 3]) == TargetsState(easy=10, medium=20, hard=40)
    assert reward.update(state, [[rollout(5, ERROR)]]) == state


def test_laser_de_pays_a_wrong_answer_for_exploring_but_not_for_repeating_itself() -> None:
    reward = stateful("laser_de", **LASER_D)
    state = TargetsState(easy=10, medium=10, hard=10)
    fresh, again = tuple(range(20)), (1, 2) * 10
    group = [
        rollout(11, WRONG, ids=fresh),
        rollout(11, TIMEOUT, ids=fresh),
        rollout(11, WRONG, ids=again),
        rollout(10, WRONG, ids=fresh),
        rollout(11, NONE, ids=fresh),
        rollout(10, ids=fresh),
        rollout(11, ERROR),
    ]
    assert reward.rewards(group, state) == [0.0, 0.0, -0.5, -0.5, -1.0, 1.5, None]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2, 1, 2, 1, 2, 1, 2], False),  # up to 8 tokens
        ([1, 2, 3, 1, 2, *range(10, 20)], True),  # 15 tokens: a 2-gram twice, 3 < 5 apart
        ([1, 2, 3, 4, 5, 1, 2, *range(10, 18)], False),  # 15 tokens: 5 apart is not under 5
        ([*range(8), *range(100, 120), *range(8)], True),  # 36 tokens: far apart, but a 6-gram twice
        ([1, 2, 3, *range(50, 60), 1, 2, 3, *range(10, 34)], False),  # 40 tokens: a 3-gram twice, 13 apart
        ([7] * 5 + list(range(100, 130)), False),  # one single token is no 3-gram, and too short for a 6-gram twice
        ([7] * 7 + list(range(100, 130)), True),  # a 6-gram of one token stands twice
        ([*[1, 2, 3, 4, 5] * 2, *range(100, 300)], False),  # from 200 tokens on a 4-gram must stand 3 times
    ],
)
def test_repetition(ids: list[int], expected: bool) -> None:
    assert repeats(ids) is expected


def test_r1_alpha() -> None:
    # correct lengths 10 and 30: mean 20, population std 10, so that z is -1 and 1
    group = [rollout(10), rollout(30), rollout(99, WRONG), rollout(99, finish="budget"), rollout(99, ERROR)]
    low, high = 1 / (1 + exp(1)), 1 / (1 + exp(-1))
    assert rewards("r1_alpha", group, alpha=0.2) == pytest.approx([1 - 0.2 * low, 1 - 0.2 * high, 0, 0, None])


def test_r1_alpha_of_equal_lengths_is_halfway_and_a_group_without_correct_answers_is_0() -> None:
    assert rewards("r1_alpha", [rollout(10), rollout(10)], alpha=0.4) == pytest.approx([0.8, 0.8])
    assert rewards("r1_alpha", [rollout(10, WRONG), rollout(10, NONE)], alpha=0.4) == [0.0, 0.0]


def test_alp_charges_every_response_by_the_share_of_correct_ones() -> None:
    # 2 of 4 correct, and an error that counts in neither: p = 1/2
    group = [rollout(100), rollout(200), rollout(300, WRONG), rollout(400, NONE), rollout(500, ERROR)]
    expected = [1 - 5e-6, 1 - 1e-5, -1.5e-5, -2e-5, None]
    assert rewards("alp", group, beta=1e-7) == pytest.approx(expected, abs=1e-12)
    longest = [1 - 0.1 * 0.5 / 4, 1 - 0.1 * 0.5 / 2, -0.1 * 0.5 * 3 / 4, -0.1 * 0.5, None]
    assert rewards("alp", group, beta=0.1, divide_by_longest=True) == pytest.approx(longest)


def test_alp_charges_an_unsolved_problem_as_if_one_rollout_were_correct() -> None:
    group = [rollout(100, WRONG), rollout(200, WRONG)]
    assert rewards("alp", group, beta=0.01) == pytest.approx([-0.5, -1.0])


def test_l1_exact_charges_the_distance_from_the_asked_length() -> None:
    group = [rollout(tokens, verdict, target_tokens=100) for tokens, verdict in ((100, RIGHT), (90, RIGHT))]
    group += [rollout(120, WRONG, target_tokens=100), rollout(100, NONE, target_tokens=50), rollout(9, ERROR)]
    assert rewards("l1_exact", group, alpha=0.01) == pytest.approx([1.0, 0.9, -0.2, -0.5, None])


def test_l1_max_is_clipped_on_both_sides_and_pays_correct_answers_only() -> None:
    lengths = {100: 0.5, 80: 0.7, 50: 1.0, 10: 1.0, 120: 0.3, 150: 0.0, 190: 0.0}
    group = [rollout(tokens, target_tokens=100) for tokens in lengths]
    group += [rollout(10, WRONG, target_tokens=100), rollout(10, ERROR)]
    assert rewards("l1_max", group, alpha=0.01) == pytest.approx([*lengths.values(), 0.0, None])


QUESTION = "A4 B+3 C-7 D+9=?"


@pytest.mark.parametrize(
    ("text", "credit"),
    [
        ("B4+3=7 so C7-7=0 D0+9=9 \\boxed{9}", 1.0),
        ("B7 C0 D9\\boxed{9}", 1.0),  # terse
        ("B4+3=7 C0 check: B4+3=7 C7-7=0\\boxed{9}", 2 / 3),  # a check earns nothing
        ("B4+3=7 C7-7=1 \\boxed{9}", 0.0),  # one right, one wrong
        ("B4+3=7 C7-7=0 D0+8=8 \\boxed{9}", 1 / 3),  # a sum that is true, but not of this chain
        ("B4+3=7 C7-7=", 1 / 3),  # cut by the budget
        ("B4+3=7 C7", 0.0),  # a terse total that is wrong
        ("E9+1=10 B7", 0.0),  # a step that the chain does not have
        ("\\boxed{9}", 0.0),
    ],
)
def test_steps_credit_each_right_step_once(text: str, credit: float) -> None:
    group = [rollout(9, verdict, question=QUESTION, text=text) for verdict in (RIGHT, WRONG)]
    assert rewards("steps", group, weight=0.5) == pytest.approx([1 + 0.5 * credit, 0.5 * credit])


def test_steps_without_a_solution_earn_nothing_and_other_questions_are_refused() -> None:
    assert rewards("steps", [rollout(9, NONE, question=QUESTION, text="B4+3=7")], weight=0.5) == [0.0]
    with pytest.raises(DataError, match=r"'1\+1=\?' is no chain"):
        rewards("steps", [rollout(9, question="1+1=?", text="2")], weight=0.5)


def test_steps_read_what_the_laptop_world_writes() -> None:
    from random import Random

    from elastic.data.chains import ChainsConfig, demonstrate, draw_chain

    rng, config = Random(3), ChainsConfig()
    for _ in range(50):
        chain = draw_chain(rng, config)
        text = " ".join(demonstrate(chain, rng, config))
        view = rollout(9, question=chain.question, text=text)
        assert rewards("steps", [view], weight=0.5) == [1.5], (chain.question, text)


PARAMS: dict[str, dict[str, Any]] = {
    "truncation": {"target": 10},
    "dler": {"target": 10},
    "thinkprune": {"limit": 10},
    "truncation_quantile": {"start_target": 10, "window": 4},
    "laser": {"target": 10},
    "laser_d": LASER_D,
    "laser_de": LASER_D,
    "r1_alpha": {"alpha": 0.2},
    "alp": {"beta": 1e-7},
    "l1_exact": {"alpha": 0.01},
    "l1_max": {"alpha": 0.01},
    "steps": {"weight": 0.5},
}


@pytest.mark.parametrize("name", reward_names())
def test_every_file_is_a_reward_that_leaves_errors_out_and_names_a_wrong_key(name: str) -> None:
    reward = load_reward(name, PARAMS.get(name, {}))
    group = [rollout(9, ERROR), rollout(9, ERROR)]
    found = reward.rewards(group, reward.start()) if isinstance(reward, StatefulReward) else reward.rewards(group)
    assert found == [None, None]
    with pytest.raises(ParamsError, match=rf"{name}\.wight: .*not permitted"):
        load_reward(name, {**PARAMS.get(name, {}), "wight": 1})


@pytest.mark.parametrize("name", ["laser_de", "l1_exact", "l1_max", "steps"])
def test_a_missing_field_is_named(name: str) -> None:
    reward = load_reward(name, PARAMS[name])
    with pytest.raises(DataError, match=f"has no {' and no '.join(reward.needs)}"):
        reward.rewards([rollout(9)], *([reward.start()] if isinstance(reward, StatefulReward) else []))


@pytest.mark.parametrize("name", ["protocol", "__init__", "fuzzy", "../rewards/alp"])
def test_an_unknown_reward_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ParamsError, match=r"no reward is called .*\n.*alp, correctness"):
        load_reward(name, {})


@pytest.mark.parametrize("name", ["truncation_quantile", "laser_d", "laser_de"])
def test_a_state_survives_being_saved_and_resumes_exactly(name: str) -> None:
    reward = stateful(name, **PARAMS[name])
    batches = [[[rollout(5 + i), rollout(25 + i), rollout(9, WRONG)]] for i in range(4)]
    straight = resumed = reward.start()
    for batch in batches:
        straight = reward.update(straight, batch)
        resumed = reward.state_type.from_json(reward.update(resumed, batch).to_json())
    assert resumed == straight != reward.start()
    with pytest.raises(DataError, match="is no "):
        reward.state_type.from_json('{"other": 1}')


def test_laser_d_refuses_lengths_in_the_wrong_order() -> None:
    with pytest.raises(ParamsError, match="lower must be at most upper"):
        load_reward("laser_d", {**LASER_D, "lower": 50})
