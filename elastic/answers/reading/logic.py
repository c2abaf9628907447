"""Three-valued answers: None means that only a slower judge can tell."""

from __future__ import annotations

from collections.abc import Iterable


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
