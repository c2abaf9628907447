"""Runs that can teach nothing stop in their first steps and say why; one that only looks so trains, with a warning.

The policies are the random one of the small world, made to end its solutions, or to do without some token.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from parity import RECIPE, ParityGrader, fresh, run

from elastic.answers.verdict import Gold, Verdict
from elastic.contracts.params.schedule import WholeSchedule
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.prompts import Prompter

STEPS = 2
NEVER = -1e9
HOPEFUL = replace(RECIPE, steps=6, save_every=6)


class Unpleasable(ParityGrader):
    """Nothing is ever right: the answer format of the base and that of the grader do not meet."""

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        """One verdict a pair."""
        return [Verdict.WRONG] * len(pairs)


def leaning(prompter: Prompter, *, end: float = 2.5, close: float = 1.5) -> Any:
    """The random policy with something added to the logits of EOS and of the closing delimiter."""
    model, markers = fresh(prompter), Markers.find(prompter.tokenizer)
    added = torch.zeros(len(prompter.tokenizer))
    added[list(markers.eos_ids)], added[markers.close_id] = end, close
    model.lm_head.register_forward_hook(lambda _module, _inputs, logits: logits + added)
    return model


def logged(folder: Path, key: str) -> list[Any]:
    """A figure of every step's own row."""
    rows = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [row[key] for row in map(json.loads, rows) if "loss" in row]


def test_a_reward_that_can_never_fire_stops_the_run_and_says_what_to_look_at(
    prompter: Prompter, tmp_path: Path
) -> None:
    with pytest.raises(TrainingError) as stopped:
        run(leaning(prompter), prompter, tmp_path, HOPEFUL, preflight_steps=STEPS, grader=Unpleasable())
    assert f"the rewards of every group were equal in the first {STEPS} steps (mean reward 0.0)" in str(stopped.value)
    assert "train.samples, bucket.keep" in str(stopped.value)
    assert "the answer format is wrong" in str(stopped.value)
    assert max(logged(tmp_path, "step"), default=0) <= STEPS
    assert not list(tmp_path.glob("checkpoint-*"))


def test_an_s_in_which_no_rollout_ends_its_solution_stops_the_run_and_names_the_budget(
    prompter: Prompter, tmp_path: Path
) -> None:
    with pytest.raises(TrainingError) as stopped:
        run(leaning(prompter, end=NEVER), prompter, tmp_path, HOPEFUL, preflight_steps=STEPS)
    assert f"no rollout of the first {STEPS} steps ended its solution within s" in str(stopped.value)
    assert "rounds.*.budget" in str(stopped.value)
    assert "raise the solution budget" in str(stopped.value)
    assert max(logged(tmp_path, "step"), default=0) <= STEPS


def test_a_base_that_never_closes_its_thinking_trains_and_is_warned_of_once(prompter: Prompter, tmp_path: Path) -> None:
    """Some of its rollouts end inside their thinking, so that not all thinking is forced."""
    unclosing, said = leaning(prompter, close=NEVER), list[str]()
    before = {name: value.clone() for name, value in unclosing.state_dict().items()}
    outcome = run(unclosing, prompter, tmp_path, HOPEFUL, preflight_steps=STEPS, say=said.append)
    assert outcome.steps == HOPEFUL.steps
    assert max(logged(tmp_path, "natural_share")) == 0
    assert max(logged(tmp_path, "eos_in_think_share")[:STEPS]) > 0
    assert any(not torch.equal(value, before[name]) for name, value in unclosing.state_dict().items())
    [warning] = [line for line in said if line.startswith("warning")]
    assert f"no rollout of the first {STEPS} steps closed its thinking itself" in warning


def test_a_base_that_closes_its_thinking_is_not_warned_of(prompter: Prompter, tmp_path: Path) -> None:
    said: list[str] = []
    run(leaning(prompter), prompter, tmp_path, HOPEFUL, preflight_steps=STEPS, say=said.append)
    assert not [line for line in said if line.startswith("warning")]


def test_thinking_that_fills_the_whole_response_where_nothing_is_forced_stops_the_run(
    prompter: Prompter, tmp_path: Path
) -> None:
    whole = replace(HOPEFUL, schedule=WholeSchedule(kind="whole"))
    with pytest.raises(TrainingError, match="ended its solution within s"):
        run(leaning(prompter, close=NEVER), prompter, tmp_path, whole, preflight_steps=STEPS)
