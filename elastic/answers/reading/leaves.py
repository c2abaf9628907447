r"""Single expressions against each other: exact where that is possible, None where a slower judge is needed.

In order: numbers by the rule of written places, normal forms, values that differ by more than their errors.

The rule of written places. A decimal gold with at least three significant digits is equalled by what rounds to it at
its last place (66.7 by 200/3). An exact gold that is no whole number is equalled by a decimal with at least six
significant digits that differs by less than one unit of its last place (5/12 by 0.416667; 1/3 not by 0.3).
"""

from __future__ import annotations

from fractions import Fraction

from elastic.answers.compare import Exact, exact_number
from elastic.answers.reading import algebra, numeric
from elastic.answers.reading.expressions import MalformedError, Tree, UnknownError, parse
from elastic.answers.reading.protocol import Leaf
from elastic.answers.reading.tokens import Tokens
from elastic.contracts.policy import Policy

GOLD_DIGITS = 3
ANSWER_DIGITS = 6

# Tokens of expressions that one comparison may hold against each other, which bounds its time.
_MOST_TOKENS = 20_000
_NO_MATHEMATICS = {'"', "#", "@", "?", "`", ".", "\x00"}
# Commands that math-verify may know what to do with.
_COMMAND_NAMES = r"""
frac sqrt binom choose cdot times div pm mp le ge ne in cup cap setminus emptyset infty pi ldots lfloor rfloor lceil
rceil langle rangle { } | circ int iint oint sum prod lim to log ln lg exp sin cos tan cot sec csc arcsin arccos arctan
sinh cosh tanh coth gcd lcm max min mod pmod bmod det partial nabla overline underline bar hat vec dot ddot tilde prime
approx equiv sim perp parallel angle triangle alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota
kappa lambda mu nu xi rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi
Psi Omega ell hbar mathbb{R} mathbb{Z} mathbb{N} mathbb{Q} mathbb{C} land lor begin{pmatrix} end{pmatrix} begin{matrix}
end{matrix} begin{bmatrix} end{bmatrix} begin{vmatrix} end{vmatrix} begin{array} end{array} % $ \\
"""
_COMMANDS = set(_COMMAND_NAMES.split())
_MOST_WORDS = 3


def same_number(answer: Exact, gold: Exact, policy: Policy) -> bool:
    """Whether one exact number equals another, by the rule of written places and the policy's tolerance."""
    if answer.value == gold.value:
        return True
    if policy.tolerance and abs(answer.value - gold.value) <= Fraction(policy.tolerance) * abs(gold.value):
        return True
    if gold.places is not None:
        finer = answer.places is None or answer.places > gold.places
        return policy.rounded and finer and _rounds_to_gold(answer.value, gold, Fraction(0))
    return gold.value.denominator != 1 and _written_from_gold(answer, gold.value, Fraction(0))


def _rounds_to_gold(value: Fraction, gold: Exact, error: Fraction) -> bool:
    """Whether a value, known up to an error, rounds to a decimal gold at its last place."""
    assert gold.places is not None
    return gold.digits >= GOLD_DIGITS and abs(value - gold.value) - error <= Fraction(10) ** -gold.places / 2


def _written_from_gold(answer: Exact, value: Fraction, error: Fraction) -> bool:
    """Whether a decimal answer is the value of an exact gold, known up to an error, rounded or cut off."""
    if answer.places is None or answer.digits < ANSWER_DIGITS:
        return False
    unit = Fraction(10) ** -answer.places
    gap = abs(answer.value - value) - error
    cut_off = abs(answer.value) <= abs(value) + error and answer.value * value > 0
    return gap <= unit / 2 or (cut_off and gap < unit)


def _number_and_value(exact: Exact, tree: Tree, *, is_gold: bool, policy: Policy) -> bool | None:
    """A number on one side, an expression without symbols on the other, which differ."""
    found = numeric.real_value(tree)
    if found is None:
        return None
    value, error = Fraction(found[0].real), Fraction(found[1])
    size = abs(exact.value) if is_gold else abs(value)
    if policy.tolerance and abs(value - exact.value) <= Fraction(policy.tolerance) * size:
        return True
    if exact.places is None:
        return False
    unit = Fraction(10) ** -exact.places
    if error * 100 > unit:
        # A bound as coarse as the places that count settles nothing.
        return None if abs(value - exact.value) <= unit + error else False
    if is_gold:
        return policy.rounded and _rounds_to_gold(value, exact, error)
    return _written_from_gold(exact, value, error)


def is_mathematics(tokens: Tokens) -> bool:
    """Whether this may be mathematics outside our grammar: known commands, no quotes, no marks of programs."""
    words = 0
    for place, token in enumerate(tokens.items):
        if token.kind == "command":
            if token.text[1:] not in _COMMANDS:
                return False
        elif token.text in _NO_MATHEMATICS or not token.text.isascii():
            return False
        elif token.text in ("'", "_"):
            before = tokens[place - 1] if place else None
            if before is None or (before.kind == "other" and before.text not in (")", "]", "}", "'")):
                return False
        words += token.word and len(token.text) > 1
    return words <= _MOST_WORDS


def exact_leaf(answer: Tokens, gold: Tokens, policy: Policy) -> bool | None:
    """Whether one expression equals another; None where exact rules cannot tell."""
    given, wanted = answer.joined(), gold.joined()
    if given == wanted:
        return True
    left, right = exact_number(given), exact_number(wanted)
    if left is not None and right is not None:
        return same_number(left, right, policy)
    try:
        a, b = parse(answer), parse(gold)
    except MalformedError:
        return False
    except UnknownError:
        return None if is_mathematics(answer) else False
    return same_tree(a, b, left, right, policy)


def bounded_leaf() -> Leaf:
    """`exact_leaf` for one comparison: it abstains once the comparison has asked about too much."""
    spent = 0

    def leaf(answer: Tokens, gold: Tokens, policy: Policy) -> bool | None:
        nonlocal spent
        spent += len(answer.items) + len(gold.items)
        return None if spent > _MOST_TOKENS else exact_leaf(answer, gold, policy)

    return leaf


def same_tree(a: Tree, b: Tree, left: Exact | None, right: Exact | None, policy: Policy) -> bool | None:
    """Whether two trees are equal; `left` and `right` are their numbers, where they are plain ones."""
    while a[0] == b[0] == "power" and a[1] == b[1] and a[1][0] == "number" and a[1][1] > 1:
        # The same base above one: the exponents tell, however high the tower.
        a, b, left, right = a[2], b[2], None, None
    if numeric.different(a, b):
        decimal = (left is not None and left.places is not None) or (right is not None and right.places is not None)
        if not decimal and not policy.tolerance:
            return False
        if numeric.has_symbols(a) or numeric.has_symbols(b):
            return False
        if right is not None and left is None:
            return _number_and_value(right, a, is_gold=True, policy=policy)
        if left is not None and right is None:
            return _number_and_value(left, b, is_gold=False, policy=policy)
        return _within_tolerance(a, b, policy)
    try:
        return algebra.equal(algebra.normal_form(a), algebra.normal_form(b))
    except algebra.UndefinedError:
        return False
    except UnknownError:
        return None


def _within_tolerance(a: Tree, b: Tree, policy: Policy) -> bool:
    x, y = numeric.real_value(a), numeric.real_value(b)
    if not policy.tolerance or x is None or y is None:
        return False
    return abs(x[0] - y[0]) <= policy.tolerance * abs(y[0])
