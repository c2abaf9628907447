r"""Whether an answer equals the gold: structures are compared here, their single expressions by a leaf judge.

Every comparison has three values. None means that only a slower leaf judge can tell; the rules here are the same for
the fast and the slow one, so that both can only disagree about single expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from elastic.answers.compare import exact_number
from elastic.answers.reading import algebra, choice, numeric, words
from elastic.answers.reading.expressions import UnknownError, parse
from elastic.answers.reading.leaves import Leaf, same_number
from elastic.answers.reading.restated import ordered, restates
from elastic.answers.reading.structure import (
    ORDER,
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
    as_region,
    glued,
    is_label,
    is_variable,
    label_of,
    read,
    symbols,
)
from elastic.answers.reading.tokens import Tokens, UnreadableError, tokenize
from elastic.answers.reading.units import Unit, read_unit
from elastic.answers.spelling import canonical
from elastic.answers.verdict import Gold
from elastic.contracts.policy import Policy

# Longer answers equal their own text only.
LONGEST = 20_000
_MOST_PAIRS = 4000

_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))? ?(?:([ap])\.? ?m\.?)?", re.IGNORECASE)
_DIGITS = re.compile("[0-9]+")


def all_of(results: Iterable[bool | None]) -> bool | None:
    """False if one is, else None if one is, else True."""
    unsure = False
    for result in results:
        if result is False:
            return False
        unsure |= result is None
    return None if unsure else True


def any_of(results: Iterable[bool | None]) -> bool | None:
    """True if one is, else None if one is, else False."""
    unsure = False
    for result in results:
        if result:
            return True
        unsure |= result is None
    return None if unsure else False


def judge(answer: str, gold: Gold, leaf: Leaf) -> bool | None:
    """Whether an answer equals the gold; None where `leaf` cannot tell.

    An empty gold equals nothing. The same text equals itself, whatever it is.
    """
    given, wanted = canonical(answer), canonical(gold.answer)
    if not wanted or not given:
        return False
    if given == wanted:
        return True
    if gold.question is not None and restates(given, gold.question) and not _same_work(given, wanted):
        return False
    left, right = exact_number(given), exact_number(wanted)
    if left is not None and right is not None and (left.value == right.value or "," not in wanted):
        return same_number(left, right, gold.policy)
    if _DIGITS.fullmatch(given) and _DIGITS.fullmatch(wanted):
        return given.lstrip("0") == wanted.lstrip("0")
    if given.casefold() == wanted.casefold() and _said(answer, gold.answer, wanted):
        return True
    letter = choice.gold_letter(wanted)
    if letter is not None:
        return _same_choice(given, letter, gold, leaf)
    if max(len(given), len(wanted)) > LONGEST:
        return False
    clocks = _CLOCK.fullmatch(choice.plain(given)), _CLOCK.fullmatch(choice.plain(wanted))
    if clocks[0] and clocks[1]:
        return _same_time(clocks[0], clocks[1])
    try:
        answer_tokens, gold_tokens = tokenize(given), tokenize(wanted)
        comparison = _Comparison(gold.policy, leaf, gold.question)
        return comparison.texts(answer_tokens, gold_tokens)
    except UnreadableError:
        return False


def _said(answer: str, gold: str, wanted: str) -> bool:
    """Whether letters are a word, whose case says nothing, and no product of symbols."""
    if not wanted.replace(" ", "").isalpha():
        return False
    return len(wanted) > 3 or wanted.casefold() in ("yes", "no") or any("\\text" in text for text in (answer, gold))


def _same_work(given: str, wanted: str) -> bool:
    """Whether two expressions differ in the order of terms and factors alone."""
    try:
        return ordered(parse(tokenize(given))) == ordered(parse(tokenize(wanted)))
    except (UnknownError, UnreadableError):
        return False


def _same_choice(given: str, letter: tuple[str, str], gold: Gold, leaf: Leaf) -> bool | None:
    chosen = choice.given_letter(given)
    if chosen is not None:
        return chosen[0] == letter[0]
    return judge(given, Gold(letter[1], gold.policy), leaf) if letter[1] else False


def _same_time(answer: re.Match[str], gold: re.Match[str]) -> bool:
    """Clock times; `a.m.` or `p.m.` on one side only is forgiven, as a unit is."""
    times = []
    half_named = answer[4] is not None and gold[4] is not None
    for time in (answer, gold):
        hour, half = int(time[1]), (time[4] or "").lower()
        if half and (half_named or hour == 0):
            hour = hour % 12 + (12 if half == "p" else 0)
        times.append((hour, int(time[2]), int(time[3] or 0)))
    if times[0] != times[1] and (answer[4] is None) != (gold[4] is None):
        # Twenty-four hours on one side: 21:30 is 9:30 p.m.
        named, bare = (answer, times[1]) if answer[4] else (gold, times[0])
        hour = int(named[1]) % 12 + (12 if named[4].lower() == "p" else 0)
        return bare == (hour, int(named[2]), int(named[3] or 0))
    return times[0] == times[1]


@dataclass
class _Comparison:
    policy: Policy
    leaf: Leaf
    question: str | None

    def texts(self, answer: Tokens, gold: Tokens) -> bool | None:
        """The readings of two texts; a gold such as `100,200` may be a number or a list."""
        given, wanted = read(answer), read(gold)
        result = self.values(given, wanted)
        if result is not False:
            return result
        unit = _unit_of(wanted)
        if unit is not None and isinstance(given, Expression):
            # `15 m`: the letter is a unit if the gold has one.
            again = _with_single_letter(given.tokens)
            if again is not None:
                return self.values(again, wanted)
        if (
            isinstance(given, Collection)
            and given.joined_by == ","
            and re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", gold.joined())
        ):
            items = [Expression(symbols(part)) for part in gold.joined().split(",")]
            return self.values(given, Collection("list", tuple(items)))
        return False

    def values(self, a: Value, g: Value) -> bool | None:
        """Whether one value equals another."""
        a, g = _opened(a), _opened(g)
        if isinstance(a, Relation) or isinstance(g, Relation):
            return self.relations(a, g)
        if isinstance(a, Quantity) or isinstance(g, Quantity):
            return self.quantities(a, g)
        if isinstance(a, Expression) and isinstance(g, Expression):
            return self.leaf(a.tokens, g.tokens, self.policy)
        if isinstance(a, Collection) and isinstance(g, Collection):
            return self.collections(a, g)
        if isinstance(a, Region) or isinstance(g, Region):
            return self.regions(a, g)
        if isinstance(a, Matrix) or isinstance(g, Matrix):
            return self.matrices(a, g)
        if isinstance(a, Ratio) or isinstance(g, Ratio):
            return self.ratios(a, g)
        if isinstance(a, Based) or isinstance(g, Based):
            return self.numerals(a, g)
        if isinstance(a, Special) or isinstance(g, Special):
            return isinstance(a, Special) and isinstance(g, Special) and a.name == g.name
        if isinstance(a, Words) or isinstance(g, Words):
            return _same_words(a, g)
        return self.one_and_several(a, g)

    def one_and_several(self, a: Value, g: Value) -> bool | None:
        """A single value against a collection: `15 and 1/2` may be a mixed number."""
        if isinstance(a, Collection) and isinstance(g, Expression) and a.joined_by == "and" and len(a.items) == 2:
            whole, part = a.items
            if isinstance(whole, Expression) and isinstance(part, Expression):
                first, second = exact_number(whole.tokens.joined()), exact_number(part.tokens.joined())
                if first and second and first.value.denominator == 1 and 0 < second.value < 1 and second.places is None:
                    return self.leaf(symbols(f"{first.value + second.value}"), g.tokens, self.policy)
        if isinstance(a, Collection) and isinstance(g, Words) and a.kind == "list":
            return False
        return False

    # Units

    def quantities(self, a: Value, g: Value) -> bool | None:
        """Amounts with units on one side or on both."""
        given, answer_unit = (a.value, a.unit) if isinstance(a, Quantity) else (a, None)
        wanted, gold_unit = (g.value, g.unit) if isinstance(g, Quantity) else (g, None)
        if answer_unit is not None and gold_unit is not None:
            if not answer_unit.dimensions or not gold_unit.dimensions:
                if answer_unit.dimensions or gold_unit.dimensions or answer_unit.label != gold_unit.label:
                    return False
                return self.values(given, wanted)
            if answer_unit.dimensions != gold_unit.dimensions:
                return self.angles(given, answer_unit, wanted, gold_unit)
            return self.scaled(given, wanted, answer_unit.factor / gold_unit.factor)
        unit = answer_unit or gold_unit
        assert unit is not None
        if unit.is_percent:
            return self.percents(given, answer_unit, wanted)
        if unit.is_degree:
            radians = self.in_radians(given, answer_unit, wanted)
            if radians:
                return True
        if self.policy.units == "strict":
            return False
        return self.values(given, wanted)

    def in_radians(self, given: Value, answer_unit: Unit | None, wanted: Value) -> bool | None:
        """60 degrees against pi/3 without a unit."""
        if not isinstance(given, Expression) or not isinstance(wanted, Expression):
            return False
        bare = wanted if answer_unit is not None else given
        if not any(token.text in ("\\pi", "pi") for token in bare.tokens.items):
            return False
        if answer_unit is not None:
            return self.leaf(glued("(", given.tokens, ")\\pi/180"), wanted.tokens, self.policy)
        return self.leaf(given.tokens, glued("(", wanted.tokens, ")\\pi/180"), self.policy)

    def angles(self, given: Value, answer_unit: Unit, wanted: Value, gold_unit: Unit) -> bool | None:
        """Degrees against radians; any other two dimensions are different."""
        kinds = {answer_unit.dimensions, gold_unit.dimensions}
        if kinds != {(("angle", 1),), (("radian", 1),)}:
            return False
        if not isinstance(given, Expression) or not isinstance(wanted, Expression):
            return False
        both = [
            glued("(", value.tokens, f")\\pi*{unit.factor}") if unit.dimensions == (("angle", 1),) else value.tokens
            for value, unit in ((given, answer_unit), (wanted, gold_unit))
        ]
        return self.leaf(both[0], both[1], self.policy)

    def scaled(self, given: Value, wanted: Value, factor: Fraction) -> bool | None:
        """Whether `given` times `factor` equals `wanted`."""
        if factor == 1:
            return self.values(given, wanted)
        if not isinstance(given, Expression) or not isinstance(wanted, Expression):
            return False
        number = exact_number(given.tokens.joined())
        if number is not None:
            value = number.value * factor
            return self.leaf(symbols(f"{value.numerator}/{value.denominator}"), wanted.tokens, self.policy)
        scaled = glued("(", given.tokens, f")*({factor.numerator}/{factor.denominator})")
        return self.leaf(scaled, wanted.tokens, self.policy)

    def percents(self, given: Value, answer_unit: Unit | None, wanted: Value) -> bool | None:
        """A sign % on one side only: its value counts, and so does its number where no proportion can be meant."""
        hundredth = Fraction(1, 100)
        by_value = self.scaled(given, wanted, hundredth if answer_unit is not None else Fraction(100))
        if by_value is not False or self.policy.percent == "strict":
            return by_value
        bare = wanted if answer_unit is not None else given
        number = exact_number(bare.tokens.joined()) if isinstance(bare, Expression) else None
        asked = self.question is not None and re.search(r"percent|\\%|%", self.question, re.IGNORECASE)
        if not asked and (number is None or abs(number.value) <= 1):
            return False
        return self.values(given, wanted)

    # Several values

    def collections(self, a: Collection, g: Collection) -> bool | None:
        """Lists, sets and tuples."""
        assigned = self.assignments(a, g)
        if assigned is not NotImplemented:
            return assigned
        a, g = _unlabelled(a), _unlabelled(g)
        if a.kind == g.kind == "tuple":
            if len(a.items) != len(g.items):
                return False
            if len(a.items) == 2 and a.brackets != g.brackets:
                return False
            return self.in_order(a.items, g.items)
        if "tuple" in (a.kind, g.kind):
            if "set" in (a.kind, g.kind) and self.policy.ordered is not False:
                return False
            loose = a if a.kind != "tuple" else g
            if loose.joined_by == "or" or len(a.items) != len(g.items):
                return False
            return self.as_set(a.items, g.items) if self.policy.ordered is False else self.in_order(a.items, g.items)
        if self.policy.ordered and a.kind == g.kind == "list":
            return self.in_order(a.items, g.items)
        return self.as_set(a.items, g.items)

    def in_order(self, given: Sequence[Value], wanted: Sequence[Value]) -> bool | None:
        """Item by item."""
        if len(given) != len(wanted):
            return False
        return all_of(self.values(x, y) for x, y in zip(given, wanted, strict=True))

    def as_set(self, given: Sequence[Value], wanted: Sequence[Value]) -> bool | None:
        """Whether each of either side has its equal on the other."""
        if len(given) * len(wanted) > _MOST_PAIRS:
            return self.in_order(given, wanted)
        table = [[self.values(x, y) for y in wanted] for x in given]
        rows = all_of(any_of(row) for row in table)
        if rows is False:
            return False
        columns = all_of(any_of(row[place] for row in table) for place in range(len(wanted)))
        return all_of((rows, columns))

    def assignments(self, a: Collection, g: Collection) -> bool | None:
        """`x=2, y=3` against the same or against `(2,3)`, whose places go by the alphabet."""
        left, right = _assigned(a), _assigned(g)
        if left is None and right is None:
            return NotImplemented
        if left is not None and right is not None:
            if left.keys() != right.keys():
                return False
            return all_of(self.values(left[name], right[name]) for name in right)
        if left is not None:
            return self.in_order([left[name] for name in sorted(left)], g.items) if g.kind != "set" else False
        assert right is not None
        return self.in_order(a.items, [right[name] for name in sorted(right)]) if a.kind != "set" else False

    def regions(self, a: Value, g: Value) -> bool | None:
        """Intervals, bounds and unions of them as sets of real numbers."""
        left, right = as_region(a), as_region(g)
        if left is None or right is None:
            return False
        if left.variable and right.variable and left.variable != right.variable:
            return False
        given, wanted = self.tidy(left.pieces), self.tidy(right.pieces)
        if len(given) != len(wanted):
            return False
        return all_of(self.pieces(x, y) for x, y in zip(given, wanted, strict=True))

    def pieces(self, a: Piece, g: Piece) -> bool | None:
        """Two intervals."""
        if (a.low is None, a.high is None) != (g.low is None, g.high is None):
            return False
        if (a.low_closed, a.high_closed) != (g.low_closed, g.high_closed):
            return False
        ends = [(x, y) for x, y in ((a.low, g.low), (a.high, g.high)) if x is not None and y is not None]
        return all_of(self.leaf(x, y, self.policy) for x, y in ends)

    def tidy(self, pieces: tuple[Piece, ...]) -> list[Piece]:
        """Intervals in order, joined where they touch; as they stand where their ends have no values."""
        keyed = []
        for piece in pieces:
            ends = [_real(piece.low, -1), _real(piece.high, 1)]
            if ends[0] is None or ends[1] is None:
                return list(pieces)
            keyed.append((ends[0], not piece.low_closed, ends[1], piece))
        keyed.sort(key=lambda item: item[:3])
        tidy: list[tuple[float, Piece]] = []
        for _, _, high, piece in keyed:
            if tidy:
                end, last = tidy[-1]
                low = _real(piece.low, -1)
                assert low is not None
                touches = low == end and (last.high_closed or piece.low_closed)
                if low < end or touches:
                    if high > end or (high == end and piece.high_closed):
                        tidy[-1] = (high, Piece(last.low, piece.high, last.low_closed, piece.high_closed))
                    continue
            tidy.append((high, piece))
        return [piece for _, piece in tidy]

    def matrices(self, a: Value, g: Value) -> bool | None:
        """Matrices entry by entry; a vector may be written as coordinates."""
        if isinstance(a, Matrix) and isinstance(g, Matrix):
            if [len(row) for row in a.rows] != [len(row) for row in g.rows]:
                return False
            return all_of(self.in_order(x, y) for x, y in zip(a.rows, g.rows, strict=True))
        matrix, other = (a, g) if isinstance(a, Matrix) else (g, a)
        assert isinstance(matrix, Matrix)
        if not isinstance(other, Collection) or other.kind != "tuple":
            return False
        if len(matrix.rows) == 1:
            entries = matrix.rows[0]
        elif all(len(row) == 1 for row in matrix.rows):
            entries = tuple(row[0] for row in matrix.rows)
        else:
            return False
        return self.in_order(entries, other.items) if matrix is a else self.in_order(other.items, entries)

    def ratios(self, a: Value, g: Value) -> bool | None:
        """Ratios up to a common factor; one of two terms may be written as a quotient."""
        terms = []
        for value in (a, g):
            if isinstance(value, Ratio):
                terms.append(value.terms)
            elif isinstance(value, Expression):
                terms.append((value.tokens, symbols("1")))
            else:
                return False
        given, wanted = terms
        if len(given) != len(wanted):
            return False
        return all_of(
            self.leaf(glued("(", x, ")/(", given[0], ")"), glued("(", y, ")/(", wanted[0], ")"), self.policy)
            for x, y in zip(given[1:], wanted[1:], strict=True)
        )

    def numerals(self, a: Value, g: Value) -> bool | None:
        """Numerals with a base: the gold's base is asked for, and may be left out."""
        if isinstance(g, Based):
            if isinstance(a, Based):
                return a == g
            return isinstance(a, Expression) and a.tokens.joined().upper().lstrip("0") == g.digits
        assert isinstance(a, Based)
        try:
            value = int(a.digits, a.base)
        except ValueError:
            return False
        return self.leaf(symbols(str(value)), g.tokens, self.policy) if isinstance(g, Expression) else False

    # Relations

    def relations(self, a: Value, g: Value) -> bool | None:
        """Equations, labels, chains of equalities and inequalities."""
        left = _chain(a) if isinstance(a, Relation) else None
        right = _chain(g) if isinstance(g, Relation) else None
        if (isinstance(a, Relation) and left is None) or (isinstance(g, Relation) and right is None):
            return self.statements(a, g)
        if left is not None and right is not None:
            assert isinstance(a, Relation)
            assert isinstance(g, Relation)
            if len(a.members) == len(g.members) == 2:
                whole = self.statements(a, g)
                if whole:
                    return True
                if left.label and right.label and _labels_agree(left.label, right.label):
                    return any_of((whole if whole is None else False, self.values(left.value(), right.value())))
                return whole
            if right.label and (left.label is None or _labels_agree(left.label, right.label)):
                return all_of((self.consistent(left), self.values(left.value(), right.value())))
            return False
        if right is not None:
            if not right.label:
                # An unlabelled chain in the gold: its last member is the value.
                return self.values(a, right.value()) if right.is_value() else False
            return self.values(a, right.value())
        assert left is not None
        if (
            not left.label
            and not left.is_value()
            and len(left.members) == 2
            and not isinstance(g, Expression | Quantity)
        ):
            return False
        ends = [left.value(), *([left.first()] if not left.label else [])]
        return all_of((self.consistent(left), any_of(self.values(end, g) for end in ends)))

    def consistent(self, chain: _Chain) -> bool | None:
        """Whether no member of a chain contradicts the last one; a decimal may round what it follows."""
        members = chain.members[1:] if chain.label else chain.members
        if len(members) < 2:
            return True
        last = members[-1]
        return all_of(self.agree(read(member), read(last)) for member in members[:-1])

    def agree(self, a: Value, b: Value) -> bool | None:
        """Whether two members of a chain are one value, written exactly or rounded to any place."""
        equal = self.values(a, b)
        if equal is not False:
            return equal
        a, b = (value.value if isinstance(value, Quantity) else value for value in (a, b))
        if not isinstance(a, Expression) or not isinstance(b, Expression):
            return False
        for rounded, other in ((a, b), (b, a)):
            number = exact_number(rounded.tokens.joined())
            if number is None or number.places is None:
                continue
            value = _real(other.tokens, 0)
            if value is not None and abs(Fraction(value) - number.value) <= Fraction(10) ** -number.places:
                return True
        return False

    def statements(self, a: Value, g: Value) -> bool | None:
        """Two equations or inequalities as wholes: the same up to a factor, which is positive for an order."""
        if not isinstance(a, Relation) or not isinstance(g, Relation):
            return False
        if len(a.members) != 2 or len(g.members) != 2:
            if a.signs != g.signs or len(a.members) != len(g.members):
                return False
            return all_of(self.leaf(x, y, self.policy) for x, y in zip(a.members, g.members, strict=True))
        signs = [{"\\approx": "="}.get(value.signs[0], value.signs[0]) for value in (a, g)]
        flip = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}
        if signs[0] != signs[1] and flip.get(signs[0]) != signs[1]:
            return False
        if signs[0] not in ORDER and signs[0] != "=":
            return all_of(self.leaf(x, y, self.policy) for x, y in zip(a.members, g.members, strict=True))
        member_by_member = signs[0] == signs[1] and all_of(
            self.leaf(x, y, self.policy) for x, y in zip(a.members, g.members, strict=True)
        )
        if member_by_member:
            return True
        try:
            forms = []
            for value in (a, g):
                left, right = (algebra.normal_form(parse(member)) for member in value.members)
                forms.append(algebra.difference(left, right))
        except (UnknownError, algebra.UndefinedError):
            return None if member_by_member is None else False
        factor = algebra.proportional(forms[0], forms[1])
        if factor is None:
            return None if member_by_member is None else False
        if signs[0] in ("=", "\\ne"):
            return True
        return (factor > 0) == (signs[0] == signs[1])


@dataclass
class _Chain:
    """Members of equalities: `f(x) = 2(x+1) = 2x+2` has a label and a last value."""

    members: tuple[Tokens, ...]
    label: str | None

    def value(self) -> Value:
        return read(self.members[-1])

    def first(self) -> Value:
        return read(self.members[0])

    def is_value(self) -> bool:
        """Whether no member but the last holds symbols, as `3 \\cdot 4 = 12` does not."""
        try:
            return not any(numeric.has_symbols(parse(member)) for member in self.members[:-1])
        except UnknownError:
            return False


def _chain(value: Relation) -> _Chain | None:
    if not set(value.signs) <= {"=", "\\approx"}:
        return None
    members = value.members
    if len(members) == 2 and is_variable(members[1]) and not is_label(members[0]):
        members = (members[1], members[0])
    label = label_of(members[0]) if is_label(members[0]) else None
    return _Chain(members, label)


def _labels_agree(a: str, b: str) -> bool:
    """Whether two labels may name one thing; two single variables must be the same one, y and f(x) are."""
    if a == b:
        return True
    single = [re.fullmatch(r"[A-Za-z]|\\[a-z]+", label) is not None for label in (a, b)]
    return not all(single)


def _opened(value: Value) -> Value:
    """A value out of what does not change it: a set or list of one, a label before a list or a tuple."""
    if isinstance(value, Collection):
        if value.kind != "tuple" and all(item == value.items[0] for item in value.items[1:]):
            return value.items[0]
        return value
    if isinstance(value, Relation) and len(value.members) == 2 and value.signs == ("=",):
        tuple_label = value.members[0].text(0) == "("
        if is_label(value.members[0]):
            inner = read(value.members[1])
            if tuple_label or isinstance(inner, Collection | Region | Matrix | Special | Words):
                return inner
    return value


def _unlabelled(value: Collection) -> Collection:
    """`k=5,6,7` and `x=3 or x=-3` as their values."""
    if value.kind == "tuple":
        return value
    label, items = None, []
    for place, item in enumerate(value.items):
        chain = _chain(item) if isinstance(item, Relation) else None
        if chain is None or not chain.label:
            if place == 0 or chain is not None:
                return value
            items.append(item)
            continue
        if label is not None and chain.label != label:
            return value
        label = chain.label
        items.append(chain.value())
    return Collection(value.kind, tuple(_spread(items)), joined_by=value.joined_by)


def _spread(items: list[Value]) -> list[Value]:
    flat: list[Value] = []
    for item in items:
        flat += item.items if isinstance(item, Collection) and item.kind in ("list", "set") else [item]
    return flat


def _assigned(value: Collection) -> dict[str, Value] | None:
    """Values by name, if each item assigns to a name of its own."""
    if value.kind == "tuple" or len(value.items) < 2:
        return None
    found: dict[str, Value] = {}
    for item in value.items:
        chain = _chain(item) if isinstance(item, Relation) else None
        if chain is None or not chain.label or chain.label in found:
            return None
        found[chain.label] = chain.value()
    return found


def _unit_of(value: Value) -> Unit | None:
    return value.unit if isinstance(value, Quantity) else None


def _with_single_letter(tokens: Tokens) -> Quantity | None:
    """An amount whose unit is a single letter (`15 m`)."""
    for place in tokens.top():
        if place and tokens[place].kind == "letters":
            unit = read_unit(tokens.cut(place), single=True)
            if unit is not None and unit.dimensions:
                value = read(tokens.cut(0, place))
                return Quantity(value, unit) if isinstance(value, Expression) else None
    return None


def _real(tokens: Tokens | None, infinite: int) -> float | None:
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


def _same_words(a: Value, g: Value) -> bool:
    texts = []
    for value in (a, g):
        if isinstance(value, Words):
            texts.append(value.text)
        elif isinstance(value, Expression):
            texts.append(words.phrase(value.tokens) if words.is_letters(value.tokens) else "")
        else:
            return False
    if not all(texts):
        return False
    return words.bare(texts[0].replace("-", " ")) == words.bare(texts[1].replace("-", " "))
