r"""Canonical text cut into tokens, with their brackets matched once.

A token is a number (`12`, `0.5`), a run of letters (`xy`, `cm`), a command (`\pi`) or a single character. A run out
of `\text{...}` and its like is marked as a word, so that a unit is no product of symbols. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

# More tokens are not read: no answer worth grading has as many, and every rule above is bounded by it.
MOST_TOKENS = 6000

_TOKEN = re.compile(
    r"(?P<text>\\(?:text|mbox|mathrm|textrm|textnormal|textup|textsf|textit|textbf|operatorname|mathop|mathit|mathsf)"
    r"\*? ?\{)"
    r"|(?P<bold>\\(?:mathbf|boldsymbol|bm|boxed|fbox|mathcal|underline) ?\{)"
    r"|(?P<blackboard>\\mathbb ?(?:\{ ?[A-Z] ?\}|[A-Z]))"
    r"|(?P<environment>\\(?:begin|end) ?\{[a-zA-Z]+\*?\})"
    r"|(?P<command>\\(?:[A-Za-z]+|.))"
    r"|(?P<number>[0-9]+(?:\.(?:[0-9]+|(?=\\overline)))?|\.[0-9]+)"
    r"|(?P<letters>[^\W\d_]+(?:'(?=[A-Za-z]{1,2}\b)[A-Za-z]+)?)"
    r"|(?P<space> )|(?P<other>.)",
    re.DOTALL,
)
_CLOSES = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "\\langle": "\\rangle", "\\lfloor": "\\rfloor"} | {
    "\\lceil": "\\rceil"
}
_CLOSERS = set(_CLOSES.values())


class UnreadableError(Exception):
    """The text is no mathematics: a bracket without its partner, or too long."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: `number`, `letters`, `command` or `other`.
        text: as it stands.
        word: whether it came out of a text command.
        spaced: whether a space stands before it.
    """

    kind: str
    text: str
    word: bool = False
    spaced: bool = False


@dataclass(frozen=True)
class Tokens:
    """A stretch of tokens with its brackets matched.

    Attributes:
        items: the tokens.
        closed_by: place of the closing bracket, by the place of the opening one.
    """

    items: tuple[Token, ...]
    closed_by: dict[int, int] = field(compare=False)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Token:
        return self.items[place]

    def text(self, place: int) -> str:
        """Text of the token at `place`; empty outside."""
        return self.items[place].text if 0 <= place < len(self.items) else ""

    def cut(self, start: int, end: int | None = None) -> Tokens:
        """The stretch from `start` to `end`."""
        end = len(self.items) if end is None else end
        inside = {a - start: b - start for a, b in self.closed_by.items() if start <= a and b < end}
        return Tokens(self.items[start:end], inside)

    @cached_property
    def top(self) -> tuple[int, ...]:
        """Places outside all brackets; a pair of brackets is there by its opening one."""
        if not self.closed_by:
            return tuple(range(len(self.items)))
        places, place, end = [], 0, len(self.items)
        while place < end:
            places.append(place)
            place = self.closed_by.get(place, place) + 1
        return tuple(places)

    @cached_property
    def texts(self) -> frozenset[str]:
        """Texts of the tokens outside all brackets."""
        return frozenset(self.items[place].text for place in self.top)

    def split(self, at: Sequence[int]) -> list[Tokens]:
        """The stretches between the places `at`."""
        starts = [0, *(place + 1 for place in at)]
        return [self.cut(start, end) for start, end in zip(starts, [*at, len(self.items)], strict=True)]

    def joined(self) -> str:
        """The tokens as LaTeX again."""
        pieces = []
        before: Token | None = None
        for token in self.items:
            last, before = before, token
            if token.word:
                pieces.append(f"\\text{{{' ' if token.spaced else ''}{token.text}}}")
            elif (
                last is not None
                and last.text[-1:].isalnum()
                and token.text[:1].isalnum()
                and (token.spaced or last.kind == "command")
            ):
                pieces.append(f" {token.text}")
            else:
                pieces.append(token.text)
        return "".join(pieces)

    def peeled(self) -> Tokens:
        """Without the braces around the whole of it."""
        start, end = 0, len(self.items)
        while start < end and self.items[start].text == "{" and self.closed_by.get(start) == end - 1:
            start, end = start + 1, end - 1
        return self.cut(start, end) if start else self


def make(items: list[Token] | tuple[Token, ...]) -> Tokens:
    """Tokens with their brackets matched.

    Raises:
        UnreadableError: a bracket has no partner.
    """
    closed_by: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(items):
        if token.kind == "number" or token.kind == "letters":
            continue
        text = token.text
        if text in _CLOSES or text.startswith("\\begin"):
            opened.append(place)
        elif text in _CLOSERS or text.startswith("\\end"):
            if not opened or not _partners(items[opened[-1]].text, text):
                raise UnreadableError(f"{text!r} closes nothing")
            closed_by[opened.pop()] = place
    if opened:
        raise UnreadableError(f"{items[opened[-1]].text!r} is not closed")
    return Tokens(tuple(items), closed_by)


def _partners(opening: str, closing: str) -> bool:
    if opening in "([" and closing in ")]":
        return True
    if opening.startswith("\\begin"):
        return closing == opening.replace("begin", "end", 1)
    return _CLOSES.get(opening) == closing


def tokenize(text: str) -> Tokens:
    """Cut canonical text.

    Raises:
        UnreadableError: a bracket has no partner, or there are too many tokens.
    """
    return make(cut_tokens(text))


def cut_tokens(text: str) -> list[Token]:
    """The tokens of a text whose brackets need no partners.

    Raises:
        UnreadableError: there are too many tokens.
    """
    items: list[Token] = []
    spaced, braces, words = False, 0, []
    for hit in _TOKEN.finditer(text):
        kind = hit.lastgroup
        value = hit[0]
        if kind == "space":
            spaced = True
            continue
        if len(items) > MOST_TOKENS:
            raise UnreadableError("too long")
        if kind in ("text", "bold"):
            braces += 1
            words.append((braces, kind == "text"))
            spaced = True
            continue
        if value == "{":
            braces += 1
        elif value == "}":
            if words and words[-1][0] == braces:
                words.pop()
                braces -= 1
                spaced = True
                continue
            braces -= 1
        if kind == "environment":
            value, kind = value.replace(" ", ""), "command"
        elif kind == "blackboard":
            value, kind = f"\\mathbb{{{value.strip('{} ')[-1]}}}", "command"
        word = kind == "letters" and any(is_text for _, is_text in words)
        items.append(Token(str(kind), value, word, spaced))
        spaced = False
    return items
