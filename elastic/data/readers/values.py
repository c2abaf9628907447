"""Values of raw fields as text."""

from __future__ import annotations

from typing import Any


def as_text(value: Any) -> str:
    """A scalar as text without space around it: null is empty, a whole float an integer (142.0 is "142").

    Raises:
        TypeError: the value is a list or a mapping, which needs a reader of its own.
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise TypeError(f"holds a {type(value).__name__} where text or a number was expected")
    return str(value).strip()


def as_optional(value: Any) -> str | None:
    """As text, or None where there is none."""
    return as_text(value) or None


def as_question(value: Any) -> str:
    """A question as it came, space around it included.

    Raises:
        TypeError: the value is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"holds a {type(value).__name__} where a question was expected")
    return value
