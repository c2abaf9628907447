"""Params of the stage probe: K traces a training problem under a stated budget."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from elastic.contracts.params.common import BudgetText, Count, EngineName, Natural, Strict, Temperature


class ProbeParams(Strict):
    """Attributes:
    budget: (t, s) of the probe.
    samples: K; a pass rate needs at least 2.
    temperature: of sampling.
    engine: what samples; engines draw other numbers from the same streams.
    batch_size: rows decoded together.
    chunk: problems a committed chunk.
    seed: root of the random streams.
    """

    budget: BudgetText
    samples: Annotated[int, Field(ge=2)]
    temperature: Temperature
    engine: EngineName = "transformers"
    batch_size: Count
    chunk: Count
    seed: Natural
