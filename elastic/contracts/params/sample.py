"""Params of the stage sample: the grid of budgets each model is sampled on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from elastic.budget import Budget
from elastic.contracts.params.common import Count, EngineName, Natural, Strict, Temperature


class Grid(Strict):
    """Budgets of one split: every thinking budget with every solution budget.

    Attributes:
        think: thinking budgets, rising.
        solution: solution budgets, rising.
        limit: counted tokens of the unconstrained mode.
        samples: traces a problem.
    """

    think: Annotated[list[Natural], Field(min_length=1)]
    solution: Annotated[list[Count], Field(min_length=1)]
    limit: Count
    samples: Count

    @model_validator(mode="after")
    def _rising(self) -> Grid:
        for name, values in (("think", self.think), ("solution", self.solution)):
            if sorted(set(values)) != values:
                raise ValueError(f"{name} must rise and name no budget twice")
        if max(self.think) + max(self.solution) > self.limit:
            raise ValueError(
                f"limit {self.limit} is below the largest total {max(self.think) + max(self.solution)}: "
                "plain truncation at that total could not be read off the unconstrained traces"
            )
        return self

    @property
    def budgets(self) -> list[Budget]:
        """Every (t, s) of the grid."""
        return [Budget(think, solution) for think in self.think for solution in self.solution]


class SampleParams(Strict):
    """How traces are drawn.

    Attributes:
        temperature: of both phases.
        nested: one thinking trace serves all budgets; false samples every budget on its own.
        faithful: go on to a solution after an EOS inside thinking, as the published evaluation does.
        engine: what samples; engines draw other numbers from the same streams.
        batch_size: rows decoded together.
        chunk: problems a committed chunk.
        seed: root of the random streams; models share them, which pairs their comparison.
        grids: one grid a split.
    """

    temperature: Temperature
    nested: bool
    faithful: bool
    engine: EngineName = "transformers"
    batch_size: Count
    chunk: Count
    seed: Natural
    grids: dict[str, Grid]

    @model_validator(mode="after")
    def _splits(self) -> SampleParams:
        if set(self.grids) != {"validation", "test"}:
            raise ValueError("grids must name exactly the splits validation and test")
        return self
