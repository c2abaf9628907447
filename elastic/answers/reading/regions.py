"""Sets of real numbers: bounds, pairs in brackets and unions of them as intervals of the line."""

from __future__ import annotations

from itertools import pairwise

from elastic.answers.compare import exact_number
from elastic.answers.reading import numeric, words
from elastic.answers.reading.expressions import UnknownError, parse
from elastic.answers.reading.labels import is_variable, label_of
from elastic.answers.reading.tokens import Tokens
from elastic.answers.reading.values import Collection, Expression, Piece, Region, Special, Value, glued, reals


def is_infinite(tokens: Tokens) -> int:
    r"""1 for plus infinity, -1 for minus infinity, 0 for everything else."""
    texts = [token.text for token in tokens.items]
    sign = 1
    if texts and texts[0] in ("+", "-"):
        sign = -1 if texts[0] == "-" else 1
        texts = texts[1:]
    return sign if texts in (["\\infty"], ["infty"], ["inf"], ["infinity"], ["oo"]) else 0


_FLIPPED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le", "\\ne": "\\ne"}
_CLOSED = ("\\le", "\\ge")
_BELOW = ("<", "\\le")


def bounded(members: tuple[Tokens, ...], signs: tuple[str, ...]) -> Region | None:
    """The region that bounds on one symbol leave, if they are of a form that needs no solving."""
    if len(members) == 2:
        left, right = members
        sign = signs[0]
        if is_variable(right) and not is_variable(left):
            left, right, sign = right, left, _FLIPPED[sign]
        if left.text(0) == "|" and left.text(len(left) - 1) == "|" and len(left) > 2:
            return _distance(left.cut(1, len(left) - 1), right, sign)
        return _one_bound(left, right, sign) if is_variable(left) else None
    if len(members) == 3 and is_variable(members[1]):
        return _two_bounds(members, signs)
    return None


def _one_bound(left: Tokens, right: Tokens, sign: str) -> Region | None:
    """`x < 3`."""
    variable = label_of(left)
    if any(token.kind == "letters" and token.text == left[0].text for token in right.items):
        return None
    if is_infinite(right):
        return Region(reals().pieces, variable)
    if sign == "\\ne":
        return Region(punctured([right]).pieces, variable)
    closed = sign in _CLOSED
    piece = Piece(None, right, False, closed) if sign in _BELOW else Piece(right, None, closed, False)
    return Region((piece,), variable)


def _two_bounds(members: tuple[Tokens, ...], signs: tuple[str, ...]) -> Region | None:
    """`2 < x < 7`."""
    low, middle, high = members
    low_sign, high_sign = signs
    if low_sign not in _BELOW:
        low, high, low_sign, high_sign = high, low, _FLIPPED[high_sign], _FLIPPED[low_sign]
    if low_sign not in _BELOW or high_sign not in _BELOW:
        return None
    ends = (None if is_infinite(low) else low), (None if is_infinite(high) else high)
    return Region((Piece(*ends, low_sign in _CLOSED, high_sign in _CLOSED),), label_of(middle))


def _distance(inside: Tokens, radius: Tokens, sign: str) -> Region | None:
    """`|x - 2| < 1`, with a number as the centre."""
    first = inside[0]
    variable = inside.cut(0, 1)
    if sign == "\\ne" or not is_variable(variable) or (len(inside) > 1 and inside.text(1) not in ("+", "-")):
        return None
    if any(token.kind == "letters" for token in inside.items[1:]) or any(token == first for token in radius.items):
        return None
    shift = inside.cut(1)
    low, high = (glued(f"{way}(", radius, ")-(0", shift, ")") for way in "-+")
    closed = sign in _CLOSED
    if sign in _BELOW:
        pieces: tuple[Piece, ...] = (Piece(low, high, closed, closed),)
    else:
        pieces = (Piece(None, low, False, closed), Piece(high, None, closed, False))
    return Region(pieces, label_of(variable))


def pair_region(value: Collection) -> Region | None:
    """A pair in brackets, read as an interval."""
    if value.kind != "tuple" or len(value.items) != 2:
        return None
    ends: list[Tokens | None] = []
    for item, infinite in zip(value.items, ("-infinity", words.INFINITY), strict=True):
        if isinstance(item, Special):
            if item.name != infinite:
                return None
            ends.append(None)
        elif isinstance(item, Expression):
            ends.append(item.tokens)
        else:
            return None
    low, high = ends
    closed = value.brackets[0] == "[" and low is not None, value.brackets[1] == "]" and high is not None
    return Region((Piece(low, high, *closed),))


def punctured(points: list[Tokens]) -> Region:
    """The real line without some points, which are given in order."""
    ends: list[Tokens | None] = [None, *points, None]
    return Region(tuple(Piece(a, b, False, False) for a, b in pairwise(ends)))


def as_region(value: Value) -> Region | None:
    """A value as a region, if it can be read as one."""
    if isinstance(value, Region):
        return value
    if isinstance(value, Collection):
        if value.kind == "set":
            points = [item.tokens for item in value.items if isinstance(item, Expression)]
            return Region(tuple(Piece(p, p, True, True) for p in points)) if len(points) == len(value.items) else None
        return pair_region(value)
    return None


def as_one_region(values: list[Value], joined_by: str) -> Region | None:
    """`x<1 or x>5`: one region of one variable."""
    if joined_by == "and" or not all(isinstance(value, Region) and value.variable for value in values):
        return None
    regions = [value for value in values if isinstance(value, Region)]
    if len({region.variable for region in regions}) != 1:
        return None
    return Region(tuple(piece for region in regions for piece in region.pieces), regions[0].variable)


def real_end(tokens: Tokens | None, infinite: int) -> float | None:
    """The value of an end of an interval; that of a missing one is infinite."""
    if tokens is None:
        return infinite * float("inf")
    number = exact_number(tokens.joined())
    if number is not None:
        return float(number.value)
    try:
        found = numeric.real_value(parse(tokens))
    except UnknownError:
        return None
    return None if found is None else found[0].real


def tidy(pieces: tuple[Piece, ...]) -> list[Piece]:
    """Intervals in order, joined where they touch; as they stand where their ends have no values."""
    keyed = []
    for piece in pieces:
        ends = [real_end(piece.low, -1), real_end(piece.high, 1)]
        if ends[0] is None or ends[1] is None:
            return list(pieces)
        keyed.append((ends[0], not piece.low_closed, ends[1], piece))
    keyed.sort(key=lambda item: item[:3])
    tidy: list[tuple[float, Piece]] = []
    for _, _, high, piece in keyed:
        if tidy:
            end, last = tidy[-1]
            low = real_end(piece.low, -1)
            assert low is not None
            touches = low == end and (last.high_closed or piece.low_closed)
            if low < end or touches:
                if high > end or (high == end and piece.high_closed):
                    tidy[-1] = (high, Piece(last.low, piece.high, last.low_closed, piece.high_closed))
                continue
        tidy.append((high, piece))
    return [piece for _, piece in tidy]
