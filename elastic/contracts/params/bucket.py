"""Params of the stage bucket: difficulty from pass rates, what trains, in which order, and a validation slice of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, field_validator, model_validator

from elastic.contracts.params.common import Natural, Share, Strict
from elastic.contracts.sources import NearDuplicates

NEVER, ALWAYS = "never", "always"
_RATES = re.compile(r"([\d.]+)\s*(<=?)\s*rate\s*(<=?)\s*([\d.]+)")


@dataclass(frozen=True)
class RateRange:
    """Pass rates from `low` to `high`; an open end leaves the end itself out. Written as `0 < rate <= 1`."""

    low: float
    high: float
    low_open: bool
    high_open: bool

    @classmethod
    def parse(cls, text: str) -> RateRange:
        """The range that a text names.

        Raises:
            ValueError: it names none, or one that no pass rate can be in.
        """
        found = _RATES.fullmatch(text.strip())
        try:
            low, high = (float(found[1]), float(found[4])) if found else (-1.0, -1.0)
        except ValueError:
            found = None
        if not found:
            raise ValueError(f"{text!r} is no range of pass rates; write one as '0 < rate < 1' or '0 <= rate <= 0.75'")
        made = cls(low, high, found[2] == "<", found[3] == "<")
        if high > 1 or low > high or (low == high and (made.low_open or made.high_open)):
            raise ValueError(f"no pass rate can be in '{made}': a rate is a share from 0 to 1")
        return made

    @property
    def closed(self) -> Literal["both", "left", "right", "none"]:
        """Which ends belong to the range, in the words of polars."""
        ends: dict[tuple[bool, bool], Literal["both", "left", "right", "none"]] = {
            (False, False): "both",
            (False, True): "left",
            (True, False): "right",
            (True, True): "none",
        }
        return ends[self.low_open, self.high_open]

    def __str__(self) -> str:
        return f"{self.low:g} {'<' if self.low_open else '<='} rate {'<' if self.high_open else '<='} {self.high:g}"


def _rate_range(value: Any) -> Any:
    return value if isinstance(value, RateRange) else RateRange.parse(str(value))


RatesText = Annotated[RateRange, BeforeValidator(_rate_range), PlainSerializer(str)]


class ValidationSlice(Strict):
    """Problems cut from those that would train, in the shares of source and bucket; the monitor of training reads them.

    Attributes:
        problems: how many; 0 cuts none, and the monitor reads the validation split.
        near: when two problems are too alike for one to validate while the other trains; null where only equal ones
            are, as in generated worlds, whose problems differ in a digit.
    """

    problems: Natural
    near: NearDuplicates | None


class BucketParams(Strict):
    """Attributes:
    edges: the pass rate above which each bucket begins, from 0 up; a bucket ends where the next begins, its end
        included. Published (The Art of Efficient Reasoning, 2602.20945): `{hard: 0.0, easy: 0.5}`. Problems never and
        always solved are buckets of their own, `never` and `always`.
    keep: which buckets train.
    rates: which pass rates train, such as `0 < rate < 1`.
    order: `shuffled`, or by falling (`easy_first`) or rising (`hard_first`) pass rate.
    validation: a slice that does not train.
    max_error_share: of traces; above it the stage stops: errors are faults of ours.
    seed: order of equals, and which problems the slice gets.
    """

    edges: Annotated[dict[str, Share], Field(min_length=1)]
    keep: Annotated[list[str], Field(min_length=1)]
    rates: RatesText
    order: Literal["shuffled", "easy_first", "hard_first"]
    validation: ValidationSlice
    max_error_share: Share
    seed: Natural

    @property
    def buckets(self) -> list[str]:
        """Names of all buckets, from never to always solved."""
        return [NEVER, *self.edges, ALWAYS]

    @field_validator("edges")
    @classmethod
    def _rising(cls, edges: dict[str, float]) -> dict[str, float]:
        """In the order of the rates, however the file has them."""
        return dict(sorted(edges.items(), key=lambda item: item[1]))

    @model_validator(mode="after")
    def _buckets(self) -> BucketParams:
        edges = list(self.edges.values())
        if edges[0] != 0:
            raise ValueError(f"the first edge, of {next(iter(self.edges))}, must be 0: every other rate needs a bucket")
        if len(set(edges)) < len(edges):
            raise ValueError("two buckets begin at the same edge")
        if taken := {NEVER, ALWAYS} & self.edges.keys():
            raise ValueError(f"the bucket {min(taken)} has no edge: it holds the problems {min(taken)} solved")
        if unknown := [name for name in self.keep if name not in self.buckets]:
            raise ValueError(f"keep names {unknown[0]!r}, but the buckets are {', '.join(self.buckets)}")
        return self
