"""The policy of a question: what its verdict forgives. A source sets it, a row carries it as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from elastic.contracts.params.common import Strict


class Policy(Strict):
    """How an answer is compared with the gold; the defaults are the written policy of the project (docs/grading.md).

    Attributes:
        percent: `forgive` lets a sign stand on one side only (35 for 35%) where no proportion can be meant; by
            `strict` 35% is 0.35 and nothing else.
        units: `forgive` lets a unit stand on one side only; by `strict` it must stand where the gold has one, and
            only there. Two units are converted, or are different, under both.
        ordered: whether the order of a list counts; by None that of tuples does, that of lists and sets does not.
        tolerance: relative error that a number is forgiven, besides rounding.
        rounded: whether an answer that rounds to a decimal gold, at the gold's last written place, equals it.
    """

    percent: Literal["forgive", "strict"] = "forgive"
    units: Literal["forgive", "strict"] = "forgive"
    ordered: bool | None = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    rounded: bool = True

    def to_text(self) -> str | None:
        """As a row carries it: JSON with what differs from the defaults, None where nothing does."""
        return self.model_dump_json(exclude_defaults=True) if self != type(self)() else None

    @classmethod
    def from_text(cls, text: str | None) -> Policy:
        """The policy that a row carries; None is the default one.

        Raises:
            ValidationError: the text is no policy.
        """
        return cls.model_validate_json(text) if text else cls()


DEFAULT_POLICY = Policy()
