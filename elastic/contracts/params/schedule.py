"""Params of the budget schedule: the (t, s) of each rollout of a group, within the round's (t*, s*).

Rounds that widen or narrow (E1's 1K to 3K, ThinkPrune's 4k to 3k to 2k, DeepScaleR's 8K to 16K to 24K) are a chain in
the block `rounds`, with one budget each; a schedule is about the rollouts of one round.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from elastic.contracts.params.common import Natural, Strict


class FixedSchedule(Strict):
    """Every rollout has (t*, s*) (E1, section 3.2)."""

    kind: Literal["fixed"] = "fixed"


class WholeSchedule(Strict):
    """One limit of t* + s* tokens on the whole response, nothing forced: plain truncation, as most length rewards."""

    kind: Literal["whole"]


class SampledSchedule(Strict):
    """t is drawn for each group, uniformly from `low` to t*."""

    kind: Literal["sampled"]
    low: Natural


class PrefixesSchedule(Strict):
    """A group answers from prefixes of its thinking: one trace of thinking serves all of `think` (anytime training).

    AnytimeReasoner (arXiv 2505.13438) trains on several budgets of one thinking trace. The largest must be t*, and
    the samples of a group must be a multiple of how many there are.
    """

    kind: Literal["prefixes"]
    think: Annotated[list[Natural], Field(min_length=2)]


class BucketsSchedule(Strict):
    """t by the difficulty bucket of the problem; a bucket that is not named has t*."""

    kind: Literal["buckets"]
    think: dict[str, Natural]


Schedule = Annotated[
    FixedSchedule | WholeSchedule | SampledSchedule | PrefixesSchedule | BucketsSchedule, Field(discriminator="kind")
]


class TargetParams(Strict):
    """A length that the prompt asks for, drawn for each group (L1: "Think for N tokens.", N from 100 to 4000).

    Attributes:
        low, high: drawn uniformly, both ends included.
        suffix: what the question is followed by; `{tokens}` is replaced by the length.
    """

    low: Natural
    high: Natural
    suffix: Annotated[str, Field(pattern=r"\{tokens\}")]
