"""Answers that only restate the problem: an unevaluated expression that stands in the question is none."""

from __future__ import annotations

import re

from elastic.answers.compare import exact_number
from elastic.answers.reading.expressions import Tree
from elastic.answers.spelling import canonical

_WORK = re.compile(r"[+*/^=<>!(|]|[^{(,;]-|\\(?:frac|cdot|times|div|sqrt|binom|sum|prod|int|log|ln|sin|cos|tan|le|ge)")
_BLANK = re.compile(r"[ ${}]|\\[()\[\],;]")
_MATHS = re.compile(r"\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)


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
    piece = _BLANK.sub("", answer)
    formulas = [next(filter(None, groups)) for groups in _MATHS.findall(question)]
    return any(_stands_in(piece, _BLANK.sub("", canonical(text))) for text in formulas or [question])


def _stands_in(piece: str, whole: str) -> bool:
    """Whether a piece stands in a formula, as no part of a longer number, name or product."""
    start = whole.find(piece)
    while start >= 0:
        before, after = whole[max(start - 1, 0) : start], whole[start + len(piece) : start + len(piece) + 1]
        joined = (before.isdigit() or before == ".") and piece[0].isalnum()
        if not joined and not (after.isdigit() and piece[-1].isdigit()):
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
