"""Params of the stages that read what was sampled: analyse and report."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from elastic.contracts.params.common import BudgetText, Count, Natural, Positive, Share, Strict


class AnalyseParams(Strict):
    """How answers become figures.

    Attributes:
        main: budget of the grid at which strategies and models are compared.
        wanted: accuracies whose price in tokens is asked for, rising.
        allowances: mean tokens a problem under which adaptive budgets are compared with uniform ones.
        shapes: which budgets they may give (elastic/adaptive/shape.py).
        last: how many of the deepest depths count as the last ones.
        keywords: set of data/behaviours.yaml that behaviours are counted by.
        price: of data/prices.yaml.
        confidence, resamples, seed: of intervals and tests.
    """

    main: BudgetText
    wanted: Annotated[tuple[Share, ...], Field(min_length=1)]
    allowances: Annotated[tuple[Positive, ...], Field(min_length=1)]
    shapes: Annotated[tuple[str, ...], Field(min_length=1)]
    last: Count
    keywords: str
    price: str
    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    resamples: Annotated[int, Field(ge=100)]
    seed: Natural

    @property
    def sampling(self) -> dict[str, Any]:
        """What every measure takes of an interval: confidence, resamples and seed."""
        return {name: getattr(self, name) for name in ("confidence", "resamples", "seed")}


class ReportParams(Strict):
    """The page.

    Attributes:
        title: of the page.
    """

    title: str
