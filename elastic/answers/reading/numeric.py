"""Values of expressions in double precision, each with a bound of its error: what differs by more is different.

Symbols get fixed values, so that two expressions in symbols can be told apart. A real number beyond all doubles is
kept as an infinity, with a lower bound of its decimal logarithm in place of the error. Running error bounds follow the
usual rules (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3), with room to spare.
"""

from __future__ import annotations

import cmath
import math
import zlib
from collections.abc import Callable
from fractions import Fraction

from elastic.answers.reading.expressions import Tree, UnknownError

Value = tuple[complex, float]

_ULP = 2.0**-50
_WHOLE = set("nkmNMj")
POINTS = 2
# Decimal logarithm that an infinity has at least when it arises, and where it is given up.
_BEYOND, _LEAST = 300.0, 100.0


def _of_symbol(name: str, point: int) -> float:
    """A value that is the same wherever the symbol stands: whole for the letters of whole numbers, positive for all."""
    hashed = zlib.crc32(f"{point} {name}".encode())
    return float(4 + hashed % 7) if name in _WHOLE else 1.1 + (hashed % 99_991) / 50_000


def _rounded(value: complex, error: float) -> Value:
    if value.imag == 0:
        value = complex(value.real, 0.0)
    if cmath.isnan(value) or math.isnan(error):
        raise UnknownError("no value")
    return value, error + abs(value) * _ULP + 1e-300


def _plus(a: Value, b: Value) -> Value:
    (x, dx), (y, dy) = a, b
    if not cmath.isinf(x) and not cmath.isinf(y):
        return _rounded(x + y, dx + dy)
    if x.imag or y.imag or (cmath.isinf(x) and cmath.isinf(y) and x != y):
        raise UnknownError("too large")
    if cmath.isinf(x) and cmath.isinf(y):
        return x, max(dx, dy)
    (huge, logarithm), finite = ((x, dx), y) if cmath.isinf(x) else ((y, dy), x)
    if abs(finite) > 10.0 ** (logarithm - 1):
        raise UnknownError("too large")
    return _infinity(huge.real, logarithm - 1)


def _times(a: Value, b: Value) -> Value:
    (x, dx), (y, dy) = a, b
    if cmath.isinf(x) or cmath.isinf(y):
        return _huge(a, b)
    value = x * y
    if cmath.isinf(value) or cmath.isnan(value):
        raise UnknownError("too large")
    return _rounded(value, abs(x) * dy + abs(y) * dx + dx * dy)


def _infinity(sign: float, logarithm: float) -> Value:
    """A real number whose decimal logarithm is at least `logarithm`."""
    if logarithm < _LEAST:
        raise UnknownError("too large to scale")
    return complex(math.copysign(math.inf, sign), 0.0), min(logarithm, _BEYOND)


def _huge(a: Value, b: Value) -> Value:
    """A product with a real number beyond all doubles."""
    x, y = a[0], b[0]
    if x.imag or y.imag or not x.real or not y.real:
        raise UnknownError("too large")
    logarithm = 0.0
    for value, error in (a, b):
        if cmath.isinf(value):
            logarithm += error
        elif abs(value) <= 2 * error:
            raise UnknownError("too close to zero")
        else:
            logarithm += math.log10(abs(value)) - 1
    return _infinity(math.copysign(1, x.real) * math.copysign(1, y.real), logarithm)


def _over(a: Value, b: Value) -> Value:
    (x, dx), (y, dy) = a, b
    if cmath.isinf(y):
        if cmath.isinf(x):
            raise UnknownError("too large")
        return 0j, (abs(x) + dx) * 10.0 ** (1 - dy)
    if abs(y) <= 4 * dy or y == 0:
        raise UnknownError("a divisor too close to zero")
    if cmath.isinf(x):
        if y.imag:
            raise UnknownError("too large")
        return _infinity(math.copysign(1, x.real) * math.copysign(1, y.real), dx - math.log10(abs(y)) - 1)
    value = x / y
    return _rounded(value, (dx + abs(value) * dy) / (abs(y) - dy))


def _power(a: Value, b: Value) -> Value:
    (x, dx), (y, dy) = a, b
    if cmath.isinf(y) or cmath.isinf(x):
        if x.imag or y.imag or x.real < 2 or y.real < 1 or (not cmath.isinf(x) and dx > 0.1):
            raise UnknownError("too large")
        return _infinity(1, _BEYOND if cmath.isinf(y) else dx)
    if y == 0 and dy <= 1e-290:
        if abs(x) <= dx:
            raise UnknownError("zero to the power of zero")
        return 1 + 0j, 0.0
    if abs(x) <= 4 * dx:
        if x == 0 and dx <= 1e-290 and y.real - dy > 0:
            return 0j, 1e-300
        raise UnknownError("a base too close to zero")
    whole = not y.imag and y.real == round(y.real) and abs(y.real) < 1e6 and dy <= 1e-9
    if not whole and x.real < 0 and 0 < abs(x.imag) <= dx:
        raise UnknownError("too close to a branch cut")
    if not whole and x.real < 0 and not x.imag and not y.imag and (2 * y.real) % 1:
        raise UnknownError("a real or a principal root")
    logarithm = cmath.log(x)
    exponent = y * logarithm
    if exponent.real > 700:
        if x.imag or y.imag or x.real <= 0:
            raise UnknownError("too large")
        return _infinity(1, _BEYOND)
    value = x ** int(y.real) if whole else cmath.exp(exponent)
    relative = abs(y) * dx / (abs(x) - dx) + abs(logarithm) * dy + (2 + 4 * abs(exponent)) * _ULP
    if relative > 1e-3:
        raise UnknownError("too uncertain")
    if not whole and not x.imag and not y.imag and x.real > 0:
        value = complex(value.real, 0.0)
    return _rounded(value, abs(value) * relative * 1.01)


def _monotone(function: Callable[[float], float], x: float, dx: float) -> Value:
    low, middle, high = function(x - dx), function(x), function(x + dx)
    return _rounded(complex(middle), max(abs(middle - low), abs(high - middle)) * 1.01 + 4 * _ULP * (1 + abs(middle)))


def _large_binomial(above: float, below: float) -> Value:
    """A binomial coefficient from (n/k)^k, which it is at least."""
    if not 1 <= below <= above / 2:
        raise UnknownError("a binomial coefficient")
    logarithm = below * math.log10(above / below) * 0.99 - 1
    if logarithm < _BEYOND:
        raise UnknownError("a binomial coefficient")
    return _infinity(1, _BEYOND)


def _call(name: str, arguments: list[Value]) -> Value:
    x, dx = arguments[0]
    if cmath.isinf(x):
        raise UnknownError("too large")
    if name == "abs":
        return _rounded(complex(abs(x)), dx)
    if name == "ln":
        if abs(x) <= 4 * dx or (x.real < 0 and 0 < abs(x.imag) <= dx):
            raise UnknownError("no logarithm")
        return _rounded(cmath.log(x), dx / (abs(x) - dx) + 4 * _ULP)
    if x.imag:
        raise UnknownError("a function of a complex number")
    real = x.real
    if name in ("sin", "cos"):
        return _rounded(complex(getattr(math, name)(real)), dx + abs(real) * _ULP + 4 * _ULP)
    if name in ("tan", "cot", "sec", "csc"):
        sine, cosine, one = _call("sin", arguments), _call("cos", arguments), (1 + 0j, 0.0)
        above, below = {"tan": (sine, cosine), "cot": (cosine, sine), "sec": (one, cosine), "csc": (one, sine)}[name]
        return _over(above, below)
    if name in ("sinh", "cosh", "tanh") and abs(real) < 300:
        steep = math.cosh(abs(real) + dx)
        return _rounded(complex(getattr(math, name)(real)), dx * steep * 1.01 + 4 * _ULP * steep)
    if name == "arctan":
        return _monotone(math.atan, real, dx)
    if name in ("arcsin", "arccos") and abs(real) + dx < 1:
        return _monotone(math.asin if name == "arcsin" else math.acos, real, dx)
    if name in ("floor", "ceil"):
        function = math.floor if name == "floor" else math.ceil
        if abs(real) > 1e15 or function(real - dx) != function(real + dx):
            raise UnknownError("too close to a whole number")
        return complex(function(real)), 0.0
    if name == "factorial" and real - dx > 1000:
        return _infinity(1, _BEYOND)
    if name == "binomial" and real > 1000:
        return _large_binomial(real, arguments[1][0].real)
    whole = round(real)
    if abs(real - whole) > 1e-9 or dx > 1e-9 or whole < 0:
        raise UnknownError(name)
    if name == "factorial":
        return _infinity(1, _BEYOND) if whole > 170 else _rounded(complex(math.factorial(whole)), 0.0)
    if name == "binomial":
        y, dy = arguments[1]
        lower = round(y.real)
        if y.imag or abs(y.real - lower) > 1e-9 or dy > 1e-9 or lower < 0 or whole > 1000:
            raise UnknownError(name)
        return _rounded(complex(float(math.comb(whole, lower))), 0.0)
    raise UnknownError(name)


def evaluate(tree: Tree, point: int = 0) -> Value:
    """The value of an expression and a bound of its absolute error; infinite for a real number beyond all doubles.

    Args:
        tree: the expression.
        point: which values the symbols get, from 0 to POINTS - 1.

    Raises:
        UnknownError: no value can be had with any certainty.
    """
    try:
        return _evaluate(tree, point)
    except (OverflowError, ValueError, ZeroDivisionError):
        raise UnknownError("too large") from None


def _evaluate(tree: Tree, point: int) -> Value:
    kind = tree[0]
    if kind == "number":
        value: Fraction = tree[1]
        return complex(float(value), 0.0), abs(float(value)) * _ULP if value.denominator != 1 else 0.0
    if kind == "symbol":
        return complex(_of_symbol(tree[1], point), 0.0), 0.0
    if kind == "constant":
        return {"pi": (complex(math.pi), 1e-15), "e": (complex(math.e), 1e-15), "i": (1j, 0.0)}[tree[1]]
    if kind == "sum":
        total: Value = (0j, 0.0)
        for term in tree[1]:
            total = _plus(total, _evaluate(term, point))
        return total
    if kind == "product":
        product: Value = (1 + 0j, 0.0)
        for factor in tree[1]:
            product = _times(product, _evaluate(factor, point))
        return product
    if kind == "quotient":
        return _over(_evaluate(tree[1], point), _evaluate(tree[2], point))
    if kind == "power":
        return _power(_evaluate(tree[1], point), _evaluate(tree[2], point))
    if kind == "root":
        base, degree = _evaluate(tree[1], point), _evaluate(tree[2], point)
        if base[0].real < 0 and not base[0].imag and degree[0].real % 2 == 1:
            value_, error = _power((-base[0], base[1]), _over((1 + 0j, 0.0), degree))
            return -value_, error
        return _power(base, _over((1 + 0j, 0.0), degree))
    return _call(tree[1], [_evaluate(argument, point) for argument in tree[2]])


def different(a: Tree, b: Tree) -> bool:
    """Whether two expressions are surely different: at one point at least, by more than their errors."""
    for point in range(POINTS):
        try:
            x, y = evaluate(a, point), evaluate(b, point)
        except UnknownError:
            continue
        if _apart(x, y):
            return True
    return False


def _apart(a: Value, b: Value) -> bool:
    (x, dx), (y, dy) = a, b
    if cmath.isinf(x) and cmath.isinf(y):
        return x != y
    if cmath.isinf(x) or cmath.isinf(y):
        logarithm, finite = (dx, y) if cmath.isinf(x) else (dy, x)
        return abs(finite) < 10.0 ** (logarithm - 1)
    return abs(x - y) > 4 * (dx + dy) + 1e-290


def real_value(tree: Tree) -> Value | None:
    """The value of an expression without symbols, if it is a finite real number that can be had."""
    if has_symbols(tree):
        return None
    try:
        value, error = evaluate(tree)
    except UnknownError:
        return None
    return None if abs(value.imag) > error or cmath.isinf(value) else (complex(value.real), error)


def has_symbols(tree: Tree) -> bool:
    """Whether a symbol or an unknown function stands in the expression."""
    kind = tree[0]
    if kind in ("number", "constant"):
        return False
    if kind == "symbol":
        return True
    if kind in ("sum", "product"):
        return any(map(has_symbols, tree[1]))
    if kind == "call":
        return len(tree[1]) == 1 or any(map(has_symbols, tree[2]))
    return has_symbols(tree[1]) or has_symbols(tree[2])
