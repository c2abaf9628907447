"""The kinds of answers, as reading finds them."""

from __future__ import annotations

from dataclasses import dataclass

from elastic.answers.reading.tokens import Token, Tokens, cut_tokens, make, tokenize
from elastic.answers.reading.units import Unit


@dataclass(frozen=True)
class Expression:
    """A stretch of tokens that is one expression, or nothing known."""

    tokens: Tokens


@dataclass(frozen=True)
class Quantity:
    """A value with its unit or label."""

    value: Value
    unit: Unit


@dataclass(frozen=True)
class Words:
    """A phrase, or the name of a fixed meaning in angle brackets."""

    text: str


@dataclass(frozen=True)
class Special:
    """One of the fixed meanings of `words`, or a named set of numbers."""

    name: str


@dataclass(frozen=True)
class Collection:
    """Several values.

    Attributes:
        kind: `list` (no brackets), `set` or `tuple`.
        items: the values.
        brackets: the two around a tuple.
        joined_by: `,`, `or` or `and` of a list.
    """

    kind: str
    items: tuple[Value, ...]
    brackets: str = ""
    joined_by: str = ","


@dataclass(frozen=True)
class Relation:
    """Members with the signs between them; of `f(x)=2x` the members are `f(x)` and `2x`."""

    members: tuple[Tokens, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """One interval; an end that is None is infinite, and one that stands at both ends is a point."""

    low: Tokens | None
    high: Tokens | None
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True)
class Region:
    """Intervals of the real line.

    Attributes:
        pieces: as they were written.
        variable: that was bounded, if one was named.
    """

    pieces: tuple[Piece, ...]
    variable: str = ""


@dataclass(frozen=True)
class Matrix:
    """Rows of values."""

    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Ratio:
    """Terms of a ratio."""

    terms: tuple[Tokens, ...]


@dataclass(frozen=True)
class Based:
    """A numeral with its base."""

    digits: str
    base: int


Value = Expression | Quantity | Words | Special | Collection | Relation | Region | Matrix | Ratio | Based


def symbols(text: str) -> Tokens:
    """Tokens of a text of ours."""
    return tokenize(text)


def glued(*parts: Tokens | str) -> Tokens:
    """Stretches and texts of ours, one after the other, as one stretch."""
    items: list[Token] = []
    for part in parts:
        items += cut_tokens(part) if isinstance(part, str) else part.items
    return make(items)


def reals() -> Region:
    """The real line."""
    return Region((Piece(None, None, False, False),))
