"""Params of the lab, where its files are, and what it reads of the pipeline whose models it studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from elastic.contracts.params.common import Count, Natural, Share, Strict, Temperature, block, read_params
from elastic.contracts.params.sample import Grid
from elastic.contracts.params.strategies import parse_strategy
from elastic.errors import ElasticError

PIPELINE = Path("..")
PROBLEMS, RESULTS = Path("problems"), Path("results")
SetName = Literal["test", "validation", "few", "transfer"]


def _strategy(text: Any) -> str:
    try:
        return parse_strategy(str(text)).run
    except ElasticError as error:
        raise ValueError(str(error)) from None


StrategyText = Annotated[str, BeforeValidator(_strategy)]


class ProblemsParams(Strict):
    """Which problems are asked.

    Attributes:
        few: problems of the test split that strategies with many answers a problem are measured on.
        transfer: problems of the second family.
        family: the source of that family, which was taught and never trained on.
    """

    few: Count
    transfer: Count
    family: str


class SetParams(Grid):
    """How one set of problems is evaluated: a grid of budgets, and the strategies that are measured at it.

    Attributes:
        strategies: as `elastic eval --strategy` writes them.
    """

    strategies: Annotated[list[StrategyText], Field(min_length=1)]


class EvaluateParams(Strict):
    """How answers are drawn.

    Attributes:
        temperature: of both phases.
        batch_size: rows decoded together.
        seed: root of the random streams; models share them, which pairs their comparison.
        grader: of the answers.
        max_error_share: more errors of the grader than this end the stage.
    """

    temperature: Temperature
    batch_size: Count
    seed: Natural
    grader: Literal["math", "exact"]
    max_error_share: Share


class SwapParams(Grid):
    """The component swap: who thinks and who solves, every pair at every budget.

    Attributes:
        models: each thinks for each.
    """

    models: Annotated[list[str], Field(min_length=2)]


class ModelsBlock(Strict):
    """Which models of the pipeline are studied, the base first."""

    models: Annotated[list[str], Field(min_length=1)]


class SetsBlock(Strict):
    """What every set of problems is measured at."""

    sets: dict[SetName, SetParams]


def pipeline_block(name: str) -> Any:
    """A block of the pipeline's own params."""
    return block(read_params(PIPELINE / "params.yaml"), name)


def model_folder(model: str) -> Path:
    """Where the pipeline keeps a model."""
    return PIPELINE / "models" / model
