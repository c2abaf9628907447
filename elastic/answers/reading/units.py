r"""Units after (or, for money, before) a number: which are known, what dimension they have, how they convert.

A known unit is a product of powers of base dimensions with an exact factor; what else follows a number is a label
(`apples`, `ways`), kept as its words in the singular.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from elastic.answers.reading.tokens import Tokens

Dimensions = tuple[tuple[str, int], ...]

_MOST_WORDS = 8

# Base dimension or derived one, factor to its base unit, names.
_TABLE: list[tuple[str, str, str]] = [
    ("length", "1", "m meter metre"),
    ("length", "1/1000000000", "nm nanometer nanometre"),
    ("length", "1/1000000", "um micrometer micrometre micron \\mum"),
    ("length", "1/10000000000", "angstrom"),
    ("length", "1/1000", "mm millimeter millimetre"),
    ("length", "1/100", "cm centimeter centimetre"),
    ("length", "1/10", "dm decimeter decimetre"),
    ("length", "1000", "km kilometer kilometre"),
    ("length", "0.0254", "in inch inches"),
    ("length", "0.3048", "ft foot feet"),
    ("length", "0.9144", "yd yard"),
    ("length", "1609.344", "mi mile"),
    ("time", "1", "s sec second"),
    ("time", "1/1000", "ms millisecond"),
    ("time", "60", "min minute mins"),
    ("time", "3600", "h hr hour"),
    ("time", "86400", "day"),
    ("time", "604800", "week wk"),
    ("month", "1", "month"),
    ("month", "12", "yr year"),
    ("mass", "1", "g gram gramme"),
    ("mass", "1/1000", "mg milligram"),
    ("mass", "1000", "kg kilogram kilo"),
    ("mass", "1000000", "tonne"),
    ("mass", "453.59237", "lb lbs pound"),
    ("mass", "28.349523125", "oz ounce"),
    ("volume", "1/1000", "l liter litre L"),
    ("volume", "1/1000000", "ml mL milliliter millilitre cc"),
    ("volume", "0.003785411784", "gal gallon"),
    ("volume", "0.000946352946", "qt quart"),
    ("volume", "0.000473176473", "pt pint"),
    ("volume", "0.0002365882365", "cup"),
    ("area", "10000", "ha hectare"),
    ("area", "4046.8564224", "acre"),
    ("dollar", "1", "dollar usd buck"),
    ("dollar", "1/100", "cent \\cent"),
    ("euro", "1", "euro eur \\euro"),
    ("sterling", "1", "gbp \\pounds"),
    ("yen", "1", "yen \\yen"),
    ("rupee", "1", "rupee rs inr"),
    ("percent", "1", "% percent pct"),
    ("angle", "1/180", "^\\circ deg degree"),
    ("angle", "1/10800", "arcminute"),
    ("radian", "1", "rad radian"),
    ("temperature", "1", "^\\circC celsius"),
    ("fahrenheit", "1", "^\\circF fahrenheit"),
    ("kelvin", "1", "k kelvin K"),
    ("amount", "1", "mol mole"),
    ("force", "1", "n newton N"),
    ("energy", "1", "j joule J"),
    ("energy", "1000", "kj kJ kilojoule"),
    ("energy", "4184/1000", "cal calorie"),
    ("energy", "4184", "kcal kilocalorie"),
    ("electronvolt", "1", "ev eV"),
    ("power", "1", "w watt W"),
    ("power", "1000", "kw kW kilowatt"),
    ("frequency", "1", "hz Hz hertz"),
    ("frequency", "1000", "khz kHz"),
    ("frequency", "1000000", "mhz MHz"),
    ("pressure", "1", "pa Pa pascal"),
    ("pressure", "1000", "kpa kPa"),
    ("voltage", "1", "v volt V"),
    ("current", "1", "a ampere amp A"),
    ("resistance", "1", "ohm \\Omega"),
    ("molarity", "1", "molar"),
    ("bit", "1", "bit"),
    ("bit", "8", "byte"),
]
_DERIVED: dict[str, dict[str, int]] = {
    "volume": {"length": 3},
    "area": {"length": 2},
    "angle": {"angle": 1},
    "frequency": {"time": -1},
}
_KNOWN: dict[str, tuple[dict[str, int], Fraction]] = {}
for _dimension, _factor, _names in _TABLE:
    for _name in _names.split():
        _KNOWN[_name] = (_DERIVED.get(_dimension, {_dimension: 1}), Fraction(_factor))
_COMPOSED = {"mph": "mile / hour", "kph": "km / hour", "kmh": "km / hour", "mps": "m / s", "fps": "foot / second"}
_SINGLE = {name for name in _KNOWN if len(name) == 1 and name.isalpha()}

# What may stand around a unit without changing the amount.
_IDLE = {
    *(
        "long",
        "tall",
        "high",
        "wide",
        "deep",
        "old",
        "each",
        "away",
        "of",
        "in",
        "total",
        "altogether",
        "length",
        "area",
    ),
    *("volume", "unit", "the", "a", "an", "approximately", "about", "approx", "units", "exactly", "roughly", "only"),
}
# Words that make of an amount something else than an amount.
_OTHERWISE = {
    *("or", "and", "not", "else", "any", "all", "either", "maybe", "if", "unless", "less", "more", "than", "least"),
    *("most", "but", "except", "without", "possibly", "perhaps", "between", "to", "through", "until", "other", "no"),
    *("minus", "plus", "times", "divided", "over", "mod", "factorial", "squared", "cubed", "is", "are", "equals", "up"),
    *("under", "below", "above", "from", "half", "third", "quarter", "dozen", "hundred", "thousand", "million", "both"),
    *(
        "billion",
        "trillion",
        "infinity",
        "modulo",
        "base",
        "with",
        "where",
        "for",
        "when",
        "then",
        "so",
        "nor",
        "never",
    ),
}


@dataclass(frozen=True)
class Unit:
    """A unit or a label.

    Attributes:
        dimensions: of a known unit; empty of a label.
        factor: to the base units of its dimensions; degrees count as shares of pi.
        label: words of what is no known unit; empty of a known one.
    """

    dimensions: Dimensions
    factor: Fraction
    label: str = ""

    @property
    def is_percent(self) -> bool:
        """Whether it is the sign %."""
        return self.dimensions == (("percent", 1),)

    @property
    def is_degree(self) -> bool:
        """Whether it measures an angle in degrees."""
        return self.dimensions == (("angle", 1),)


DEGREE = Unit((("angle", 1),), Fraction(1, 180))
DOLLAR = Unit((("dollar", 1),), Fraction(1))


def singular(word: str) -> str:
    """A word without its plural ending."""
    if word in _KNOWN or len(word) < 3:
        return word
    for ending, instead in (("ies", "y"), ("ches", "ch"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def _lookup(word: str, *, single: bool) -> tuple[dict[str, int], Fraction] | None:
    if len(word) == 1 and word in _SINGLE | set("K"):
        return _KNOWN[word] if single else None
    for name in (word, word.lower(), singular(word.lower())):
        if name in _KNOWN and (len(name) > 1 or not word.isalpha() or single):
            return _KNOWN[name]
    return None


def _power_after(tokens: Tokens, place: int) -> tuple[int, int]:
    r"""The whole power that follows a unit (`^2`, `^{-1}`, `squared`) and the place behind it."""
    text = tokens.text(place)
    if text in ("squared", "cubed"):
        return (2 if text == "squared" else 3), place + 1
    if text != "^":
        return 1, place
    end = tokens.closed_by.get(place + 1, place + 1) + 1
    digits = "".join(token.text for token in tokens.items[place + 1 : end]).strip("{}")
    if digits.lstrip("-").isdigit() and len(digits) <= 2:
        return int(digits), end
    return 0, place


def read_unit(tokens: Tokens, *, single: bool = False) -> Unit | None:
    """The unit that a whole stretch of tokens names; None if it is none.

    Args:
        tokens: what follows a number.
        single: whether a single letter outside a text command counts as a unit (`15 m`).
    """
    dimensions: dict[str, int] = {}
    factor = Fraction(1)
    label: list[str] = []
    place, sign, prefix, words = 0, 1, 1, 0
    while place < len(tokens):
        token = tokens[place]
        text = token.text
        if text == "/" or (text == "per" and token.kind == "letters"):
            if sign == -1 and text == "/":
                return None
            sign = -1
            place += 1
            continue
        if text in ("\\cdot", "\\times", "*", ".", "-", "(", ")", "{", "}"):
            place += 1
            continue
        if text == "^" and tokens.text(place + 1) in ("\\circ", "{"):
            end = tokens.closed_by.get(place + 1, place + 1) + 1
            if "".join(t.text for t in tokens.items[place + 1 : end]).strip("{}") != "\\circ":
                return None
            name, place = "^\\circ", end
            if tokens.text(place) in ("C", "F"):
                name += tokens.text(place)
                place += 1
            found = _KNOWN[name]
        elif token.kind == "letters" or text in ("%", "\\Omega", "\\euro", "\\pounds", "\\yen"):
            lowered = text.lower()
            words += 1
            if words > _MOST_WORDS or lowered in _OTHERWISE:
                return None
            place += 1
            if lowered in ("square", "sq", "cubic", "cu"):
                prefix = 2 if lowered.startswith("sq") else 3
                continue
            if lowered in _COMPOSED:
                for name, power in zip(_COMPOSED[lowered].split(" / "), (1, -1), strict=True):
                    base, by = _KNOWN[name]
                    for dimension, count in base.items():
                        dimensions[dimension] = dimensions.get(dimension, 0) + count * power
                    factor *= by**power
                continue
            if place < len(tokens) and lowered in _IDLE and tokens.text(place) == "^":
                place = _power_after(tokens, place)[1]
                continue
            looked = _lookup(text, single=single or token.word)
            if looked is None or (lowered == "in" and ((not token.word and not single) or label or dimensions)):
                if lowered in _IDLE:
                    continue
                if len(text) == 1 and not token.word:
                    return None
                label.append(singular(lowered))
                continue
            found = looked
        else:
            return None
        power, place = _power_after(tokens, place)
        if not power:
            return None
        power *= sign * prefix
        prefix = 1
        for dimension, count in found[0].items():
            dimensions[dimension] = dimensions.get(dimension, 0) + count * power
        factor *= found[1] ** power
    dimensions = {name: count for name, count in dimensions.items() if count}
    if dimensions:
        # "5 miles away", "3 hours of work": the unit counts, what it measures does not.
        return Unit(tuple(sorted(dimensions.items())), factor)
    return Unit((), Fraction(1), " ".join(label))
