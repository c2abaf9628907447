r"""The fast path: canonical text and exact rationals. It settles, or it abstains; it never guesses.

Settled as equal: the same canonical text, or the same exact rational number (`1/2`, `0.5`, `\frac{3}{6}`, `12,500`,
`6.02e23`, `3\frac12` read as a mixed number). Settled as different: two exact numbers of which neither may be a
rounding of the other. Everything else is left to a slower judge: None.

Pure functions without heavy imports: rewards are graded with them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

# Longer texts are compared as they stand, which bounds the time and memory of every rule below.
_LONGEST = 1000
_MOST_WRAPPERS = 4

_SYMBOLS = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"),
        **dict.fromkeys("\u00a0\u202f\u2007\u2009", "\\,"),
        "×": "\\times ",
        "π": "\\pi ",
        "∞": "\\infty ",
        "°": "^\\circ ",
    }
)
_GROUP_SEPARATOR = re.compile(r"(?<=[0-9])(?:\\,|\{,\})(?=[0-9]{3}(?![0-9]))")
_SPACING = re.compile(r"\\(?:[,;: ]|quad(?![A-Za-z])|qquad(?![A-Za-z]))|~|\s")
_NOTHING = re.compile(r"\\!|\\(?:left|right|displaystyle|limits)(?![A-Za-z])")
_FRACTION_NAME = re.compile(r"\\[dtc]frac(?![A-Za-z])")
# A space says nothing, except between two words or numbers, and in "12, 350", which is no thousands separator.
_IDLE_SPACE = re.compile(r"(?<![A-Za-z0-9,]) | (?![A-Za-z0-9])|(?<=,) (?![0-9]{3}(?![0-9]))")
_SINGLE_POWER = re.compile(r"\^\{([A-Za-z0-9])\}")
_DELIMITED = re.compile(r"\$\$(?P<a>[^$]*)\$\$|\$(?P<b>[^$]*)\$|\\\((?P<c>.*)\\\)|\\\[(?P<d>.*)\\\]", re.DOTALL)
_WRAPPER = re.compile(r"(?:\\(?:boxed|fbox|text(?:bf|it|rm|normal)?|math(?:bf|it|rm|sf)))?\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)

_INTEGER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_DECIMAL = re.compile(
    rf"(?P<sign>[+-]?)(?P<whole>{_INTEGER}?)(?P<point>\.(?P<digits>[0-9]*))?"
    r"(?:(?:[eE]| ?(?:\\times|\\cdot|\*) ?10\^)\{?(?P<exponent>[+-]?[0-9]{1,3})\}?)?"
)
_FRACTION = re.compile(
    rf"(?P<sign>[+-]?)(?P<whole>{_INTEGER})?"
    rf"\\frac(?:\{{(?P<inner_sign>-?)(?P<a>{_INTEGER})\}}|(?P<b>[0-9]))(?:\{{(?P<c>{_INTEGER})\}}|(?P<d>[0-9]))"
)
_SLASHED = re.compile(rf"(?P<sign>[+-]?)(?:(?P<whole>{_INTEGER}) )?(?P<a>{_INTEGER})/(?P<c>{_INTEGER})")


@dataclass(frozen=True)
class Exact:
    """An exact rational; `places` counts the decimals it was written with, None where it was not a decimal."""

    value: Fraction
    places: int | None

    def may_round(self, other: Fraction) -> bool:
        """Whether this may be `other`, rounded: both within half a unit of the last place written."""
        return self.places is not None and abs(self.value - other) * 2 <= Fraction(10) ** -self.places


def _plain_characters(text: str) -> str:
    """ASCII or LaTeX for digits of any script, full-width forms, vulgar fractions, superscripts, minus signs."""
    pieces = []
    for kind, group in groupby(text.translate(_SYMBOLS), key=lambda c: unicodedata.decomposition(c).partition(" ")[0]):
        run = "".join(group)
        if kind == "<fraction>":
            pieces += [
                f"\\frac{{{a}}}{{{b}}}" for a, _, b in (unicodedata.normalize("NFKC", c).partition("⁄") for c in run)
            ]
        elif kind == "<super>":
            pieces.append(f"^{{{unicodedata.normalize('NFKC', run)}}}")
        elif kind == "<wide>":
            pieces.append(unicodedata.normalize("NFKC", run))
        else:
            pieces += [str(unicodedata.decimal(c, c)) for c in run if unicodedata.category(c) != "Cf"]
    return "".join(pieces)


def _closes_at_end(text: str, start: int) -> bool:
    """Whether the brace before `start` is closed by the last character of `text`, and no earlier."""
    depth = 1
    for token in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end() == len(text)
    return False


def _unwrap(text: str) -> str:
    """`text` without one pair of math delimiters or one command around the whole of it."""
    delimited = _DELIMITED.fullmatch(text)
    if delimited:
        return next(part for part in delimited.groups() if part is not None)
    wrapper = _WRAPPER.match(text)
    if wrapper and _closes_at_end(text, wrapper.end()):
        return text[wrapper.end() : -1]
    return text


def canonical(text: str) -> str:
    """One spelling for answers that differ in spacing, delimiters, wrappers, fraction commands or script alone.

    The result is LaTeX again. Texts of more than 1000 characters come back stripped and otherwise as they are.
    """
    if len(text) > _LONGEST:
        return text.strip()
    if not text.isascii():
        text = _plain_characters(text)
    text = _GROUP_SEPARATOR.sub(",", _NOTHING.sub("", text))
    text = _SPACING.sub(" ", _FRACTION_NAME.sub(r"\\frac", text)).strip()
    for _ in range(_MOST_WRAPPERS):
        inner = _unwrap(text.strip().removesuffix(".").strip())
        if inner == text:
            break
        text = inner
    text = _IDLE_SPACE.sub("", re.sub(" +", " ", text.strip().removesuffix(".")))
    return _SINGLE_POWER.sub(r"^\1", text).replace("\\%", "%")


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


def exact_number(text: str) -> Exact | None:
    """The exact rational that a canonical text names, or None: anything but a plain number, a zero denominator."""
    if len(text) > _LONGEST:
        return None
    decimal = _DECIMAL.fullmatch(text)
    if decimal and (decimal["whole"] or decimal["digits"]):
        digits = decimal["digits"] or ""
        value = Fraction(_integer((decimal["whole"] or "0") + digits), 10 ** len(digits))
        exponent = int(decimal["exponent"] or 0)
        value *= Fraction(10) ** exponent * (-1 if decimal["sign"] == "-" else 1)
        return Exact(value, len(digits) - exponent if digits else None)
    fraction = _FRACTION.fullmatch(text) or _SLASHED.fullmatch(text)
    if fraction is None:
        return None
    parts = fraction.groupdict()
    numerator = _integer(parts["a"] or parts["b"])
    denominator = _integer(parts["c"] or parts["d"])
    if denominator == 0 or (parts["whole"] and parts.get("inner_sign")):
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
