"""An engine with weights of its own follows the policy, so that training with it is training without it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from copy_engine import CopyEngine, own_logprobs
from parity import QUESTIONS, RECIPE, fresh, run

from elastic.budget import Budget
from elastic.contracts.params.schedule import PrefixesSchedule
from elastic.contracts.params.train import Lora
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.training.following import FollowingEngine
from elastic.training.lora import adapt, merge, merged_weights
from elastic.training.recipe import Recipe
from elastic.training.rollout import Wanted, roll_out, training_row
from elastic.training.schedules import Slot, group_slots

RATIOS = ["importance_ratio_mean", "importance_ratio_min", "importance_ratio_max"]


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("recipe", "taken"), [(RECIPE, 5), (replace(RECIPE, minibatches=2), 3)], ids=["on-policy", "minibatches"]
)
def test_a_followed_policy_trains_as_one_that_samples_itself(
    recipe: Recipe, taken: int, prompter: Prompter, tmp_path: Path
) -> None:
    """Weights go over after every step that something is sampled after: rollouts, and the slice after steps 2 and 4."""
    alone, followed = fresh(prompter), fresh(prompter)
    engine = CopyEngine(fresh(prompter, seed=5), Markers.find(prompter.tokenizer))  # started elsewhere
    run(alone, prompter, tmp_path / "alone", recipe)
    run(followed, prompter, tmp_path / "followed", recipe, make_engine=lambda policy: FollowingEngine(policy, engine))
    for name, value in alone.state_dict().items():
        assert torch.equal(value, followed.state_dict()[name]), name
    assert engine.taken == taken
    mine = [row for row in rows(tmp_path / "followed") if "loss" in row]
    assert all(row["logprob_difference"] < 1e-5 for row in mine)
    assert all(abs(row[name] - 1) < 1e-4 for row in mine for name in RATIOS)
    plain = [{key: row[key] for key in row if key not in ("logprob_difference", *RATIOS)} for row in mine]
    assert plain == [row for row in rows(tmp_path / "alone") if "loss" in row]


def test_an_engine_that_falls_behind_is_seen_in_the_figures(prompter: Prompter, tmp_path: Path) -> None:
    class Behind(FollowingEngine):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            """Miss it."""

    engine = CopyEngine(fresh(prompter), Markers.find(prompter.tokenizer))
    run(fresh(prompter), prompter, tmp_path, make_engine=lambda policy: Behind(policy, engine))
    steps = [row for row in rows(tmp_path) if "loss" in row]
    assert steps[0]["logprob_difference"] < 1e-5
    assert steps[-1]["logprob_difference"] > 1e-3
    assert steps[-1]["importance_ratio_min"] < 0.999 < 1.001 < steps[-1]["importance_ratio_max"]


def test_adapters_are_followed_merged(prompter: Prompter, tmp_path: Path) -> None:
    recipe = replace(RECIPE, lora=Lora(rank=2, alpha=4))
    engine = CopyEngine(fresh(prompter), Markers.find(prompter.tokenizer))
    run(fresh(prompter), prompter, tmp_path, recipe, make_engine=lambda policy: FollowingEngine(policy, engine))
    assert all(row["logprob_difference"] < 1e-5 for row in rows(tmp_path) if "loss" in row)


def test_merged_weights_are_those_of_the_merged_model_and_leave_the_policy_as_it_is(prompter: Prompter) -> None:
    model = fresh(prompter)
    policy = adapt(model, Lora(rank=2, alpha=4, targets=["q_proj", "up_proj"]))
    generator = torch.Generator().manual_seed(0)
    for name, value in policy.named_parameters():
        if "lora_" in name:
            value.data.normal_(generator=generator)
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    merged = dict(merged_weights(policy))
    assert all(torch.equal(value, before[name]) for name, value in policy.state_dict().items())
    merge(policy)
    assert merged.keys() == model.state_dict().keys()
    assert all(torch.equal(value, merged[name]) for name, value in model.state_dict().items())
    assert not torch.equal(
        merged["model.layers.0.mlp.up_proj.weight"], fresh(prompter).model.layers[0].mlp.up_proj.weight
    )


@pytest.mark.parametrize("faithful", [False, True])
def test_log_probabilities_stand_where_their_tokens_do_however_thinking_is_shared(
    faithful: bool, prompter: Prompter
) -> None:
    markers, model = Markers.find(prompter.tokenizer), fresh(prompter, seed=4)
    embeddings = model.get_input_embeddings().weight.data
    for name in ("</think>", "<eos>"):
        embeddings[prompter.tokenizer.convert_tokens_to_ids(name)] *= 2  # so that phases end early
    wanted, budget = [], Budget(6, 4)
    for stream, question in enumerate(QUESTIONS * 4):
        ids = prompter.render(question.question)
        slots = group_slots(PrefixesSchedule(kind="prefixes", think=[2, 4, 6]), budget, 3, stream=0, bucket=None)
        wanted += [Wanted(ids, slot, stream) for slot in slots]
        wanted.append(Wanted(ids, Slot(budget, 0, whole=True), 100 + stream))
        wanted.append(Wanted(ids, Slot(budget, 0), 200 + stream))
    rolled = roll_out(FollowingEngine(model, CopyEngine(model, markers)), wanted, 0.7)
    assert {trace.closed for trace in rolled.traces} == {"natural", "forced", "eos", "never"}
    for trace, logprobs in zip(rolled.traces, rolled.logprobs, strict=True):
        row = training_row(trace, markers.close_id, faithful=faithful, logprobs=logprobs)
        expected = own_logprobs(model, trace, markers.close_id, 0.7)
        assert row.logprobs is not None
        assert len(row.logprobs) == len(row.completion_ids)
        unknown = [place for place, value in enumerate(row.logprobs) if math.isnan(value)]
        assert unknown == [len(trace.think_ids)] * trace.n_forced
        for place, value in enumerate(row.logprobs):
            if place not in unknown:
                assert value == pytest.approx(expected[place], abs=1e-5)


def test_several_processes_with_vllm_are_refused(
    prompter: Prompter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(TrainingError, match="2 processes were started, and rollouts through vLLM run in one"):
        run(fresh(prompter), prompter, tmp_path, replace(RECIPE, engine="vllm"))
