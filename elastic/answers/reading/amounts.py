"""Amounts against each other: units on both sides are converted or differ, one on one side only is forgiven."""

from __future__ import annotations

import re
from fractions import Fraction

from elastic.answers.compare import exact_number
from elastic.answers.reading.protocol import Comparison
from elastic.answers.reading.units import Unit
from elastic.answers.reading.values import Expression, Quantity, Value, glued, symbols


def quantities(comparison: Comparison, a: Value, g: Value) -> bool | None:
    """Amounts with units on one side or on both."""
    given, answer_unit = (a.value, a.unit) if isinstance(a, Quantity) else (a, None)
    wanted, gold_unit = (g.value, g.unit) if isinstance(g, Quantity) else (g, None)
    if answer_unit is not None and gold_unit is not None:
        if not answer_unit.dimensions or not gold_unit.dimensions:
            if answer_unit.dimensions or gold_unit.dimensions or answer_unit.label != gold_unit.label:
                return False
            return comparison.values(given, wanted)
        if answer_unit.dimensions != gold_unit.dimensions:
            return _angles(comparison, given, answer_unit, wanted, gold_unit)
        return _scaled(comparison, given, wanted, answer_unit.factor / gold_unit.factor)
    unit = answer_unit or gold_unit
    assert unit is not None
    if unit.is_percent:
        return _percents(comparison, given, answer_unit, wanted)
    if unit.is_degree:
        radians = _in_radians(comparison, given, answer_unit, wanted)
        if radians:
            return True
    if comparison.policy.units == "strict":
        return False
    return comparison.values(given, wanted)


def _in_radians(comparison: Comparison, given: Value, answer_unit: Unit | None, wanted: Value) -> bool | None:
    """60 degrees against pi/3 without a unit."""
    if not isinstance(given, Expression) or not isinstance(wanted, Expression):
        return False
    bare = wanted if answer_unit is not None else given
    if not any(token.text in ("\\pi", "pi") for token in bare.tokens.items):
        return False
    if answer_unit is not None:
        return comparison.leaf(glued("(", given.tokens, ")\\pi/180"), wanted.tokens, comparison.policy)
    return comparison.leaf(given.tokens, glued("(", wanted.tokens, ")\\pi/180"), comparison.policy)


def _angles(comparison: Comparison, given: Value, answer_unit: Unit, wanted: Value, gold_unit: Unit) -> bool | None:
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
    return comparison.leaf(both[0], both[1], comparison.policy)


def _scaled(comparison: Comparison, given: Value, wanted: Value, factor: Fraction) -> bool | None:
    """Whether `given` times `factor` equals `wanted`."""
    if factor == 1:
        return comparison.values(given, wanted)
    if not isinstance(given, Expression) or not isinstance(wanted, Expression):
        return False
    number = exact_number(given.tokens.joined())
    if number is not None:
        value = number.value * factor
        return comparison.leaf(symbols(f"{value.numerator}/{value.denominator}"), wanted.tokens, comparison.policy)
    scaled = glued("(", given.tokens, f")*({factor.numerator}/{factor.denominator})")
    return comparison.leaf(scaled, wanted.tokens, comparison.policy)


def _percents(comparison: Comparison, given: Value, answer_unit: Unit | None, wanted: Value) -> bool | None:
    """A sign % on one side only: its value counts, and so does its number where no proportion can be meant."""
    hundredth = Fraction(1, 100)
    by_value = _scaled(comparison, given, wanted, hundredth if answer_unit is not None else Fraction(100))
    if by_value is not False or comparison.policy.percent == "strict":
        return by_value
    bare = wanted if answer_unit is not None else given
    number = exact_number(bare.tokens.joined()) if isinstance(bare, Expression) else None
    asked = comparison.question is not None and re.search(r"percent|\\%|%", comparison.question, re.IGNORECASE)
    if not asked and (number is None or abs(number.value) <= 1):
        return False
    return comparison.values(given, wanted)
