r"""Normal forms by exact arithmetic: two expressions with one normal form are equal, whatever their symbols mean.

A form is a quotient of two polynomials with rational coefficients. Their generators are symbols, roots of primes, pi,
e, i, and what is opaque (`\ln 2`, `f(x)`, `2^n`) under a name made from its own normal form. Powers follow the
principal branch; only identities that hold everywhere are used, so that `\sqrt{x^2}` stays apart from `x`.

Different forms prove the expressions different if all generators are independent: symbols, i, one of pi and e
(transcendental by Lindemann and by Hermite), and roots of primes with exponents below one, which are linearly
independent over the rationals (Besicovitch, 1940). Otherwise they prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from elastic.answers.reading.expressions import Tree, UnknownError

Rational = int | Fraction
Monomial = tuple[tuple[str, Rational], ...]
Polynomial = dict[Monomial, Rational]
Form = tuple[Polynomial, Polynomial]

_MOST_TERMS = 150
_MOST_BITS = 60_000
_MOST_WORK = 1500
_HIGHEST_POWER = 60
_LARGEST_FACTORIAL = 2500
_LARGEST_BINOMIAL = 1000
_TRIAL = 1000

_PI, _E, _I = ("π", 1), ("ε", 1), ("ι", 1)


class UndefinedError(Exception):
    """The expression has no value: something is divided by zero."""


def _plain(value: Rational) -> Rational:
    return value.numerator if value.denominator == 1 else value


def _constant(value: Rational) -> Form:
    return ({(): _plain(value)} if value else {}, {(): 1})


_ONE: Polynomial = {(): 1}


def _times_monomials(a: Monomial, b: Monomial) -> tuple[Monomial, Rational]:
    """Product of two monomials, and the rational number that comes out of it."""
    if not a:
        return b, 1
    if not b:
        return a, 1
    powers = dict(a)
    factor: Rational = 1
    for name, exponent in b:
        total = powers.get(name, 0) + exponent
        if name[0] == "#":
            whole = math.floor(total)
            if whole:
                factor *= Fraction(int(name[1:])) ** whole
                total -= whole
        elif name == "ι":
            turns = int(total) % 4
            total, factor = turns % 2, -factor if turns >= 2 else factor
        if total:
            powers[name] = _plain(total)
        else:
            powers.pop(name, None)
    return tuple(sorted(powers.items())), factor


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    if a == _ONE:
        return b
    if b == _ONE:
        return a
    if len(a) * len(b) > _MOST_TERMS * 4:
        raise UnknownError("too many terms")
    product: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial, factor = _times_monomials(left, right)
            value = product.get(monomial, 0) + x * y * factor
            if value:
                product[monomial] = _plain(value)
            else:
                product.pop(monomial, None)
    if len(product) > _MOST_TERMS:
        raise UnknownError("too many terms")
    return product


def _plus(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for monomial, value in b.items():
        value = total.get(monomial, 0) + value
        if value:
            total[monomial] = _plain(value)
        else:
            total.pop(monomial, None)
    if len(total) > _MOST_TERMS:
        raise UnknownError("too many terms")
    return total


def _negative(a: Polynomial) -> Polynomial:
    return {monomial: -value for monomial, value in a.items()}


def _inverse(a: Polynomial) -> Form:
    """One over a polynomial that is not zero."""
    if not a:
        raise UndefinedError
    if len(a) > 1:
        return _ONE, a
    [(monomial, value)] = a.items()
    inverse: Monomial = ()
    factor = Fraction(1) / value
    for name, exponent in monomial:
        inverse, more = _times_monomials(inverse, ())
        piece, more = _times_monomials(((name, 0),), ((name, -exponent),))
        inverse, again = _times_monomials(inverse, piece)
        factor *= more * again
    return {inverse: _plain(factor)}, _ONE


def add(a: Form, b: Form) -> Form:
    """The sum."""
    if a[1] == b[1]:
        return _plus(a[0], b[0]), a[1]
    return _plus(_times(a[0], b[1]), _times(b[0], a[1])), _times(a[1], b[1])


def multiply(a: Form, b: Form) -> Form:
    """The product."""
    return _times(a[0], b[0]), _times(a[1], b[1])


def divide(a: Form, b: Form) -> Form:
    """The quotient.

    Raises:
        UndefinedError: `b` is zero.
    """
    if not b[0]:
        raise UndefinedError
    above, below = _inverse(b[0])
    return multiply(a, (_times(above, b[1]), below))


def rational(form: Form) -> Rational | None:
    """The rational number that a form is, if it is one."""
    if form[1] != _ONE:
        return None
    if not form[0]:
        return 0
    return form[0].get(()) if len(form[0]) == 1 else None


def key(form: Form) -> str:
    """A name of the form; equal forms have equal names."""
    above, below = (
        "+".join(f"{value}{monomial}" for monomial, value in sorted(polynomial.items(), key=str)) for polynomial in form
    )
    return above if form[1] == _ONE else f"{above}|{below}"


def _opaque(name: str) -> Form:
    return {((name, 1),): 1}, _ONE


def _size(value: Rational) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _factors(value: int) -> list[tuple[str, int]]:
    """Generators of the roots of a positive integer: primes as `#p`, what is not known to be prime as `?n`."""
    found = []
    for divisor in (2, *range(3, _TRIAL, 2)):
        if divisor * divisor > value:
            break
        count = 0
        while value % divisor == 0:
            value //= divisor
            count += 1
        if count:
            found.append((f"#{divisor}", count))
    if value > 1:
        if value < _TRIAL * _TRIAL:
            found.append((f"#{value}", 1))
        else:
            root = math.isqrt(value)
            found.append((f"?{root}", 2) if root * root == value else (f"?{value}", 1))
    return found


def _rational_power(value: Rational, exponent: Rational) -> Form:
    """A rational number to a rational power."""
    if exponent.denominator == 1:
        power = int(exponent)
        if not value and power <= 0:
            raise UndefinedError
        if (_size(value)) * abs(power) > _MOST_BITS:
            raise UnknownError("too large")
        return _constant(Fraction(value) ** power)
    if value < 0:
        if exponent.denominator != 2:
            raise UnknownError("a root of a negative number")
        return multiply(({(_I,): 1}, _ONE), multiply(_rational_power(-value, exponent), _i_power(exponent)))
    if not value:
        if exponent < 0:
            raise UndefinedError
        return _constant(0)
    if _size(value) > 80:
        raise UnknownError("too large")
    form: Form = (_ONE, _ONE)
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for name, count in _factors(number):
            power_ = Fraction(exponent) * count * sign
            if name[0] == "?" and power_.denominator == 1:
                form = multiply(form, _constant(Fraction(int(name[1:])) ** int(power_)))
                continue
            whole = math.floor(power_)
            piece: Polynomial = {((name, power_ - whole),) if power_ != whole else (): 1}
            form = multiply(form, (piece, _ONE))
            form = multiply(form, _constant(Fraction(int(name[1:])) ** whole))
    return form


def _i_power(exponent: Rational) -> Form:
    """What is left of (-1)^exponent, an odd number of halves, besides one i."""
    return _constant(-1 if int(exponent * 2) % 4 == 3 else 1)


def _split_monomial(monomial: Monomial) -> tuple[Monomial, Monomial]:
    """The part that is surely positive, and the rest."""
    positive = tuple(item for item in monomial if item[0][0] in "#?πε")
    return positive, tuple(item for item in monomial if item[0][0] not in "#?πε")


def power(base: Form, exponent: Form) -> Form:
    """The power, on the principal branch."""
    if exponent[1] != _ONE:
        return _opaque(f"({key(base)})^({key(exponent)})")
    fixed = rational(exponent)
    if fixed is not None:
        return _fixed_power(base, fixed)
    if len(base[0]) != 1 or base[1] != _ONE:
        return _opaque(f"({key(base)})^({key(exponent)})")
    [(monomial, value)] = base[0].items()
    positive, rest = _split_monomial(monomial)
    if value < 0:
        if value == -1 and not monomial and len(exponent[0]) == 1:
            [(m, c)] = exponent[0].items()
            return {((f"(-1)^{m}", c),): 1}, _ONE
        return _opaque(f"({key(base)})^({key(exponent)})")
    if len(rest) > 1 or (rest and rest[0][1] != 1):
        return _opaque(f"({key(base)})^({key(exponent)})")
    pieces: list[tuple[str, Rational]] = [*positive, *rest]
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        if number > 10**12:
            raise UnknownError("too large")
        pieces += [(name, count * sign) for name, count in _factors(number)]
    form: Form = (_ONE, _ONE)
    for name, count in pieces:
        for m, c in exponent[0].items():
            form = multiply(form, _generator_power(name, m, Fraction(c) * count))
    return form


def _generator_power(name: str, m: Monomial, c: Rational) -> Form:
    """A generator to the power c times the monomial m."""
    if not m:
        return _fixed_power(({((name, 1),): 1} if name[0] != "#" else {(): int(name[1:])}, _ONE), c)
    if name == "ε":
        if m == (_I, _PI) or m == (_PI, _I):
            return add(cosine(Fraction(c)), multiply(({(_I,): 1}, _ONE), cosine(Fraction(1, 2) - Fraction(c))))
        if len(m) == 1 and m[0][0].startswith("ln#") and m[0][1] == 1:
            return _rational_power(int(m[0][0][3:]), c)
    return {((f"^{name}{m}", _plain(c)),): 1}, _ONE


def _fixed_power(base: Form, exponent: Rational) -> Form:
    value = rational(base)
    if value is not None:
        return _rational_power(value, exponent)
    if exponent.denominator == 1:
        times = abs(int(exponent))
        if times > _HIGHEST_POWER:
            raise UnknownError("a high power")
        form: Form = (_ONE, _ONE)
        for _ in range(times):
            form = multiply(form, base)
        return form if exponent >= 0 else divide((_ONE, _ONE), form)
    if not base[0]:
        return _constant(0)
    if len(base[0]) == 1 and base[1] == _ONE:
        [(monomial, coefficient)] = base[0].items()
        positive, rest = _split_monomial(monomial)
        if coefficient > 0 and len(rest) <= 1 and (not rest or (rest[0][1] == 1 and rest[0][0] != "ι")):
            form = _rational_power(coefficient, exponent)
            for name, count in (*positive, *rest):
                part: Rational = _plain(Fraction(count) * exponent)
                if name[0] == "#":
                    form = multiply(form, _constant(Fraction(int(name[1:])) ** math.floor(part)))
                    part -= math.floor(part)
                form = multiply(form, ({((name, part),): 1} if part else dict(_ONE), _ONE))
            return form
    content = _content(base)
    inner = multiply(base, _constant(Fraction(1) / content))
    return multiply(_rational_power(content, exponent), _opaque(f"({key(inner)})^{exponent}"))


def _content(form: Form) -> Fraction:
    """The positive rational that all coefficients of a numerator share."""
    above = math.gcd(*(int(value.numerator) for value in form[0].values()))
    below = math.lcm(*(int(value.denominator) for value in form[0].values()))
    return Fraction(above, below)


def _sum_of_roots(items: Iterable[tuple[Rational, int]]) -> Form:
    form: Form = ({}, _ONE)
    for coefficient, radicand in items:
        form = add(form, multiply(_constant(coefficient), _rational_power(radicand, Fraction(1, 2))))
    return form


_QUARTER = Fraction(1, 4)
_COSINES: dict[Fraction, list[tuple[Rational, int]]] = {
    Fraction(0): [(1, 1)],
    Fraction(1, 12): [(_QUARTER, 6), (_QUARTER, 2)],
    Fraction(1, 6): [(Fraction(1, 2), 3)],
    Fraction(1, 5): [(_QUARTER, 1), (_QUARTER, 5)],
    Fraction(1, 4): [(Fraction(1, 2), 2)],
    Fraction(1, 3): [(Fraction(1, 2), 1)],
    Fraction(2, 5): [(-_QUARTER, 1), (_QUARTER, 5)],
    Fraction(5, 12): [(_QUARTER, 6), (-_QUARTER, 2)],
    Fraction(1, 2): [],
}


def cosine(turns: Fraction) -> Form:
    """The cosine of `turns` times pi."""
    turns = abs(turns) % 2
    if turns > 1:
        turns = 2 - turns
    sign = 1
    if turns > Fraction(1, 2):
        turns, sign = 1 - turns, -1
    if turns not in _COSINES:
        return _opaque(f"cos|{turns}π") if sign == 1 else ({((f"cos|{turns}π", 1),): -1}, _ONE)
    return multiply(_constant(sign), _sum_of_roots(_COSINES[turns]))


def _turns(form: Form) -> Fraction | None:
    """The rational multiple of pi that a form is, if it is one."""
    if form[1] != _ONE:
        return None
    if not form[0]:
        return Fraction(0)
    if len(form[0]) == 1 and (_PI,) in form[0]:
        return Fraction(form[0][(_PI,)])
    return None


def _sine_or_cosine(name: str, argument: Form) -> Form:
    turns = _turns(argument)
    if turns is not None:
        return cosine(turns if name == "cos" else Fraction(1, 2) - turns)
    sign = 1
    if argument[0] and min(argument[0].items(), key=str)[1] < 0:
        argument = (_negative(argument[0]), argument[1])
        sign = -1 if name == "sin" else 1
    return {((f"{name}|{key(argument)}", 1),): sign}, _ONE


def _modulus(form: Form) -> Form | None:
    """The absolute value of a constant in roots, pi, e and i; None of anything else."""
    if form[1] != _ONE or not all(name in ("π", "ε", "ι") or name[0] == "#" for name in _generators([form[0]])):
        return None
    parts: list[Polynomial] = [{}, {}]
    for monomial, value in form[0].items():
        parts[_I in monomial][tuple(item for item in monomial if item != _I)] = value
    real, imaginary = parts
    if imaginary:
        squares = _plus(_times(real, real), _times(imaginary, imaginary))
        return _fixed_power((squares, _ONE), Fraction(1, 2))
    size = sum(
        float(value) * math.prod({"π": math.pi, "ε": math.e}.get(name) or float(name[1:]) ** p for name, p in monomial)
        for monomial, value in real.items()
    )
    if real and abs(size) < 1e-6:
        return None
    return (real if size >= 0 else _negative(real)), _ONE


def _call(name: str, arguments: list[Form]) -> Form:
    if name in ("sin", "cos"):
        return _sine_or_cosine(name, arguments[0])
    if name in ("tan", "cot", "sec", "csc"):
        sine, cosine_ = (_sine_or_cosine(which, arguments[0]) for which in ("sin", "cos"))
        one: Form = (_ONE, _ONE)
        above, below = {"tan": (sine, cosine_), "cot": (cosine_, sine), "sec": (one, cosine_), "csc": (one, sine)}[name]
        return divide(above, below)
    values = [rational(form) for form in arguments]
    value = values[0]
    if name == "ln":
        if value is not None and value > 0 and _size(value) <= 80:
            form: Form = ({}, _ONE)
            for number, sign in ((value.numerator, 1), (value.denominator, -1)):
                for generator, count in _factors(number):
                    form = add(form, ({((f"ln{generator}", 1),): count * sign}, _ONE))
            return form
        if value is not None and value == 0:
            raise UndefinedError
        if len(arguments[0][0]) == 1 and arguments[0][1] == _ONE:
            [(monomial, coefficient)] = arguments[0][0].items()
            if coefficient == 1 and len(monomial) == 1 and monomial[0][0] == "ε":
                return _constant(monomial[0][1])
    if name == "log" and value == 1:
        return _constant(0)
    if name == "factorial" and value is not None:
        if value.denominator != 1 or not 0 <= value <= _LARGEST_FACTORIAL:
            raise UnknownError("a factorial")
        return _constant(math.factorial(int(value)))
    if name == "binomial":
        whole = [int(v) for v in values if v is not None and v.denominator == 1 and 0 <= v <= _LARGEST_BINOMIAL]
        if len(whole) == 2:
            return _constant(math.comb(*whole))
    if name in ("floor", "ceil") and value is not None:
        rounded: int = math.floor(value) if name == "floor" else math.ceil(value)
        return _constant(rounded)
    if name == "abs":
        modulus = _modulus(arguments[0])
        if modulus is not None:
            return modulus
        if arguments[0][0] and min(arguments[0][0].items(), key=str)[1] < 0:
            arguments = [(_negative(arguments[0][0]), arguments[0][1])]
    return _opaque(f"{name}|{'|'.join(map(key, arguments))}")


def normal_form(tree: Tree) -> Form:
    """The normal form of an expression.

    Raises:
        UnknownError: it would be too large, or a rule is missing.
        UndefinedError: something is divided by zero.
    """
    if _work(tree) > _MOST_WORK:
        raise UnknownError("too much work")
    return _form(tree)


def _work(tree: Tree) -> int:
    """A bound of the sums and products that a normal form costs."""
    kind = tree[0]
    if kind in ("number", "symbol", "constant"):
        return 1
    if kind in ("sum", "product"):
        return sum(map(_work, tree[1])) + len(tree[1])
    if kind == "call":
        return sum(map(_work, tree[2])) + 5
    inner = _work(tree[1])
    if kind == "power" and tree[2][0] == "number" and tree[1][0] in ("sum", "product", "power", "quotient"):
        return inner * max(1, min(int(abs(tree[2][1])), _HIGHEST_POWER)) + 1
    return inner + _work(tree[2]) + 1


def _form(tree: Tree) -> Form:
    kind = tree[0]
    if kind == "number":
        return _constant(tree[1])
    if kind == "symbol":
        return {((tree[1], 1),): 1}, _ONE
    if kind == "constant":
        return {({"pi": _PI, "e": _E, "i": _I}[tree[1]],): 1}, _ONE
    if kind == "sum":
        form = _form(tree[1][0])
        for term in tree[1][1:]:
            form = add(form, _form(term))
        return form
    if kind == "product":
        form = _form(tree[1][0])
        for factor in tree[1][1:]:
            form = multiply(form, _form(factor))
        return form
    if kind == "quotient":
        return divide(_form(tree[1]), _form(tree[2]))
    if kind == "power":
        return power(_form(tree[1]), _form(tree[2]))
    if kind == "root":
        base, degree = _form(tree[1]), rational(_form(tree[2]))
        if degree is None or degree.denominator != 1 or not 2 <= degree <= 100:
            raise UnknownError("a root of no whole degree")
        value = rational(base)
        if value is not None and value < 0 and degree % 2:
            # The real root, as everybody who writes \sqrt[3]{-8} means it.
            return multiply(_constant(-1), _rational_power(-value, Fraction(1, int(degree))))
        return _fixed_power(base, Fraction(1, int(degree)))
    return _call(tree[1], [_form(argument) for argument in tree[2]])


def _generators(polynomials: Iterable[Polynomial]) -> set[str]:
    return {name for polynomial in polynomials for monomial in polynomial for name, _ in monomial}


def _independent(names: set[str]) -> bool:
    if {"π", "ε"} <= names:
        return False
    return all(name in ("π", "ε", "ι") or name[0] == "#" or _is_symbol(name) for name in names)


def _is_symbol(name: str) -> bool:
    return (name[0].isalpha() or name[0] == "\\") and not any(mark in name for mark in "|^(") and name[:3] != "ln#"


def _without_squared_cosines(polynomial: Polynomial) -> Polynomial:
    """The polynomial with 1 - sin^2 in place of cos^2 until none is left."""
    for _ in range(12):
        result: Polynomial = {}
        changed = False
        for monomial, value in polynomial.items():
            squared = next((item for item in monomial if item[0].startswith("cos|") and item[1] >= 2), None)
            if squared is None:
                result = _plus(result, {monomial: value})
                continue
            changed = True
            name = squared[0]
            rest, _ = _times_monomials(monomial, ((name, -2),))
            sine, _ = _times_monomials(rest, ((f"sin|{name[4:]}", 2),))
            result = _plus(_plus(result, {rest: value}), {sine: -value})
        polynomial = result
        if not changed:
            break
    return polynomial


def difference(a: Form, b: Form) -> Polynomial:
    """The numerator of a - b."""
    left, right = _times(a[0], b[1]), _times(b[0], a[1])
    return {} if left == right else _without_squared_cosines(_plus(left, _negative(right)))


def equal(a: Form, b: Form) -> bool | None:
    """Whether two forms are equal; None where their generators may depend on each other."""
    if a == b:
        return True
    gap = difference(a, b)
    if not gap:
        return True
    if a[1] == b[1] == _ONE and _independent(_generators([gap])):
        return False
    left, right = _generators(a), _generators(b)
    if _independent(left | right):
        return False
    # No function that nothing is known of can vanish from an equation.
    unknown = [any(name[0].isalpha() and name[1:2] == "|" for name in names) for names in (left, right)]
    return False if unknown[0] != unknown[1] else None


def proportional(a: Polynomial, b: Polynomial) -> Rational | None:
    """The rational factor between two polynomials, if one is the other times a number."""
    if not a or a.keys() != b.keys():
        return None
    some = next(iter(a))
    factor = Fraction(b[some]) / a[some]
    return factor if all(a[monomial] * factor == b[monomial] for monomial in a) else None
