"""Whole small runs: every recipe resumes exactly, ends where it is told to, and hands on the model it promises."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from parity import QUESTIONS, RECIPE, fresh, run

from elastic.budget import Budget
from elastic.contracts.params.schedule import PrefixesSchedule, SampledSchedule, TargetParams, WholeSchedule
from elastic.contracts.params.train import Alerts, Ceiling, LeaveOut, Lora, RewardParams
from elastic.errors import ParamsError, TrainingError
from elastic.prompts import Prompter
from elastic.training.recipe import Recipe

ALP = replace(RECIPE, reward=RewardParams(name="alp", beta=1e-3))
LASER_D = replace(
    RECIPE,
    reward=RewardParams.model_validate({"name": "laser_d", "start_target": 4, "lower": 2, "upper": 10, "step": 2}),
)
QUANTILE = replace(
    RECIPE,
    reward=RewardParams.model_validate({"name": "truncation_quantile", "start_target": 6, "window": 8}),
)
RLOO = replace(RECIPE, reward=RewardParams(name="r1_alpha", alpha=0.2), estimator="rloo", advantage_eps=None)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def same(one: Any, other: Any) -> bool:
    pairs = zip(one.state_dict().items(), other.state_dict().items(), strict=True)
    return all(name == other_name and torch.equal(a, b) for (name, a), (other_name, b) in pairs)


@pytest.mark.parametrize(
    "recipe",
    [RECIPE, ALP, LASER_D, QUANTILE, replace(RECIPE, schedule=SampledSchedule(kind="sampled", low=1), resample=1)],
    ids=["e1", "alp", "laser-d", "quantile", "sampled"],
)
def test_a_resumed_run_equals_the_straight_one(recipe: Recipe, prompter: Prompter, tmp_path: Path) -> None:
    straight, resumed = fresh(prompter), fresh(prompter)
    run(straight, prompter, tmp_path / "straight", recipe)
    shutil.copytree(tmp_path / "straight", tmp_path / "resumed")
    shutil.rmtree(tmp_path / "resumed" / "checkpoint-4")
    outcome = run(resumed, prompter, tmp_path / "resumed", recipe)
    assert outcome.resumed_from == 2
    assert rows(tmp_path / "straight") == rows(tmp_path / "resumed")
    assert same(straight, resumed)
    states = [tmp_path / name / "checkpoint-4" / "reward_state.json" for name in ("straight", "resumed")]
    if recipe in (LASER_D, QUANTILE):
        assert states[0].read_text(encoding="utf-8") == states[1].read_text(encoding="utf-8")


def test_a_widening_chain_resumes_in_its_second_round_as_if_it_ran_straight(prompter: Prompter, tmp_path: Path) -> None:
    wider = replace(RECIPE, budget=Budget(10, 4))
    models = [fresh(prompter), fresh(prompter)]
    for name, model in zip(("straight", "resumed"), models, strict=True):
        run(model, prompter, tmp_path / name / "r1")
        shutil.copytree(tmp_path / "straight" / "r2", tmp_path / name / "r2") if name == "resumed" else None
        if name == "resumed":
            shutil.rmtree(tmp_path / name / "r2" / "checkpoint-4")
        run(model, prompter, tmp_path / name / "r2", wider)
    assert same(*models)


def test_a_reward_s_state_is_saved_with_the_checkpoint_and_moves(prompter: Prompter, tmp_path: Path) -> None:
    run(fresh(prompter), prompter, tmp_path, LASER_D)
    state = json.loads((tmp_path / "checkpoint-4" / "reward_state.json").read_text(encoding="utf-8"))
    assert set(state) == {"easy", "medium", "hard"}
    assert state != {"easy": 4, "medium": 4, "hard": 4}


@pytest.mark.parametrize("recipe", [ALP, RLOO], ids=["alp", "rloo"])
def test_another_reward_or_estimator_trains_another_model(recipe: Recipe, prompter: Prompter, tmp_path: Path) -> None:
    one, other = fresh(prompter), fresh(prompter)
    run(one, prompter, tmp_path / "one")
    run(other, prompter, tmp_path / "other", recipe)
    assert not same(one, other)


def test_adapters_are_merged_into_the_model_and_only_they_were_trained(prompter: Prompter, tmp_path: Path) -> None:
    model, base = fresh(prompter), fresh(prompter)
    names = set(model.state_dict())
    run(model, prompter, tmp_path, replace(RECIPE, lora=Lora(rank=2, alpha=4)))
    assert set(model.state_dict()) == names
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, base.state_dict()[name])}
    assert moved
    assert all(name.endswith("proj.weight") for name in moved)
    for name in moved:  # the product of two factors of rank 2
        assert torch.linalg.matrix_rank(model.state_dict()[name] - base.state_dict()[name], atol=1e-6) <= 2


def test_a_run_with_adapters_resumes_exactly(prompter: Prompter, tmp_path: Path) -> None:
    recipe = replace(RECIPE, lora=Lora(rank=2, alpha=4))
    straight, resumed = fresh(prompter), fresh(prompter)
    run(straight, prompter, tmp_path / "straight", recipe)
    shutil.copytree(tmp_path / "straight", tmp_path / "resumed")
    shutil.rmtree(tmp_path / "resumed" / "checkpoint-4")
    assert run(resumed, prompter, tmp_path / "resumed", recipe).resumed_from == 2
    assert same(straight, resumed)


def test_a_ceiling_of_tokens_ends_the_run_cleanly_and_says_so(prompter: Prompter, tmp_path: Path) -> None:
    outcome = run(fresh(prompter), prompter, tmp_path, replace(RECIPE, steps=50, ceiling=Ceiling(tokens=300)))
    assert outcome.steps < 50
    assert outcome.ended_by is not None
    assert "300 sampled tokens" in outcome.ended_by
    drawn = [row.get("sampled_tokens", 0) + row.get("monitor_tokens", 0) for row in rows(tmp_path)]
    assert sum(drawn) == outcome.sampled_tokens >= 300
    last = max(row["step"] for row in rows(tmp_path))
    assert sum(n for n, row in zip(drawn, rows(tmp_path), strict=True) if row["step"] < last) < 300


def test_an_alert_is_logged_and_can_stop_the_run(prompter: Prompter, tmp_path: Path) -> None:
    always = Alerts(window=1, min_entropy=100.0, stop=True)
    said: list[str] = []
    outcome = run(fresh(prompter), prompter, tmp_path, replace(RECIPE, alerts=always), say=said.append)
    assert outcome.steps == 1
    assert outcome.alerts[0].startswith("step 1: entropy fell")
    assert [row for row in rows(tmp_path) if "alert" in row]
    assert any(line.startswith("ALERT") for line in said)


def test_the_best_checkpoint_is_kept_where_the_params_say_so(prompter: Prompter, tmp_path: Path) -> None:
    model = fresh(prompter)
    outcome = run(model, prompter, tmp_path, replace(RECIPE, steps=8, keep="best"))
    looks = {row["step"]: row["accuracy"] for row in rows(tmp_path) if "monitor" in row and row["step"]}
    assert outcome.kept == min(step for step, accuracy in looks.items() if accuracy == max(looks.values()))
    kept = type(model).from_pretrained(tmp_path / f"checkpoint-{outcome.kept}")
    assert same(model, kept)


def test_a_batch_that_is_left_out_entirely_moves_nothing(prompter: Prompter, tmp_path: Path) -> None:
    model = fresh(prompter)
    run(model, prompter, tmp_path, replace(RECIPE, leave_out=LeaveOut(kinds=["correct", "wrong"])))
    assert same(model, fresh(prompter))
    assert all(row["loss"] == 0 for row in rows(tmp_path) if "loss" in row)


def test_groups_of_equal_rewards_are_sampled_anew_and_counted(prompter: Prompter, tmp_path: Path) -> None:
    pairs = replace(RECIPE, samples=2, prompts=4, steps=2)
    run(fresh(prompter), prompter, tmp_path / "once", pairs)
    run(fresh(prompter), prompter, tmp_path / "anew", replace(pairs, resample=8))
    once, anew = (next(row for row in rows(tmp_path / name) if "loss" in row) for name in ("once", "anew"))
    assert once["zero_variance_share"] > 0
    assert anew["zero_variance_share"] == 0
    assert anew["resampled_groups"] > 0
    assert anew["sampled_tokens"] > once["sampled_tokens"]


def test_one_limit_on_the_whole_response_forces_nothing(prompter: Prompter, tmp_path: Path) -> None:
    run(fresh(prompter), prompter, tmp_path, replace(RECIPE, schedule=WholeSchedule(kind="whole")))
    steps = [row for row in rows(tmp_path) if "loss" in row]
    assert all(row["forced_share"] == 0 for row in steps)
    assert all(row["think_tokens"] + row["solution_tokens"] <= 10 for row in steps)


def test_prefixes_of_one_thinking_cost_fewer_tokens_than_budgets_apart(prompter: Prompter, tmp_path: Path) -> None:
    run(fresh(prompter), prompter, tmp_path / "apart")
    prefixes = replace(RECIPE, schedule=PrefixesSchedule(kind="prefixes", think=[3, 6]))
    run(fresh(prompter), prompter, tmp_path / "shared", prefixes)
    apart, shared = (rows(tmp_path / name)[1]["sampled_tokens"] for name in ("apart", "shared"))
    assert shared < apart


def test_a_target_length_stands_in_the_prompt_and_reaches_the_reward(prompter: Prompter, tmp_path: Path) -> None:
    recipe = replace(
        RECIPE, reward=RewardParams(name="l1_exact", alpha=0.1), target=TargetParams(low=2, high=9, suffix=" {tokens}")
    )
    run(fresh(prompter), prompter, tmp_path, recipe)
    assert any(row["reward"] not in (0, 1) for row in rows(tmp_path) if "loss" in row)
    with pytest.raises(Exception, match="target_tokens"):
        run(fresh(prompter), prompter, tmp_path / "without", replace(recipe, target=None))


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (replace(RECIPE, reward=RewardParams(name="unheard_of")), "no reward is called"),
        (replace(RECIPE, reward=RewardParams(name="alp")), "beta"),
        (replace(RECIPE, estimator="median"), "no advantage estimator"),
        (replace(RECIPE, estimator="rloo"), "divides by no standard deviation"),
        (replace(RECIPE, schedule=SampledSchedule(kind="sampled", low=7)), "above the round"),
    ],
)
def test_an_impossible_recipe_is_refused_before_anything_is_sampled(
    recipe: Recipe, says: str, prompter: Prompter, tmp_path: Path
) -> None:
    with pytest.raises(ParamsError, match=says):
        run(fresh(prompter), prompter, tmp_path, recipe)
    assert not list(tmp_path.glob("checkpoint-*"))


def test_a_full_disk_ends_with_the_remedy_and_leaves_a_state_to_resume_from(prompter: Prompter, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    small = tmp_path / "small"
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=700k none {small} 2>/dev/null"):
        pytest.skip("no disk can be mounted here")
    try:
        with pytest.raises(TrainingError, match="ran out of disk space"):
            run(fresh(prompter), prompter, small / "scratch", replace(RECIPE, steps=40))
        assert list((small / "scratch").glob("checkpoint-*/COMPLETE"))
    finally:
        os.system(f"umount -l {small}")


def test_questions_have_buckets_and_their_accuracy_is_logged(prompter: Prompter, tmp_path: Path) -> None:
    run(fresh(prompter), prompter, tmp_path)
    assert {question.bucket for question in QUESTIONS} == {"hard", "easy"}
    assert {"accuracy_easy", "accuracy_hard"} <= set(rows(tmp_path)[0])
