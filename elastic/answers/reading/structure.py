r"""What an answer is: a number with a unit, a list, a set, a tuple, an interval, an equation, a matrix, words.

Reading goes from the loosest to the tightest sign (or, comma, relation, union, bracket, plus-minus, unit) and ends in
expressions, whose meaning `expressions` reads.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from elastic.answers.reading import words
from elastic.answers.reading.expressions import PLAIN_FUNCTIONS, PLAIN_NAMES
from elastic.answers.reading.labels import is_label, label_of
from elastic.answers.reading.regions import as_one_region, as_region, bounded, is_infinite, pair_region, punctured
from elastic.answers.reading.tokens import Token, Tokens, UnreadableError, make
from elastic.answers.reading.units import DOLLAR, Unit, read_unit
from elastic.answers.reading.values import (
    Based,
    Collection,
    Expression,
    Matrix,
    Piece,
    Quantity,
    Ratio,
    Region,
    Relation,
    Special,
    Value,
    Words,
    glued,
    reals,
    symbols,
)

_MOST_LEVELS = 12

ORDER = {"<", ">", "\\le", "\\ge", "\\ne"}
_RELATIONS = ORDER | {"=", "\\approx", "\\in", "\\equiv", "\\sim", "\\simeq", "\\Rightarrow", "\\implies", "\\iff"}
_ENVIRONMENTS = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"}
_CURRENCY = {"\\$": "dollar", "$": "dollar", "\\euro": "euro", "\\pounds": "gbp", "\\yen": "yen"}
_TRIGONOMETRY = {"\\sin", "\\cos", "\\tan", "\\cot", "\\sec", "\\csc", "sin", "cos", "tan", "cot", "sec", "csc", "cis"}
_CONNECTIVES = {";", "\\lor", "\\land", "\\&", "or", "and", "OR", "AND", "Or", "And"}
_DIGIT_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_BASED = re.compile(
    r"(-?)\(?([0-9A-Za-z]*[0-9][0-9A-Za-z]*|[A-F]{2,}(?=\)?_\{?1))\)?_\{?(?:\(?([0-9]{1,2})\)?|([a-z]+))\}?"
)
_ARITHMETIC = {"+", "-", "/", "^", "{", "}", "(", ")", "\\frac", "\\sqrt", "\\pi", "\\cdot", "\\times", "!"}
_LONGEST_PROGRESSION = 1000
_LONGEST_UNIT = 40
_MOST_AMOUNTS = 4


def _places(tokens: Tokens, texts: set[str]) -> list[int]:
    if tokens.texts.isdisjoint(texts):
        return []
    return [place for place in tokens.top if tokens.items[place].text in texts]


def _thousands(tokens: Tokens, commas: list[int]) -> Tokens | None:
    """The stretch with `12,500` as one number, if every comma in it groups digits so."""
    first = commas[0] - 1
    for place in commas:
        before, after = tokens.text(place - 1), tokens.text(place + 1).partition(".")[0]
        fits = before.isdigit() and (len(before) <= 3 if place == commas[0] else len(before) == 3)
        if not fits or not re.fullmatch("[0-9]{3}", after) or tokens[place + 1].spaced:
            return None
    if tokens.text(first).startswith("0") or any(b - a != 2 for a, b in pairwise(commas)):
        return None
    last = commas[-1] + 1
    number = "".join(tokens.text(place) for place in range(first, last + 1) if tokens.text(place) != ",")
    merged = Token("number", number, spaced=tokens[first].spaced)
    return make([*tokens.items[:first], merged, *tokens.items[last + 1 :]])


def read(tokens: Tokens, level: int = 0) -> Value:
    """What a stretch of tokens is.

    Raises:
        UnreadableError: it is nested too deeply.
    """
    if level > _MOST_LEVELS:
        raise UnreadableError("nested too deeply")
    if _is_plain(tokens):
        return Expression(tokens)
    tokens = words.without_qualifier(words.without_lead_in(tokens.peeled())).peeled()
    if not len(tokens):
        return Words("")
    if words.is_letters(tokens):
        found = _phrase(tokens)
        if found is not None:
            return found
    for reader in (_environment, _joined, _listed, _related, _united, _ratio, _bracketed, _signs, _quantity, _based):
        value = reader(tokens, level)
        if value is not None:
            return value
    sign = is_infinite(tokens)
    if sign:
        return Special(words.INFINITY if sign > 0 else "-infinity")
    if [token.text for token in tokens.items] in (["\\emptyset"], ["\\{", "\\}"]):
        return Special(words.NONE)
    if len(tokens) == 1 and tokens[0].text.startswith("\\mathbb"):
        return reals() if tokens[0].text == "\\mathbb{R}" else Special(tokens[0].text)
    if words.is_letters(tokens) and (any(token.word for token in tokens.items) or len(words.phrase(tokens)) > 3):
        return Words(words.phrase(tokens))
    return Expression(tokens)


def _is_plain(tokens: Tokens) -> bool:
    """Whether nothing but figures, single letters and the signs of arithmetic stands there: one expression for sure."""
    if not tokens.items or tokens.closed_by.get(0) == len(tokens.items) - 1:
        return False
    for token in tokens.items:
        if token.kind == "letters":
            if token.word or len(token.text) > 1:
                return False
        elif token.kind != "number" and token.text not in _ARITHMETIC:
            return False
    return True


def _phrase(tokens: Tokens) -> Value | None:
    text = words.phrase(tokens)
    found = words.meaning(text) or words.meaning(words.bare(text))
    if found == words.REALS:
        return reals()
    if found is not None:
        return Special(found)
    number = words.number_in_words(text)
    if number is not None:
        return Expression(symbols(str(number)))
    if {"or", "and"} & set(text.split()):
        return None
    if any(token.word for token in tokens.items) and len(text) > 1:
        spelled = words.number_in_words(text.split()[0])
        if spelled is not None and len(tokens) > 1:
            unit = read_unit(tokens.cut(1))
            if unit is not None:
                return Quantity(Expression(symbols(str(spelled))), unit)
        return Words(text)
    return None


def _environment(tokens: Tokens, level: int) -> Value | None:
    wrapped = tokens.closed_by.get(0) == len(tokens) - 1 and tokens.closed_by.get(1) == len(tokens) - 2
    if wrapped and tokens.text(0) in "([" and tokens.text(1) in ("\\begin{array}", "\\begin{matrix}"):
        tokens = tokens.cut(1, len(tokens) - 1)
    start = next((place for place in tokens.top if tokens.text(place).startswith("\\begin")), None)
    if start is None or tokens.closed_by.get(start) != len(tokens) - 1:
        return None
    if start:
        return _scaled(tokens.cut(0, start), _environment(tokens.cut(start), level))
    name = tokens.text(0)[7:-1]
    start = 1
    if name.startswith("array") and tokens.text(1) == "{":
        start = tokens.closed_by[1] + 1
    inside = tokens.cut(start, len(tokens) - 1)
    if name in ("cases", "aligned", "align*", "gathered"):
        rows = [row for row in inside.split(_places(inside, {"\\\\"})) if len(row)]
        return Collection("list", tuple(read(_without_marks(row), level + 1) for row in rows), joined_by="and")
    if name.rstrip("*") not in _ENVIRONMENTS:
        return None
    rows = [row for row in inside.split(_places(inside, {"\\\\"})) if len(row)]
    return Matrix(tuple(tuple(read(cell, level + 1) for cell in row.split(_places(row, {"&"}))) for row in rows))


def _scaled(factor: Tokens, matrix: Value | None) -> Value | None:
    """A matrix with a factor before it."""
    if not isinstance(matrix, Matrix) or is_label(factor) or factor.text(len(factor) - 1) in "=,<>":
        return None
    factor = glued(factor, "1") if len(factor) == 1 and factor.text(0) in "+-" else factor
    cells = [[cell.tokens if isinstance(cell, Expression) else None for cell in row] for row in matrix.rows]
    if any(cell is None for row in cells for cell in row) or _places(factor, _RELATIONS | {",", "+"}):
        return None
    return Matrix(
        tuple(tuple(Expression(glued(factor, "(", cell, ")")) for cell in row if cell is not None) for row in cells)
    )


def _without_marks(row: Tokens) -> Tokens:
    return make([token for token in row.items if token.text != "&"])


def _flat(values: list[Value]) -> tuple[Value, ...]:
    items: list[Value] = []
    for value in values:
        items += value.items if isinstance(value, Collection) and value.kind == "list" else [value]
    return tuple(items)


def _joined(tokens: Tokens, level: int) -> Value | None:
    places = _places(tokens, _CONNECTIVES)
    if not places:
        return None
    compound = _compound(tokens)
    if compound is not None:
        return compound
    parts = []
    for part in tokens.split(places):
        while len(part) and part.text(len(part) - 1) == ",":
            part = part.cut(0, len(part) - 1)
        while len(part) and part.text(0) in (",", ";"):
            part = part.cut(1)
        if len(part):
            parts.append(part)
    if not parts:
        return None
    signs = {tokens[place].text.casefold() for place in places}
    joined_by = "or" if signs & {"or", "\\lor"} else "and" if signs & {"and", "\\land", "\\&"} else ","
    if len(parts) == 1:
        return read(parts[0], level + 1)
    values = [read(part, level + 1) for part in parts]
    regions = as_one_region(values, joined_by)
    return regions or Collection("list", _flat(values), joined_by=joined_by)


def _listed(tokens: Tokens, level: int) -> Value | None:
    commas = _places(tokens, {","})
    if not commas:
        return None
    merged = _thousands(tokens, commas)
    if merged is not None:
        return read(merged, level + 1)
    parts = [part for part in tokens.split(commas) if len(part)]
    if not parts:
        return Words("")
    if len(parts) == 1:
        return read(parts[0], level + 1)
    values = [read(part, level + 1) for part in _progression(parts)]

    def bounds(value: Value, part: Tokens) -> bool:
        return isinstance(value, Region) or (
            isinstance(value, Relation) and bool(set(value.signs) & (ORDER | {"\\in"}))
        )

    while len(values) > 1 and bounds(values[-1], parts[-1]) and not bounds(values[0], parts[0]):
        # What follows the answer and only bounds a symbol is a condition: `1/x, x \ne 0`.
        if isinstance(values[-1], Region) and not values[-1].variable:
            break
        values = values[:-1]
    if len(values) == 1:
        return values[0]
    return as_one_region(values, ",") or Collection("list", _flat(values))


def _progression(parts: list[Tokens]) -> list[Tokens]:
    """`1,2,...,9` written out, if it is an arithmetic progression of whole numbers."""
    if len(parts) < 4 or [part.text(0) for part in parts].count("\\ldots") != 1 or len(parts[-2]) != 1:
        return parts
    texts = [part.joined() for part in parts]
    if texts[-2] != "\\ldots" or not all(re.fullmatch(r"-?[0-9]{1,9}", text) for text in [*texts[:-2], texts[-1]]):
        return parts
    known = [int(text) for text in texts[:-2]]
    step, last = known[1] - known[0], int(texts[-1])
    if step == 0 or any(b - a != step for a, b in pairwise(known)) or (last - known[0]) % step:
        return parts
    count = (last - known[0]) // step + 1
    if not len(known) < count <= _LONGEST_PROGRESSION:
        return parts
    return [symbols(str(known[0] + place * step)) for place in range(count)]


def _related(tokens: Tokens, level: int) -> Value | None:
    places = _places(tokens, _RELATIONS)
    if not places:
        return None
    if places[0] == 0:
        if tokens.text(0) in ("=", "\\approx", "\\sim", "\\simeq", "\\Rightarrow", "\\implies"):
            return read(tokens.cut(1), level + 1)
        if tokens.text(0) == "\\in":
            return read(tokens.cut(1), level + 1)
        return Expression(tokens)
    signs = tuple(tokens.text(place) for place in places)
    for arrow in ("\\Rightarrow", "\\implies", "\\iff"):
        if arrow in signs:
            last = max(place for place in places if tokens.text(place) == arrow)
            return read(tokens.cut(last + 1), level + 1)
    members = tuple(part.peeled() for part in tokens.split(places))
    if not all(len(member) for member in members):
        return Expression(tokens)
    if signs == ("\\in",):
        value = read(members[1], level + 1)
        if isinstance(value, Region):
            return Region(value.pieces, label_of(members[0]))
        if isinstance(value, Collection) and value.kind == "tuple" and len(value.items) == 2:
            region = pair_region(value)
            return Region(region.pieces, label_of(members[0])) if region else value
        return value if is_label(members[0]) else Relation(members, signs)
    if signs[0] in ("=",) and is_label(members[0]) and set(signs[1:]) <= {"\\in"} and len(signs) == 2:
        return Relation(members[:2], signs[:1])
    if set(signs) <= ORDER:
        region = bounded(members, signs)
        if region is not None:
            return region
    return Relation(members, tuple("\\approx" if sign in ("\\sim", "\\simeq") else sign for sign in signs))


def _united(tokens: Tokens, level: int) -> Value | None:
    unions = _places(tokens, {"\\cup"})
    if unions:
        pieces: list[Piece] = []
        for part in tokens.split(unions):
            region = as_region(read(part, level + 1))
            if region is None:
                return Expression(tokens)
            pieces += region.pieces
        return Region(tuple(pieces))
    differences = _places(tokens, {"\\setminus"}) or [
        place for place in _places(tokens, {"-"}) if place and tokens.text(place - 1) == "\\mathbb{R}"
    ]
    if len(differences) == 1:
        whole, removed = (read(part, level + 1) for part in tokens.split(differences))
        if whole == reals() and isinstance(removed, Collection) and removed.kind == "set":
            points = [item.tokens for item in removed.items if isinstance(item, Expression)]
            if len(points) == len(removed.items):
                return punctured(points)
        return Expression(tokens)
    return None


def _ratio(tokens: Tokens, level: int) -> Value | None:
    colons = _places(tokens, {":", "to"})
    if not colons:
        return None
    terms = tuple(tokens.split(colons))
    if all(len(term) for term in terms) and not any(token.word for term in terms for token in term.items):
        return Ratio(terms)
    return None


def _bracketed(tokens: Tokens, level: int) -> Value | None:
    if re.fullmatch("[A-Z]", tokens.text(0)) and tokens.text(1) == "(" and tokens.closed_by[1] == len(tokens) - 1:
        # A point with its name: A(2,3).
        tokens = tokens.cut(1) if "," in tokens.cut(2, len(tokens) - 1).texts else tokens
    opening = tokens.text(0)
    if opening not in ("(", "[", "\\{", "\\langle") or tokens.closed_by.get(0) != len(tokens) - 1:
        return None
    start, end = 0, len(tokens)
    while start + 1 < end - 1 and tokens.text(start) in "([" and tokens.text(start + 1) == "(":
        # Parentheses around parentheses are opened in one go, however many there are.
        if tokens.closed_by[start + 1] != end - 2:
            break
        start, end = start + 1, end - 1
    tokens = tokens.cut(start, end)
    opening, closing = tokens.text(0), tokens.text(len(tokens) - 1)
    inside = tokens.cut(1, len(tokens) - 1)
    if opening == "\\{":
        bars = _places(inside, {"|", ":"})
        if bars and len(inside.cut(bars[0] + 1)):
            head = inside.cut(0, bars[0])
            members = head.split(_places(head, {"\\in"}))
            if is_label(members[0]):
                return read(inside.cut(bars[0] + 1), level + 1)
        if not len(inside):
            return Special(words.NONE)
    parts = inside.split(_places(inside, {",", ";"}))
    if any(not len(part) for part in parts):
        return Expression(tokens) if len(parts) == 1 else Words("")
    if len(parts) == 1 and opening != "\\{":
        return read(inside, level + 1) if opening in "([" else Expression(tokens)
    values = [read(part, level + 1) for part in (_progression(parts) if opening == "\\{" else parts)]
    if opening == "\\{":
        return Collection("set", _flat(values))
    brackets = "()" if opening == "\\langle" else opening + closing
    return Collection("tuple", tuple(values), brackets)


def _signs(tokens: Tokens, level: int) -> Value | None:
    if not any(token.text in ("\\pm", "\\mp") for token in tokens.items):
        return None
    versions = []
    for plus, minus in (("+", "-"), ("-", "+")):
        items = [
            Token("other", plus if token.text == "\\pm" else minus) if token.text in ("\\pm", "\\mp") else token
            for token in tokens.items
        ]
        versions.append(read(make(items), level + 1))
    return Collection("list", _flat(versions), joined_by="or")


def _quantity(tokens: Tokens, level: int) -> Value | None:
    first = 1 if tokens.text(0) in ("-", "+") else 0
    if tokens.text(first) in _CURRENCY and len(tokens) > first + 1:
        money = read_unit(symbols(_CURRENCY[tokens.text(first)])) or DOLLAR
        rest = tokens.cut(first + 1)
        value = read(glued(tokens.cut(0, first), rest) if first else rest, level + 1)
        if isinstance(value, Quantity):
            # "$5 million" is more than its number; "$5 dollars" and "$5 per hour" are not.
            same = value.unit.dimensions == money.dimensions or not value.unit.dimensions
            return Quantity(value.value, money if same else value.unit)
        return Quantity(value, money) if isinstance(value, Expression) else None
    if any(token.text in ("\\$", "$") for token in tokens.items):
        return None
    if any(token.text in _TRIGONOMETRY for token in tokens.items):
        return None
    compound = _compound(tokens)
    if compound is not None:
        return compound
    for place in tokens.top:
        if place < 1 or len(tokens) - place > _LONGEST_UNIT or not _may_start_unit(tokens, place):
            continue
        scale = words.SCALES.get(tokens.text(place).lower())
        if scale is not None:
            larger = glued("(", tokens.cut(0, place), f")*10^{{{scale}}}")
            return read(glued(larger, tokens.cut(place + 1)), level + 1)
        unit = read_unit(tokens.cut(place))
        if unit is not None:
            value = read(tokens.cut(0, place), level + 1)
            if isinstance(value, Expression | Collection | Ratio):
                if unit == Unit((), Fraction(1)):
                    return value
                return Quantity(value, unit)
            return None
    return None


def _may_start_unit(tokens: Tokens, place: int) -> bool:
    token = tokens[place]
    if token.text in ("%", "\\%", "\\euro", "\\pounds", "\\yen", "\\Omega"):
        return True
    if token.text == "^":
        end = tokens.closed_by.get(place + 1, place + 1) + 1
        return "".join(t.text for t in tokens.items[place + 1 : end]).strip("{}") == "\\circ"
    if token.kind != "letters" or token.text in PLAIN_FUNCTIONS or token.text in PLAIN_NAMES:
        return False
    if token.word:
        return len(token.text) > 1 or token.text not in "eid"
    if len(token.text) == 1:
        return False
    before = tokens[place - 1]
    if before.kind != "number" and before.text not in (")", "}"):
        return False
    known = read_unit(make([token]))
    if known is not None and known.dimensions:
        return True
    return token.spaced and len(token.text) > 2 and bool(re.search("[aeiouy]", token.text))


def _compound(tokens: Tokens) -> Quantity | None:
    """`5 feet 6 inches`: the sum of several amounts of one dimension."""
    numbers = [place for place in tokens.top if tokens[place].kind == "number"]
    if not 2 <= len(numbers) <= _MOST_AMOUNTS or numbers[0] != 0:
        return None
    total, dimensions = Fraction(0), set()
    for start, end in zip(numbers, [*numbers[1:], len(tokens)], strict=True):
        stretch = tokens.cut(start + 1, end)
        while len(stretch) and stretch.text(len(stretch) - 1) in (",", "and"):
            stretch = stretch.cut(0, len(stretch) - 1)
        unit = read_unit(stretch) if len(stretch) and stretch[0].kind == "letters" else None
        if unit is None or not unit.dimensions:
            return None
        total += Fraction(tokens.text(start)) * unit.factor
        dimensions.add(unit.dimensions)
    if len(dimensions) != 1:
        return None
    value = symbols(f"{total.numerator}/{total.denominator}")
    return Quantity(Expression(value), Unit(dimensions.pop(), Fraction(1)))


def _based(tokens: Tokens, level: int) -> Value | None:
    if not any(token.text == "_" for token in tokens.items):
        return None
    match = _BASED.fullmatch("".join(token.text for token in tokens.items))
    if match is None:
        return None
    base = int(match[3]) if match[3] else _DIGIT_WORDS.get(match[4] or "", 0)
    digits = match[2].upper().lstrip("0") or "0"
    try:
        int(digits, base if base > 1 else 2)
    except ValueError:
        return None
    return Based(match[1] + digits, base) if 2 <= base <= 36 else None
