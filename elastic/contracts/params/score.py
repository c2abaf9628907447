"""Params of the stage score: grading and intervals."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from elastic.contracts.params.common import Natural, Strict


class ScoreParams(Strict):
    """Attributes:
    confidence: of every interval.
    resamples: bootstrap resamples over problems.
    max_error_share: above it the run stops: errors are faults of ours.
    seed: of the bootstrap.
    """

    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    resamples: Annotated[int, Field(ge=100)]
    max_error_share: Annotated[float, Field(ge=0, le=1)]
    seed: Natural
