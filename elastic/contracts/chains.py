"""The text of a chain: its question and its steps, as the laptop world writes them and as they are read.

`A4 B+3 C-7=?` starts with 4 and goes on by terms; `B4+3=7` is a wordy step (label, total before, term, total) and `B7`
a terse one (label, total). Chains of extremes have the same form with maxima `^` and minima `~` for terms.
`elastic/data/chains.py` draws chains and demonstrates them; rewards and measures read steps here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from elastic.errors import DataError

LABELS = "ABCDEFGHIJ"
OPERATIONS: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "^": max, "~": min}

_SIGNS = "".join(re.escape(sign) for sign in OPERATIONS)
_QUESTION = re.compile(rf"A\d+(?: ?[B-Z][{_SIGNS}]\d+)+ ?=\?")
_PARTS = re.compile(rf"([A-Z])([{_SIGNS}]?)(\d+)")
# Wordy, or terse where nothing follows that would make it wordy.
_STEP = re.compile(rf"([B-Z])(\d+)(?:([{_SIGNS}])(\d+)=(\d+)|(?![\d={_SIGNS}]))")


def apply(total: int, term: str) -> int:
    """The total after a term: 4 and "+3" are 7."""
    return OPERATIONS[term[0]](total, int(term[1:]))


@dataclass(frozen=True, slots=True)
class Step:
    """A step as it stands in a text, right or wrong.

    Attributes:
        label: of the term.
        before, term: what it says it starts from and does; None when terse.
        total: what it says comes out.
        end: where it ends in the text.
    """

    label: str
    before: int | None
    term: str | None
    total: int
    end: int


@dataclass(frozen=True)
class Chain:
    """A first number, and terms as they are written: an operation and a number, "+3", "-7", "^5" or "~2"."""

    first: int
    terms: tuple[str, ...]

    @property
    def totals(self) -> list[int]:
        """Running totals, one a label."""
        totals = [self.first]
        for term in self.terms:
            totals.append(apply(totals[-1], term))
        return totals

    @property
    def question(self) -> str:
        """The chain as a question, "A4 B+3 C-7=?"."""
        return " ".join(f"{label}{term}" for label, term in zip(LABELS, (self.first, *self.terms), strict=False)) + "=?"

    @property
    def by_label(self) -> dict[str, tuple[int, str, int]]:
        """Total before, term and total after, for every label but the first, in order."""
        totals = self.totals
        return dict(zip(LABELS[1:], zip(totals, self.terms, totals[1:], strict=False), strict=False))

    def steps(self, *, terse: bool) -> list[str]:
        """The steps of one pass, wordy ("B4+3=7") or terse ("B7")."""
        return [
            f"{label}{total}" if terse else f"{label}{before}{term}={total}"
            for label, (before, term, total) in self.by_label.items()
        ]

    @classmethod
    def read(cls, question: str) -> Chain:
        """The chain of a question.

        Raises:
            DataError: it is none.
        """
        parts = _PARTS.findall(question)
        if not _QUESTION.fullmatch(question) or [label for label, _, _ in parts] != list(LABELS[: len(parts)]):
            raise DataError(
                f"{question!r} is no chain, so its steps cannot be checked",
                remedy="use it in the laptop world, whose questions look like `A4 B+3 C-7=?`",
            )
        (_, _, first), *terms = parts
        return cls(int(first), tuple(f"{sign}{int(number)}" for _, sign, number in terms))


def read_steps(text: str) -> Iterator[Step]:
    """Every step in a text, in order; filler words, `check:`, the box and steps that were cut are none."""
    for match in _STEP.finditer(text):
        label, first, sign, number, total = match.groups()
        if sign is None:
            yield Step(label, None, None, int(first), match.end())
        else:
            yield Step(label, int(first), f"{sign}{int(number)}", int(total), match.end())
