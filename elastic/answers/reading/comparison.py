"""Whether one answer equals another: structures are compared here, their single expressions by a leaf judge.

Every comparison has three values. None means that only a slower leaf judge can tell; the rules here are the same for
the fast and the slow one, so that both can only disagree about single expressions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from elastic.answers.compare import exact_number
from elastic.answers.reading import words
from elastic.answers.reading.amounts import quantities
from elastic.answers.reading.labels import is_label
from elastic.answers.reading.logic import all_of, any_of
from elastic.answers.reading.protocol import Comparison
from elastic.answers.reading.regions import as_region, tidy
from elastic.answers.reading.relations import chain_of, relations
from elastic.answers.reading.structure import read
from elastic.answers.reading.tokens import Tokens
from elastic.answers.reading.units import Unit, read_unit
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
    symbols,
)

_MOST_PAIRS = 4000
_THOUSANDS = re.compile("[0-9]{1,3}(?:,[0-9]{3})+")


class WholeComparison(Comparison):
    """Compares values of every kind."""

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
        # `100,200` is a number by itself, and a list beside a list.
        if isinstance(given, Collection) and _THOUSANDS.fullmatch(gold.joined()):
            return self.values(given, _as_list(gold))
        if isinstance(wanted, Collection) and _THOUSANDS.fullmatch(answer.joined()):
            return self.values(_as_list(answer), wanted)
        return False

    def values(self, a: Value, g: Value) -> bool | None:
        """Whether one value equals another."""
        a, g = _opened(a), _opened(g)
        if isinstance(a, Relation) or isinstance(g, Relation):
            return relations(self, a, g)
        if isinstance(a, Quantity) or isinstance(g, Quantity):
            return quantities(self, a, g)
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
            loose, bracketed = (g, a) if a.kind == "tuple" else (a, g)
            if len(a.items) == 2 and bracketed.brackets != "()":
                return False
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
        known: dict[tuple[int, int], bool | None] = {}

        def equal(x: int, y: int) -> bool | None:
            if (x, y) not in known:
                known[x, y] = self.values(given[x], wanted[y])
            return known[x, y]

        rows = all_of(any_of(equal(x, y) for y in range(len(wanted))) for x in range(len(given)))
        if rows is False:
            return False
        met = {y for (_, y), same in known.items() if same}
        columns = all_of(any_of(equal(x, y) for x in range(len(given))) for y in set(range(len(wanted))) - met)
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
        given, wanted = tidy(left.pieces), tidy(right.pieces)
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

    def matrices(self, a: Value, g: Value) -> bool | None:
        """Matrices entry by entry; a vector may be written as coordinates."""
        if isinstance(a, Matrix) and isinstance(g, Matrix):
            if [len(row) for row in a.rows] != [len(row) for row in g.rows]:
                return False
            return all_of(self.in_order(x, y) for x, y in zip(a.rows, g.rows, strict=True))
        matrix, other = (a, g) if isinstance(a, Matrix) else (g, a)
        assert isinstance(matrix, Matrix)
        listed = _listed_matrix(other)
        if listed is not None:
            return self.matrices(*((a, listed) if matrix is a else (listed, g)))
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


def _listed_matrix(value: Value) -> Matrix | None:
    """`[[1,2],[3,4]]` as a matrix."""
    if not isinstance(value, Collection) or value.brackets != "[]":
        return None
    rows = [item.items for item in value.items if isinstance(item, Collection) and item.brackets == "[]"]
    return Matrix(tuple(rows)) if len(rows) == len(value.items) else None


def _opened(value: Value) -> Value:
    """A value out of what does not change it: a set or list of one, a label before a list or a tuple."""
    if isinstance(value, Collection):
        if (
            value.kind != "tuple"
            and value.items[0] != Special(words.NONE)
            and all(item == value.items[0] for item in value.items[1:])
        ):
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
        chain = chain_of(item) if isinstance(item, Relation) else None
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
        chain = chain_of(item) if isinstance(item, Relation) else None
        if chain is None or not chain.label or chain.label in found:
            return None
        found[chain.label] = chain.value()
    return found


def _as_list(tokens: Tokens) -> Collection:
    return Collection("list", tuple(Expression(symbols(part)) for part in tokens.joined().split(",")))


def _unit_of(value: Value) -> Unit | None:
    return value.unit if isinstance(value, Quantity) else None


def _with_single_letter(tokens: Tokens) -> Quantity | None:
    """An amount whose unit is a single letter (`15 m`)."""
    for place in tokens.top:
        if place and tokens[place].kind == "letters":
            unit = read_unit(tokens.cut(place), single=True)
            if unit is not None and unit.dimensions:
                value = read(tokens.cut(0, place))
                return Quantity(value, unit) if isinstance(value, Expression) else None
    return None


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
