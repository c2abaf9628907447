"""Params of the check stages: bounds that gate a distribution (Great Expectations).

Truth of single rows is pandera's (elastic.contracts.frames); these bounds are about the whole.
"""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from elastic.contracts.params.common import Natural, Share, Strict


class Range(Strict):
    """A closed range."""

    min: float
    max: float

    @model_validator(mode="after")
    def _order(self) -> Range:
        if self.min > self.max:
            raise ValueError("min is above max")
        return self


class CuratedGate(Strict):
    """Bounds on the curated splits.

    Attributes:
        min_rows: by split.
        max_rejected_share: of all collected rows.
        mean_question_chars: over all kept rows.
        min_distinct_answers: among all kept rows.
    """

    min_rows: dict[Literal["teaching", "training", "validation", "test"], Natural]
    max_rejected_share: Share
    mean_question_chars: Range
    min_distinct_answers: Natural


class BucketedGate(Strict):
    """Bounds on the bucketed training split.

    Attributes:
        min_rows: problems that train.
        max_never_share, max_always_share: of all graded problems, kept or not.
        mean_pass_rate: over the problems that train.
    """

    min_rows: Natural
    max_never_share: Share
    max_always_share: Share
    mean_pass_rate: Range


class CheckParams(Strict):
    """One gate a check stage, named as the stage's item."""

    curated: CuratedGate
    bucketed: BucketedGate
