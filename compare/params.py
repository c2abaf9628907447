"""Params of the comparison: recipes, and the runs that train them.

The blocks that it shares with the main pipeline (collect to bucket, train, score) have their models in
`elastic.contracts.params`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from elastic.contracts.params.common import BudgetText, Count, Natural, Positive, Share, Strict, Temperature, validate
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.sample import Grid, SampleParams
from elastic.contracts.params.train import RoundParams, TrainParams
from elastic.errors import ParamsError

BASE = "base"
SPLIT = "test"


class _Recipe(Strict):
    """What both kinds of recipe have.

    Attributes:
        label: its name in the report.
        budget: (t*, s*) of its rollouts.
        learning_rate: constant after warm-up.
        share: of the allowance that one run may spend; below 1 for one round of a chain.
    """

    label: str
    budget: BudgetText
    learning_rate: Positive
    share: Annotated[Share, Field(gt=0)] = 1.0


class GrpoRecipe(_Recipe):
    """A recipe of GRPO.

    Attributes:
        steps: most optimisation steps; as a rule the allowance ends a run before.
        train: what it changes in the block `train` (TrainParams).
        asked: the length that evaluation asks for, with the suffix of `train.target` (L1); None asks for none.
    """

    kind: Literal["grpo"]
    steps: Count
    train: dict[str, Any] = Field(default_factory=dict)
    asked: Count | None = None

    @model_validator(mode="after")
    def _asks(self) -> GrpoRecipe:
        if (self.asked is None) != ("target" not in self.train):
            raise ValueError("asked and train.target go together: a policy is asked for a length as it was trained")
        return self


class ShortestRecipe(_Recipe):
    """Supervised teaching on the shortest correct of K samples: a plain baseline.

    Attributes:
        samples: K.
        temperature: of the samples.
        chunk: problems sampled at a time.
        batch_size: demonstrations a step.
        epochs: passes over the demonstrations.
        warmup_steps: linear warm-up.
        save_every: steps between checkpoints.
    """

    kind: Literal["sft_shortest"]
    samples: Annotated[int, Field(ge=2)]
    temperature: Annotated[Temperature, Field(gt=0)]
    chunk: Count
    batch_size: Count
    epochs: Count
    warmup_steps: Natural
    save_every: Count


AnyRecipe = Annotated[GrpoRecipe | ShortestRecipe, Field(discriminator="kind")]


class RecipeBlock(Strict):
    """One recipe of the block `recipes`."""

    recipe: AnyRecipe


class RunParams(Strict):
    """One run.

    Attributes:
        recipe: of the block `recipes`.
        seed: order of problems and random streams of rollouts.
        prev: what it starts from: `base`, or a run above it, whose recipe was the round before in a chain.
    """

    recipe: str
    seed: Natural
    prev: str


class RunsBlock(Strict):
    """The block `runs`, in an order in which every `prev` stands above."""

    runs: Annotated[dict[str, RunParams], Field(min_length=1)]

    @model_validator(mode="after")
    def _ordered(self) -> RunsBlock:
        seen = {BASE}
        for name, run in self.runs.items():
            if not name.replace("_", "").isalnum() or not name.islower() or name == BASE:
                raise ValueError(f"{name!r} cannot name a run: use lower-case letters and digits, and not `base`")
            if run.prev not in seen:
                raise ValueError(f"{name}.prev is {run.prev!r}, which is neither base nor a run above it")
            seen.add(name)
        return self

    @property
    def ends(self) -> dict[str, RunParams]:
        """The runs that no other goes on from: the results."""
        begun = {run.prev for run in self.runs.values()}
        return {name: run for name, run in self.runs.items() if name not in begun}

    def chain(self, name: str) -> list[str]:
        """The runs that lead to `name`, which comes last; none for the base."""
        if name == BASE:
            return []
        return [*self.chain(self.runs[name].prev), name]


class AllowanceBlock(Strict):
    """The block `allowance`: tokens that training a recipe may sample, for rollouts and monitors."""

    allowance: Count


class EvaluateParams(Strict):
    """How every model is sampled on the test split, nested.

    Attributes:
        temperature: of both phases.
        batch_size: rows decoded together.
        chunk: problems a committed chunk.
        seed: root of the random streams, which all models share.
        grid: the budgets, with t = 0 as the guessing floor.
    """

    temperature: Temperature
    batch_size: Count
    chunk: Count
    seed: Natural
    grid: Grid

    @model_validator(mode="after")
    def _floor(self) -> EvaluateParams:
        if self.grid.think[0] != 0 or len(self.grid.solution) != 1:
            raise ValueError("grid.think must begin at 0, the guessing floor, and grid.solution name one budget")
        return self

    @property
    def sample(self) -> SampleParams:
        """The same in the words of the stage sample."""
        return SampleParams(
            **self.model_dump(exclude={"grid"}),
            nested=True,
            faithful=False,
            grids=dict.fromkeys(("validation", SPLIT), self.grid),
        )


class ReportParams(Strict):
    """Attributes:
    title: of the page.
    main: t at which recipes are compared, s being that of the grid.
    control: recipe that gains are measured against.
    share: of the problems that count as hard and as easy in the adaptation ratio (ALP: 0.3).
    margin: accuracy that may be lost where a claim says that none is.
    confidence, resamples, seed: of intervals and tests.
    """

    title: str
    main: Natural
    control: str
    share: Annotated[Share, Field(gt=0, le=0.5)]
    margin: Share
    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    resamples: Annotated[int, Field(ge=100)]
    seed: Natural


def recipe_named(name: str, recipes: Mapping[str, Any]) -> GrpoRecipe | ShortestRecipe:
    """The recipe `name` of the block `recipes`.

    Raises:
        ParamsError: there is none, or it is not well formed.
    """
    if name not in recipes:
        raise ParamsError(f"no recipe {name!r}", where="recipes", remedy=f"name one of {', '.join(recipes)}")
    return validate(RecipeBlock, {"recipe": recipes[name]}, where=f"recipes.{name}").recipe


def train_params(recipe: GrpoRecipe, run: RunParams, shared: Mapping[str, Any], allowance: int) -> TrainParams:
    """The block `train` as a run has it: what all share, what its recipe changes, its seed, its part of the allowance.

    Raises:
        ParamsError: naming the recipe and the key at fault.
    """
    tokens = round(allowance * recipe.share)
    values = {**shared, **recipe.train, "seed": run.seed, "ceiling": {"tokens": tokens}}
    return validate(TrainParams, values, where=f"train as changed by recipes.{run.recipe}.train")


def round_params(recipe: GrpoRecipe, run: RunParams) -> RoundParams:
    """The run as a round of training."""
    return RoundParams(prev=run.prev, budget=recipe.budget, steps=recipe.steps, learning_rate=recipe.learning_rate)


def evaluation_prompt(prompt: PromptParams, recipe: GrpoRecipe | ShortestRecipe | None) -> PromptParams:
    """How evaluation asks: as training did, with one length where the recipe asks for lengths; None is the base."""
    if not isinstance(recipe, GrpoRecipe) or recipe.asked is None:
        return prompt
    suffix = recipe.train["target"]["suffix"].replace("{tokens}", str(recipe.asked))
    return prompt.model_copy(update={"template": prompt.template.replace("{question}", "{question}" + suffix)})
