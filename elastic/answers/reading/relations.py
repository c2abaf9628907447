"""Equations, labels, chains of equalities and inequalities against each other and against values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from elastic.answers.compare import exact_number
from elastic.answers.reading import algebra, numeric
from elastic.answers.reading.expressions import UnknownError, parse
from elastic.answers.reading.labels import is_label, is_variable, label_of, labels_agree
from elastic.answers.reading.logic import all_of, any_of
from elastic.answers.reading.protocol import Comparison
from elastic.answers.reading.regions import real_end
from elastic.answers.reading.structure import ORDER, read
from elastic.answers.reading.tokens import Tokens
from elastic.answers.reading.values import Expression, Quantity, Relation, Value


def relations(comparison: Comparison, a: Value, g: Value) -> bool | None:
    """Equations, labels, chains of equalities and inequalities."""
    left = chain_of(a) if isinstance(a, Relation) else None
    right = chain_of(g) if isinstance(g, Relation) else None
    if (isinstance(a, Relation) and left is None) or (isinstance(g, Relation) and right is None):
        return _statements(comparison, a, g)
    if left is not None and right is not None:
        assert isinstance(a, Relation)
        assert isinstance(g, Relation)
        if len(a.members) == len(g.members) == 2:
            if left.label and left.label == right.label and left.is_constant() and right.is_constant():
                return comparison.values(left.value(), right.value())
            whole = _statements(comparison, a, g)
            if whole:
                return True
            if left.label and right.label and labels_agree(left.label, right.label):
                return any_of((whole if whole is None else False, comparison.values(left.value(), right.value())))
            return whole
        if right.label and (left.label is None or labels_agree(left.label, right.label)):
            return all_of((_consistent(comparison, left), comparison.values(left.value(), right.value())))
        return False
    if right is not None:
        if not right.label:
            # An unlabelled chain in the gold: its last member is the value.
            return comparison.values(a, right.value()) if right.is_value() else False
        return comparison.values(a, right.value())
    assert left is not None
    if not left.label and not left.is_value() and len(left.members) == 2 and not isinstance(g, Expression | Quantity):
        return False
    ends = [left.value(), *([left.first()] if not left.label else [])]
    return all_of((_consistent(comparison, left), any_of(comparison.values(end, g) for end in ends)))


def _consistent(comparison: Comparison, chain: Chain) -> bool | None:
    """Whether no member of a chain contradicts the last one; a decimal may round what it follows."""
    members = chain.members[1:] if chain.label else chain.members
    if len(members) < 2:
        return True
    last = members[-1]
    return all_of(_agree(comparison, read(member), read(last)) for member in members[:-1])


def _agree(comparison: Comparison, a: Value, b: Value) -> bool | None:
    """Whether two members of a chain are one value, written exactly or rounded to any place."""
    equal = comparison.values(a, b)
    if equal is not False:
        return equal
    a, b = (value.value if isinstance(value, Quantity) else value for value in (a, b))
    if not isinstance(a, Expression) or not isinstance(b, Expression):
        return False
    for rounded, other in ((a, b), (b, a)):
        number = exact_number(rounded.tokens.joined())
        if number is None or number.places is None:
            continue
        value = real_end(other.tokens, 0)
        if value is not None and abs(Fraction(value) - number.value) <= Fraction(10) ** -number.places:
            return True
    return False


def _statements(comparison: Comparison, a: Value, g: Value) -> bool | None:
    """Two equations or inequalities as wholes: the same up to a factor, which is positive for an order."""
    if not isinstance(a, Relation) or not isinstance(g, Relation):
        return False
    if len(a.members) != 2 or len(g.members) != 2:
        if a.signs != g.signs or len(a.members) != len(g.members):
            return False
        return all_of(comparison.leaf(x, y, comparison.policy) for x, y in zip(a.members, g.members, strict=True))
    signs = [{"\\approx": "="}.get(value.signs[0], value.signs[0]) for value in (a, g)]
    flip = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}
    if signs[0] != signs[1] and flip.get(signs[0]) != signs[1]:
        return False
    if signs[0] not in ORDER and signs[0] != "=":
        return all_of(comparison.leaf(x, y, comparison.policy) for x, y in zip(a.members, g.members, strict=True))
    member_by_member = signs[0] == signs[1] and all_of(
        comparison.leaf(x, y, comparison.policy) for x, y in zip(a.members, g.members, strict=True)
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
class Chain:
    """Members of equalities: `f(x) = 2(x+1) = 2x+2` has a label and a last value."""

    members: tuple[Tokens, ...]
    label: str | None

    def value(self) -> Value:
        """The last member."""
        return read(self.members[-1])

    def first(self) -> Value:
        """The first member."""
        return read(self.members[0])

    def is_constant(self) -> bool:
        """Whether no letter stands in the last member."""
        return all(token.kind != "letters" for token in self.members[-1].items)

    def is_value(self) -> bool:
        """Whether no member but the last holds symbols, as `3 \\cdot 4 = 12` does not."""
        try:
            return not any(numeric.has_symbols(parse(member)) for member in self.members[:-1])
        except UnknownError:
            return False


def chain_of(value: Relation) -> Chain | None:
    """A relation as a chain of equalities; None if other signs stand in it."""
    if not set(value.signs) <= {"=", "\\approx"}:
        return None
    members = value.members
    if len(members) == 2 and is_variable(members[1]) and not is_label(members[0]):
        members = (members[1], members[0])
    label = label_of(members[0]) if is_label(members[0]) else None
    return Chain(members, label)
