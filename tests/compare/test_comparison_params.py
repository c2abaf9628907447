"""The comparison's own params: the profile is whole, and what cannot be is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from compare.claims import read_claims
from compare.params import (
    EvaluateParams,
    GrpoRecipe,
    RecipeBlock,
    ReportParams,
    RunsBlock,
    evaluation_prompt,
    recipe_named,
    train_params,
)
from compare.side_by_side import stages_of
from elastic.contracts.params.base import BaseBlock, ContextBlock
from elastic.contracts.params.prompt import PromptParams
from elastic.rewards.protocol import load_reward
from elastic.training.advantages import load_estimator
from elastic.training.schedules import check_schedule

ROOT = Path(__file__).parents[2]
PARAMS: dict[str, Any] = yaml.safe_load((ROOT / "compare/params.yaml").read_text(encoding="utf-8"))
RUNS = RunsBlock(runs=PARAMS["runs"])


@pytest.mark.parametrize("name", list(RUNS.runs))
def test_every_run_is_one_that_the_trainer_takes(name: str) -> None:
    run = RUNS.runs[name]
    recipe = recipe_named(run.recipe, PARAMS["recipes"])
    prompt = PromptParams.model_validate(PARAMS["prompt"])
    base = ContextBlock.model_validate(PARAMS["base"])
    base.require(name, prompt.max_tokens, recipe.budget.total)
    if isinstance(recipe, GrpoRecipe):
        params = train_params(recipe, run, PARAMS["train"], PARAMS["allowance"])
        assert params.seed == run.seed
        assert params.ceiling.tokens == round(PARAMS["allowance"] * recipe.share)
        load_reward(params.reward.name, params.reward.hyperparameters)
        load_estimator(params.estimator, params.advantage_eps)
        check_schedule(params.schedule, recipe.budget, params.samples)


def test_the_recipes_that_carry_the_claims_have_three_seeds_and_every_recipe_is_run() -> None:
    seeds: dict[str, set[int]] = {}
    for run in RUNS.runs.values():
        seeds.setdefault(run.recipe, set()).add(run.seed)
    assert {recipe for recipe, values in seeds.items() if len(values) == 3} == {"e1", "control", "alp"}
    assert set(seeds) == set(PARAMS["recipes"])


def test_a_chain_spends_one_allowance() -> None:
    for name in RUNS.ends:
        recipes = [recipe_named(RUNS.runs[link].recipe, PARAMS["recipes"]) for link in RUNS.chain(name)]
        assert sum(recipe.share for recipe in recipes) == pytest.approx(1, abs=0.001)
    assert RUNS.chain("thinkprune_3") == ["thinkprune_1", "thinkprune_2", "thinkprune_3"]
    assert stages_of(["a", "b"]) == ["train@a", "sample@a", "score@a", "train@b", "sample@b", "score@b"]


def test_the_world_has_words_for_every_length_that_is_asked() -> None:
    base = BaseBlock(base=PARAMS["base"]).base
    words = set(base.vocabulary)  # type: ignore[union-attr]
    for recipe in PARAMS["recipes"].values():
        if target := recipe.get("train", {}).get("target"):
            assert {str(number) for number in range(target["low"], target["high"] + 1)} <= words
            assert str(recipe["asked"]) in words


def test_evaluation_asks_for_a_length_only_as_training_did() -> None:
    prompt = PromptParams.model_validate(PARAMS["prompt"])
    asked = evaluation_prompt(prompt, recipe_named("l1_exact", PARAMS["recipes"]))
    assert asked.template == "{question} take 48"
    assert evaluation_prompt(prompt, recipe_named("e1", PARAMS["recipes"])) == prompt
    assert evaluation_prompt(prompt, None) == prompt


def test_the_grid_begins_at_the_guessing_floor_and_serves_every_claim() -> None:
    grid = EvaluateParams.model_validate(PARAMS["evaluate"]).grid
    claims = read_claims(ROOT / "compare/claims.yaml")
    named = {part.at for claim in claims for part in claim.parts if isinstance(part.at, int)}
    assert named | {ReportParams.model_validate(PARAMS["report"]).main} <= set(grid.think)
    recipes = {name for claim in claims for part in claim.parts for name in (part.recipe, part.against)}
    assert recipes <= {"base", *(run.recipe for run in RUNS.ends.values())}
    with pytest.raises(ValidationError, match="guessing floor"):
        EvaluateParams.model_validate({**PARAMS["evaluate"], "grid": {**PARAMS["evaluate"]["grid"], "think": [8, 16]}})


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValidationError, match="neither base nor a run above it"):
        RunsBlock.model_validate({"runs": {"a": {"recipe": "e1", "seed": 1, "prev": "b"}}})
    with pytest.raises(ValidationError, match="go together"):
        RecipeBlock.model_validate({"recipe": {**PARAMS["recipes"]["e1"], "asked": 48}})
