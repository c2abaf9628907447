r"""The answer of a solution text, found by named filters in order; thinking is never searched.

Elastic Reasoning (E1), section 3.2: its public code grades the last `\boxed{}` after the first closing delimiter.
Departures: an unclosed last box is no answer instead of a reason to take an earlier one, since the solution was cut
while it gave its answer; and a think block that is opened again in the solution is thinking too.

Every scan is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"

# A run of backslashes with what it introduces, or a bare brace. A run is one token, so that megabytes of backslashes
# are read once; its parity tells an escaped brace from a grouping one.
_TOKEN = re.compile(r"(?P<slashes>\\++)(?:(?P<box>(?:boxed|fbox)\s*+\{)|(?P<escaped>[{}]))?|(?P<brace>[{}])")


@dataclass(frozen=True)
class Filter:
    """A named way to find an answer: `find` returns the answer's text, or None."""

    name: str
    find: Callable[[str], str | None]


@dataclass(frozen=True)
class Found:
    """An answer and the name of the filter that found it."""

    answer: str
    found_by: str


def split_output(text: str) -> str | None:
    """The solution of a plain output: what follows its last closing tag.

    Text without any think tag is all solution. A think block that is opened (or opened again) and never closed leaves
    no solution: None.
    """
    solution = text.rpartition(THINK_CLOSE)[2]
    return None if THINK_OPEN in solution else solution


@dataclass(frozen=True)
class Box:
    """One complete box: places of its command, of its content and of the brace that closes it."""

    start: int
    content: int
    end: int


@lru_cache(maxsize=4)
def find_boxes(text: str) -> tuple[Box, ...] | None:
    r"""All complete `\boxed{...}` and `\fbox{...}`, the outermost ones where they are nested.

    None when no box is opened at all; empty when the last one is not closed.
    """
    opened: list[Box | None] = []
    found: list[Box] = []
    last = -1
    for token in _TOKEN.finditer(text):
        brace = token["brace"] or ("" if len(token["slashes"] or "") % 2 else token["escaped"])
        if token["box"]:
            last = token.end()
            opened.append(Box(token.start(), last, -1))
        elif brace == "{":
            opened.append(None)
        elif brace == "}" and opened:
            box = opened.pop()
            if box is not None:
                while found and found[-1].start > box.start:
                    found.pop()
                found.append(Box(box.start, box.content, token.start()))
    if last < 0:
        return None
    return tuple(found) if found and found[-1].content <= last <= found[-1].end else ()


def last_box(text: str) -> str | None:
    """Content of the last box; None when there is no box, when the last one is not closed, or when it is empty."""
    found = find_boxes(text)
    answer = text[found[-1].content : found[-1].end] if found else ""
    return answer if answer.strip() else None


BOX = Filter("box", last_box)


def find_answer(solution: str, filters: Sequence[Filter] = (BOX,)) -> Found | None:
    """The answer that the first successful filter finds.

    Args:
        solution: text after the closing delimiter; a think block opened again in it is no part of it.
        filters: tried in order.
    """
    text = split_output(solution)
    if text is None:
        return None
    for candidate in filters:
        answer = candidate.find(text)
        if answer is not None:
            return Found(answer, candidate.name)
    return None
