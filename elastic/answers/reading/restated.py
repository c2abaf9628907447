"""Answers that only restate the problem: an unevaluated expression that stands in the question is none."""

from __future__ import annotations

import re

from elastic.answers.compare import exact_number
from elastic.answers.reading.expressions import Tree
from elastic.answers.spelling import canonical

_WORK = re.compile(r"[+*/^=<>!(|]|[^{(,;]-|\\(?:frac|cdot|times|div|sqrt|binom|sum|prod|int|log|ln|sin|cos|tan|le|ge)")
_BLANK = re.compile(r"[ ${}]|\\[()\[\],;]")


def _squeezed(text: str) -> str:
    return _BLANK.sub("", text)


def _in_lowest_terms(text: str) -> bool:
    """Whether this is a number that nothing is left to be done with."""
    number = exact_number(text)
    if number is None:
        return False
    if number.places is not None or ("/" not in text and "frac" not in text):
        return True
    written = max(int(digits) for digits in re.findall("[0-9]+", text))
    return written <= max(abs(number.value.numerator), number.value.denominator) or bool(re.match(r"-?\d+\\frac", text))


def restates(answer: str, question: str) -> bool:
    """Whether a canonical answer is work that stands, undone, in the question."""
    if len(answer) < 3 or not _WORK.search(answer) or _in_lowest_terms(answer):
        return False
    piece, whole = _squeezed(answer), _squeezed(canonical(question))
    start = whole.find(piece)
    while start >= 0:
        before, after = whole[start - 1 : start], whole[start + len(piece) : start + len(piece) + 1]
        # A part of a longer number or word is another expression.
        if not (before.isalnum() and piece[0].isdigit()) and not (after.isdigit() and piece[-1].isdigit()):
            return True
        start = whole.find(piece, start + 1)
    return False


def ordered(tree: Tree) -> Tree:
    """A tree with the terms of sums and the factors of products in one order; nothing is worked out."""
    kind = tree[0]
    if kind in ("number", "symbol", "constant"):
        return tree
    if kind in ("sum", "product"):
        return (kind, tuple(sorted((ordered(part) for part in tree[1]), key=repr)))
    if kind == "call":
        return (kind, tree[1], tuple(map(ordered, tree[2])))
    return (kind, ordered(tree[1]), ordered(tree[2]))
