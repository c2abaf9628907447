"""Training on rollouts through vLLM: the trainer's log-probabilities are those of vLLM, and budgets are kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from filled_frames import filled
from parity import QUESTIONS, RECIPE, run

from elastic.contracts.frames import TrainingSet, write_frame
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.schedule import PrefixesSchedule
from elastic.contracts.params.train import Lora, RewardParams, TrainParams
from elastic.engines.protocol import Drawn, Job, Sampling
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter
from elastic.training.following import FollowingEngine
from elastic.training.recipe import Recipe
from stages import train
from stages.common import Context

E1 = replace(RECIPE, steps=3, engine="vllm")
ALP = replace(E1, reward=RewardParams(name="alp", beta=1e-3), importance_cap=2.0)
ADAPTERS = replace(
    E1, steps=2, lora=Lora(rank=2, alpha=4), schedule=PrefixesSchedule(kind="prefixes", think=[3, 6]), faithful=True
)


@pytest.fixture(scope="module")
def prompter() -> Prompter:
    words = [*map(str, range(20)), *"+-=?", "check:", "\\boxed{", "}", *"ABCDEFG"]
    return Prompter(build_tokenizer(words, context=64))


def fresh(prompter: Prompter) -> Any:
    return build_model(prompter.tokenizer, hidden=64, layers=1, heads=2, context=64, seed=0)


@pytest.fixture(scope="module")
def checkpoint(prompter: Prompter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vllm") / "prev"
    fresh(prompter).save_pretrained(folder)
    prompter.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def engine(start_vllm: Callable[[Path], Any], checkpoint: Path) -> Any:
    return start_vllm(checkpoint)


class Watched(FollowingEngine):
    """Keeps what was drawn."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[tuple[Job, Drawn]] = []

    def draw(self, jobs: Sequence[Job], sampling: Sampling, **kwargs: Any) -> list[Drawn]:
        drawn = super().draw(jobs, sampling, **kwargs)
        self.seen += zip(jobs, drawn, strict=True)
        return drawn


def steps(log: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if "loss" in row]


def assert_near_the_trainer(row: dict[str, Any]) -> None:
    assert row["logprob_difference"] < 1e-5
    assert 1 - 1e-4 < row["importance_ratio_min"] <= row["importance_ratio_mean"] <= row["importance_ratio_max"]
    assert row["importance_ratio_max"] < 1 + 1e-4


@pytest.mark.parametrize("recipe", [E1, ALP, ADAPTERS], ids=["e1", "alp", "adapters-and-prefixes"])
def test_a_recipe_trains_on_rollouts_through_vllm(
    recipe: Recipe, engine: Any, prompter: Prompter, tmp_path: Path
) -> None:
    model, made = fresh(prompter), []
    run(model, prompter, tmp_path, recipe, make_engine=lambda policy: made.append(Watched(policy, engine)) or made[0])
    rows = steps(tmp_path / "metrics.jsonl")
    assert len(rows) == recipe.steps
    for row in rows:
        assert_near_the_trainer(row)
    assert any(row["grad_norm"] for row in rows)
    seen = made[0].seen
    assert len(seen) > recipe.steps * recipe.prompts * recipe.samples / 2
    for job, drawn in seen:
        assert drawn.trace.n_think <= 6
        assert drawn.trace.n_solution <= 4
        assert len(drawn.logprobs) == job.drawn(drawn.trace)


def test_a_run_resumes_as_if_it_ran_straight(engine: Any, prompter: Prompter, tmp_path: Path) -> None:
    models = [fresh(prompter), fresh(prompter)]
    for name, model in zip(("straight", "resumed"), models, strict=True):
        if name == "resumed":
            shutil.copytree(tmp_path / "straight", tmp_path / name)
            shutil.rmtree(tmp_path / name / "checkpoint-4")
        run(model, prompter, tmp_path / name, replace(E1, steps=4), make_engine=lambda p: FollowingEngine(p, engine))
    logs = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("straight", "resumed")]
    assert logs[0] == logs[1]
    for name, value in models[0].state_dict().items():
        assert torch.equal(value, models[1].state_dict()[name]), name


def test_the_stage_starts_vllm_where_params_name_it(
    start_vllm: Callable[[Path], Any], checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"rank": i, "problem_id": q.problem_id, "question": q.question, "pass_rate": 0.5, "bucket": str(q.bucket)}
        for i, q in enumerate(QUESTIONS)
    ]
    for path in (train.TRAINING, train.SLICE):
        write_frame(TrainingSet, filled(TrainingSet, rows), path)
    blocks = {name: getattr(E1, name) for name in TrainParams.model_fields if hasattr(E1, name)}
    monitor = {"every": 2, "problems": 2, "unseen": "4+4"}
    params = TrainParams.model_validate({**blocks, "monitor": monitor, "preflight": {"steps": 100}})
    context, output, curves = Context("train@r1", tmp_path / "scratch"), tmp_path / "r1", tmp_path / "curves"
    prompt = PromptParams(template="{question}", max_tokens=24)
    train.run(replace(E1, steps=2), params, prompt, "exact", checkpoint, output, curves, context)
    assert context.facts["engine"] == "vllm"
    logged = steps(curves / "metrics.jsonl")
    assert len(logged) == 2
    for row in logged:
        assert_near_the_trainer(row)
    assert (output / "model.safetensors").exists()
