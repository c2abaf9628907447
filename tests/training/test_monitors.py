"""The preflight stops hopeless runs and only those; figures are those worked out by hand."""

from __future__ import annotations

import pytest

from elastic.answers.verdict import Verdict
from elastic.errors import TrainingError
from elastic.rewards.protocol import Rollout
from elastic.trace import Closed, Finish
from elastic.training.monitors import PreflightWatch, Scores, rollout_figures


def rollout(n_think: int, n_solution: int, closed: Closed, verdict: Verdict, finish: Finish = "eos") -> Rollout:
    return Rollout(n_think, n_solution, verdict, closed, finish)


GROUPS = [
    Scores([rollout(4, 2, "forced", Verdict.CORRECT), rollout(8, 4, "natural", Verdict.CORRECT)], [1.0, 1.0], "easy"),
    Scores(
        [rollout(6, 0, "eos", Verdict.NO_ANSWER), rollout(10, 6, "forced", Verdict.ERROR, "budget")],
        [0.0, None],
        "hard",
    ),
]


def test_lengths_are_given_apart_for_correct_and_wrong_and_errors_are_in_neither() -> None:
    figures = rollout_figures(GROUPS)
    assert figures["think_tokens_correct"] == 6
    assert figures["solution_tokens_correct"] == 3
    assert figures["think_tokens_wrong"] == 6
    assert figures["solution_tokens_wrong"] == 0
    assert figures["reward"] == pytest.approx(2 / 3)
    assert figures["accuracy"] == pytest.approx(2 / 3)
    assert figures["forced_share"] == 0.5
    assert figures["natural_share"] == 0.25
    assert figures["eos_in_think_share"] == 0.25
    assert figures["truncated_solution_share"] == 0.25
    assert figures["finished_share"] == 0.5
    assert figures["grading_error_share"] == 0.25
    assert figures["think_tokens"] == 7


def test_accuracy_is_given_by_difficulty_and_groups_of_equal_rewards_are_counted() -> None:
    figures = rollout_figures(GROUPS)
    assert (figures["accuracy_easy"], figures["accuracy_hard"]) == (1, 0)
    assert figures["zero_variance_share"] == 1


def test_the_zero_variance_share_counts_groups_and_ignores_errors() -> None:
    answer = rollout(1, 1, "natural", Verdict.WRONG)
    groups = [[1.0, 1.0], [1.0, 0.0], [None, 1.0], [None, None]]
    figures = rollout_figures([Scores([answer, answer], rewards) for rewards in groups])
    assert figures["zero_variance_share"] == pytest.approx(3 / 4)


GOOD = {"zero_variance_share": 0.5, "finished_share": 0.9, "natural_share": 0.3, "reward": 0.4}


def observe(watch: PreflightWatch, steps: int, **changes: float) -> str | None:
    said = None
    for step in range(1, steps + 1):
        said = watch.observe({**GOOD, **changes}, step=step) or said
    return said


def test_a_run_without_reward_variance_is_stopped_with_an_explanation() -> None:
    with pytest.raises(TrainingError, match="no group has an advantage"):
        observe(PreflightWatch(3), 3, zero_variance_share=1.0, reward=0.0)


def test_a_run_whose_solutions_never_end_is_stopped_with_an_explanation() -> None:
    with pytest.raises(TrainingError, match="ended its solution within s"):
        observe(PreflightWatch(3), 3, finished_share=0.0)


def test_thinking_that_the_model_never_closes_itself_only_warns() -> None:
    assert "closed its thinking itself" in (observe(PreflightWatch(3), 3, natural_share=0.0) or "")
    assert observe(PreflightWatch(3), 3) is None


def test_one_good_step_is_enough() -> None:
    watch = PreflightWatch(2)
    assert watch.observe({**GOOD, "zero_variance_share": 1.0}, step=1) is None
    assert watch.observe(dict(GOOD), step=2) is None


def test_a_run_resumed_after_the_preflight_is_not_stopped() -> None:
    watch = PreflightWatch(2)
    for step in (50, 51, 52):
        assert watch.observe({**GOOD, "zero_variance_share": 1.0}, step=step) is None
