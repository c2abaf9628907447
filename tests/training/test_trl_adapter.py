"""What the adapter leans on in TRL, and what it promises: the loss of hand-made batches and whole small runs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import parity
import pytest
import torch

from elastic.answers.graders import load_grader
from elastic.answers.verdict import Gold
from elastic.budget import Budget
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.training.checkpoints import newest_complete
from elastic.training.groups import Question
from elastic.training.grpo import train
from elastic.training.monitor_slice import MonitorSlice
from elastic.training.recipe import Recipe

RECIPE = replace(parity.RECIPE, budget=Budget(4, 3), micro_batch=8, loss="bnpo")
QUESTIONS = [Question(str(i), f"A{i + 1} B+{i + 2}=?", Gold(str(2 * i + 3))) for i in range(4)]


def loss_of(model: Any, prompter: Prompter, folder: Path, recipe: Recipe, *, mask: list[list[int]], ratio: float):  # type: ignore[no-untyped-def]
    """TRL's loss of two completions of 4 and 3 tokens with advantages 1 and -1/2, at a given importance ratio."""
    trainer = parity.trainer_of(model, prompter, folder, recipe)
    batch = {
        "prompt_ids": torch.tensor([[3, 7], [3, 8]]),
        "prompt_mask": torch.ones((2, 2), dtype=torch.long),
        "completion_ids": torch.tensor([[8, 9, 6, 1], [9, 6, 1, 0]]),
        "completion_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
        "advantages": torch.tensor([1.0, -0.5]),
        "num_items_in_batch": torch.tensor(7),
        "tool_mask": torch.tensor(mask),
    }
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    attention = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    logps, _, _ = trainer._get_per_token_logps_and_entropies(model, ids, attention, 4)
    batch["old_per_token_logps"] = logps.detach() - torch.log(torch.tensor(ratio))
    trainer.current_gradient_accumulation_steps = 1
    return trainer._compute_loss(model, batch).item()


def test_the_masked_delimiter_leaves_the_loss_and_faithful_keeps_it(
    policy: Any, prompter: Prompter, tmp_path: Path
) -> None:
    """At ratio 1 a token's loss is minus its advantage.

    The forced delimiter is the third token of the first row. Masked: -(3 * 1 + 3 * -1/2) / 6 = -1/4. In the loss:
    -(4 * 1 + 3 * -1/2) / 7 = -5/14.
    """
    masked = loss_of(policy, prompter, tmp_path, RECIPE, mask=[[1, 1, 0, 1], [1, 1, 1, 1]], ratio=1.0)
    faithful = loss_of(
        policy, prompter, tmp_path, replace(RECIPE, faithful=True), mask=[[1, 1, 1, 1], [1, 1, 1, 1]], ratio=1.0
    )
    assert masked == pytest.approx(-1 / 4, abs=1e-5)
    assert faithful == pytest.approx(-5 / 14, abs=1e-5)


def test_the_ratio_is_clipped_and_faithful_does_not_clip(policy: Any, prompter: Prompter, tmp_path: Path) -> None:
    """At ratio 3/2: a good token counts 1.2 clipped and 1.5 unclipped; a bad one 1.5 either way (the pessimistic min).

    Clipped: -(4 * 1.2 - 3 * 0.75) / 7 = -2.55 / 7. Unclipped: -(4 * 1.5 - 3 * 0.75) / 7 = -3.75 / 7.
    """
    whole = [[1, 1, 1, 1], [1, 1, 1, 1]]
    clipped = loss_of(policy, prompter, tmp_path, RECIPE, mask=whole, ratio=1.5)
    unclipped = loss_of(policy, prompter, tmp_path, replace(RECIPE, faithful=True), mask=whole, ratio=1.5)
    assert clipped == pytest.approx(-2.55 / 7, abs=1e-5)
    assert unclipped == pytest.approx(-3.75 / 7, abs=1e-5)


def run(
    model: Any, prompter: Prompter, scratch: Path, recipe: Recipe = RECIPE, *, preflight: int = 100, say: Any = print
):  # type: ignore[no-untyped-def]
    with load_grader("exact") as grader:
        return train(
            model,
            prompter,
            Markers.find(prompter.tokenizer),
            grader,
            QUESTIONS,
            MonitorSlice(2, QUESTIONS[:2], [recipe.budget, Budget(2, 3)]),
            recipe,
            preflight_steps=preflight,
            scratch=scratch,
            batch_size=16,
            use_cpu=True,
            say=say,
        )


def weights(model: Any) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def test_a_run_resumed_at_a_checkpoint_equals_the_uninterrupted_one(prompter: Prompter, tmp_path: Path) -> None:
    from elastic.models.tiny import build_model

    def fresh() -> Any:
        return build_model(prompter.tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)

    straight = fresh()
    run(straight, prompter, tmp_path / "straight")
    # A kill after the second step leaves the checkpoint of step 2 and a log that runs on.
    shutil.copytree(tmp_path / "straight", tmp_path / "resumed")
    shutil.rmtree(tmp_path / "resumed" / "checkpoint-4")
    resumed = fresh()
    outcome = run(resumed, prompter, tmp_path / "resumed")
    assert outcome.resumed_from == 2
    logs = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("straight", "resumed")]
    assert logs[0] == logs[1]
    for name, value in weights(straight).items():
        assert torch.equal(value, weights(resumed)[name]), name


def test_the_log_has_a_row_a_step_and_the_monitor_at_both_budgets(
    policy: Any, prompter: Prompter, tmp_path: Path
) -> None:
    run(policy, prompter, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = [row for row in rows if "monitor" not in row]
    assert [row["step"] for row in steps] == [1, 2, 3, 4]
    assert {"reward", "forced_share", "entropy", "zero_variance_share", "loss"} <= set(steps[0])
    watched = [(row["step"], row["monitor"]) for row in rows if "monitor" in row]
    assert watched == [(step, budget) for step in (0, 2, 4) for budget in ("4+3", "2+3")]
    assert newest_complete(tmp_path) == tmp_path / "checkpoint-4"


def test_tokens_that_two_minibatches_train_on_are_counted_once(policy: Any, prompter: Prompter, tmp_path: Path) -> None:
    outcome = run(policy, prompter, tmp_path, replace(RECIPE, minibatches=2, micro_batch=4))
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    drawn = {row["step"]: row["sampled_tokens"] for row in rows if "monitor" not in row}
    assert drawn[2] == drawn[4] == 0
    assert min(drawn[1], drawn[3]) > 0
    assert outcome.sampled_tokens == drawn[1] + drawn[3] + sum(row.get("monitor_tokens", 0) for row in rows)


def test_a_reward_that_never_fires_stops_the_run_in_its_first_steps(
    policy: Any, prompter: Prompter, tmp_path: Path
) -> None:
    # 4 + 3 random tokens never spell a box with the right number in it
    with pytest.raises(TrainingError, match="first 2 steps"):
        run(policy, prompter, tmp_path, preflight=2)


def test_seeds_change_the_rollouts(prompter: Prompter, tmp_path: Path) -> None:
    from elastic.models.tiny import build_model

    logs = []
    for seed in (0, 1):
        model = build_model(prompter.tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)
        run(model, prompter, tmp_path / str(seed), replace(RECIPE, seed=seed, steps=2))
        rows = (tmp_path / str(seed) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        logs.append([json.loads(row).get("think_tokens") for row in rows])
    assert logs[0] != logs[1]
