"""Whether an output is the expected one, as judges compare.

Printed text (testlib's and ICPC's default): tokens, however much white space parts them. A token that is expected to
be a decimal number may differ from it by 1e-6, absolutely or relatively; an integer or a word may not differ.

Returned values (LeetCode and LiveCodeBench): equal as Python has it, with the same tolerance for floats.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

TOLERANCE = 1e-6
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_ANY_NUMBER = re.compile(_NUMBER)
_DECIMAL = re.compile(rf"(?=.*[.eE]){_NUMBER}")


def printed_equal(printed: str, expected: str) -> bool:
    """Whether a program printed what was expected."""
    given, wanted = printed.split(), expected.split()
    return len(given) == len(wanted) and all(map(_same_token, given, wanted))


def _same_token(given: str, wanted: str) -> bool:
    if given == wanted:
        return True
    return bool(_DECIMAL.fullmatch(wanted) and _ANY_NUMBER.fullmatch(given)) and _close(float(given), float(wanted))


def _close(given: float, wanted: float) -> bool:
    return math.isclose(given, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def values_equal(given: Any, wanted: Any) -> bool:
    """Whether two values of JSON are equal."""
    if isinstance(given, list) and isinstance(wanted, list):
        return len(given) == len(wanted) and all(map(values_equal, given, wanted))
    if isinstance(given, dict) and isinstance(wanted, dict):
        return given.keys() == wanted.keys() and all(values_equal(given[key], wanted[key]) for key in wanted)
    if isinstance(given, float | int) and isinstance(wanted, float | int) and float in (type(given), type(wanted)):
        try:
            return _close(given, wanted)
        except OverflowError:
            return False
    return bool(given == wanted)


def any_printed(printed: str, outputs: Sequence[str]) -> bool:
    """Whether a program printed one of the expected outputs."""
    return any(printed_equal(printed, expected) for expected in outputs)


def any_returned(returned: str, outputs: Sequence[str]) -> bool:
    """Whether the JSON of what a program returned equals one of the expected values."""
    try:
        value = json.loads(returned)
    except (ValueError, RecursionError):
        return False
    return any(values_equal(value, json.loads(expected)) for expected in outputs)
