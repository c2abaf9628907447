"""One spelling for one problem: normalised questions, ids from content, normalised answers.

A normalised question is a key, never a prompt: models are asked the question as it came. Two questions are the same
problem if and only if their keys are equal.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_MIXED = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_SIGNS = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), "⁄": "/"})
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_SPACES = re.compile(r"\s+")
_LOOSE_SPACE = re.compile(r" (?=\W)|(?<=\W) ")
_WHOLE_DECIMAL = re.compile(r"([+-]?\d+)\.0+")


def plain(text: str) -> str:
    """NFKC with one dash, one slash, single spaces and nothing invisible.

    NFKC alone would lower raised digits and join mixed numbers (`10²` to `102`, `4½` to `41/2`), which makes different
    problems equal; they become `10^2` and `4 1/2`.
    """
    text = _MIXED.sub(" ", _RAISED.sub(lambda raised: "^" + raised.group(), text))
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip()


def normalise_question(text: str) -> str:
    """The key of a question: plain characters, case folded, spaces only where they part two words or numbers."""
    return _LOOSE_SPACE.sub("", plain(text).casefold())


def problem_id(question: str) -> str:
    """The first 16 hex digits of the sha256 of the normalised question."""
    return hashlib.sha256(normalise_question(question).encode()).hexdigest()[:16]


def _inside(text: str, opening: str) -> str | None:
    """What a pair of braces holds if it spans all of `text` after `opening`; None otherwise."""
    if not (text.startswith(opening) and text.endswith("}")):
        return None
    inner, depth = text[len(opening) : -1], 0
    for character in inner:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return None
    return inner if depth == 0 else None


def normalise_answer(text: str) -> str:
    """A gold answer in plain characters, out of its `$...$` or `\\boxed{...}`, a whole decimal as an integer.

    Case is kept, and so is an answer that its wrapping leaves empty: whether it can be graded is the grader's to say.
    """
    answer = plain(text)
    while True:
        inner = _inside(answer, "\\boxed{")
        if answer.startswith("$") and answer.endswith("$"):
            inner = answer.strip("$")
        if inner is None or not inner.strip() or "$" in inner:
            break
        answer = inner.strip()
    whole = _WHOLE_DECIMAL.fullmatch(answer)
    return whole.group(1) if whole else answer
