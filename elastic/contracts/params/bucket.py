"""Params of the stage bucket: difficulty from pass rates, and the order of training."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from elastic.contracts.params.common import Natural, Share, Strict


class BucketParams(Strict):
    """Attributes:
    easy_above: pass rates above it are easy, the others hard (The Art of Efficient Reasoning: 0.5); problems never
        and always solved are buckets of their own.
    keep: which buckets train.
    order: `shuffled`, or by falling (`easy_first`) or rising (`hard_first`) pass rate.
    min_rate, max_rate: keep problems with min_rate <= rate <= max_rate.
    max_error_share: of traces; above it the stage stops: errors are faults of ours.
    seed: order of equals.
    """

    easy_above: Share
    keep: Annotated[list[Literal["never", "hard", "easy", "always"]], Field(min_length=1)]
    order: Literal["shuffled", "easy_first", "hard_first"]
    min_rate: Share
    max_rate: Share
    max_error_share: Share
    seed: Natural

    @model_validator(mode="after")
    def _range(self) -> BucketParams:
        if self.min_rate > self.max_rate:
            raise ValueError("min_rate is above max_rate: no problem would be kept")
        return self
