r"""Canonical text and exact rationals. They settle, or they abstain; they never guess.

Settled as equal: the same canonical text, or the same exact rational number (`1/2`, `0.5`, `\frac{3}{6}`, `12,500`,
`6.02e23`, `3\frac12` read as a mixed number). Settled as different: two exact numbers of which neither may be a
rounding of the other. Everything else is left to a slower judge: None.

Pure functions without heavy imports: rewards are graded with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from elastic.answers.spelling import canonical

# Longer texts are no numbers, which bounds the time and memory of every rule below.
_LONGEST = 1000

_INTEGER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_DECIMAL = re.compile(
    rf"(?P<sign>[+-]?)(?P<whole>{_INTEGER}?)(?P<point>\.(?P<digits>[0-9]*))?"
    r"(?:(?:[eE]| ?(?:\\times|\\cdot|\*|[xX]) ?10\^)\{?(?P<exponent>[+-]?[0-9]{1,3})\}?)?"
)
_FRACTION = re.compile(
    rf"(?P<sign>[+-]?)(?P<whole>{_INTEGER})?"
    rf"\\frac ?(?:\{{(?P<inner_sign>-?)(?P<a>{_INTEGER})\}}|(?P<b>[0-9])) ?(?:\{{(?P<c>{_INTEGER})\}}|(?P<d>[0-9]))"
)
_SLASHED = re.compile(rf"(?P<sign>[+-]?)(?:(?P<whole>{_INTEGER}) )?(?P<a>{_INTEGER})/(?P<c>{_INTEGER})")


_FIRST = frozenset("0123456789+-.\\")


@dataclass(frozen=True, slots=True)
class Exact:
    """An exact rational and how it was written.

    Attributes:
        value: of the number.
        places: decimals it was written with, fewer by the power of ten that follows; None where it was no decimal.
        digits: significant digits of a decimal; 0 where it was none.
    """

    value: Fraction
    places: int | None
    digits: int = 0

    def may_round(self, other: Fraction) -> bool:
        """Whether this may be `other`, rounded: both within half a unit of the last place written."""
        return self.places is not None and abs(self.value - other) * 2 <= Fraction(10) ** -self.places


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


def exact_number(text: str) -> Exact | None:
    """The exact rational that a canonical text names, or None: anything but a plain number, a zero denominator."""
    if len(text) > _LONGEST:
        return None
    if text.isdecimal():
        return Exact(Fraction(int(text)), None)
    if text[:1] not in _FIRST:
        return None
    decimal = _DECIMAL.fullmatch(text)
    if decimal and (decimal["whole"] or decimal["digits"]):
        digits = decimal["digits"] or ""
        scaled = _integer((decimal["whole"] or "0") + digits)
        exponent = int(decimal["exponent"] or 0)
        value = Fraction(scaled if decimal["sign"] != "-" else -scaled, 10 ** len(digits))
        if exponent:
            value *= Fraction(10) ** exponent
        return Exact(value, len(digits) - exponent, len(str(scaled))) if digits else Exact(value, None)
    fraction = _FRACTION.fullmatch(text) or _SLASHED.fullmatch(text)
    if fraction is None:
        return None
    parts = fraction.groupdict()
    numerator = _integer(parts["a"] or parts["b"])
    denominator = _integer(parts["c"] or parts["d"])
    if denominator == 0 or (parts["whole"] and (parts.get("inner_sign") or numerator >= denominator)):
        return None
    value = Fraction(numerator, denominator) * (-1 if parts.get("inner_sign") else 1) + _integer(parts["whole"] or "0")
    return Exact(-value if parts["sign"] == "-" else value, None)


def settle(answer: str, gold: str) -> bool | None:
    """Whether `answer` equals `gold`; None where canonical text and exact rationals cannot tell.

    An empty gold equals nothing.
    """
    given, wanted = canonical(answer), canonical(gold)
    if not wanted:
        return False
    if given == wanted:
        return True
    left, right = exact_number(given), exact_number(wanted)
    if left is None or right is None:
        return None
    if left.value == right.value:
        return True
    return None if left.may_round(right.value) or right.may_round(left.value) else False
