"""Params of the check stages: bounds that gate a distribution (Great Expectations).

Truth of single rows is pandera's (elastic.contracts.frames); these bounds are about the whole.
"""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from elastic.contracts.params.common import Natural, Positive, Share, Strict


class Range(Strict):
    """A closed range."""

    min: float
    max: float

    @model_validator(mode="after")
    def _order(self) -> Range:
        if self.min > self.max:
            raise ValueError("min is above max")
        return self


class DriftBounds(Strict):
    """How far a distribution may be from the last accepted version (data/accepted/PROFILE/).

    Attributes:
        max_row_change: of a frame's number of rows, relative to the accepted one.
        max_mean_change: of a mean (characters of a question, pass rate), relative to the accepted one.
        max_share_distance: total variation distance of shares (by source, kind of answer, bucket).
    """

    max_row_change: Positive
    max_mean_change: Positive
    max_share_distance: Share


class CuratedGate(Strict):
    """Bounds on the curated splits.

    Attributes:
        drift: against the last accepted version.
        min_rows: by split.
        max_rejected_share: of all collected rows.
        mean_question_chars: over all kept rows.
        min_distinct_answers: among all kept rows.
    """

    drift: DriftBounds
    min_rows: dict[Literal["teaching", "training", "validation", "test"], Natural]
    max_rejected_share: Share
    mean_question_chars: Range
    min_distinct_answers: Natural


class BucketedGate(Strict):
    """Bounds on the bucketed training split.

    Attributes:
        drift: against the last accepted version.
        min_rows: problems that train.
        max_never_share, max_always_share: of all graded problems, kept or not.
        mean_pass_rate: over the problems that train.
    """

    drift: DriftBounds
    min_rows: Natural
    max_never_share: Share
    max_always_share: Share
    mean_pass_rate: Range


class CheckParams(Strict):
    """One gate a check stage, named as the stage's item."""

    curated: CuratedGate
    bucketed: BucketedGate
