r"""Letters of multiple choice: `B`, `(B)`, `\text{(B) } 12`, `B: the second option`.

A gold that is one capital letter from A to J is a choice. The letter must stand for itself: in `A quick check` it is
an article, and `A, B` names two.
"""

from __future__ import annotations

import re

_TEXT = re.compile(r"\\(?:text(?:bf|rm|it|normal)?|mathrm|mathbf|mbox|textbf) ?\{|[{}$]|\*\*|\\ ")
_MAY_START = frozenset("ABCDEFGHIJ(\\{$*")
_GOLD = re.compile(r"\(?([A-J])\)?[.:]?")
_LABELLED_GOLD = re.compile(r"\(([A-J])\)[.:]? ?(.+)", re.DOTALL)
_LEAD = re.compile(r"^(?:(?:the )?(?:final |correct )?(?:answer|option|choice)(?: is)?:? ?)+", re.IGNORECASE)
_GIVEN = re.compile(
    r"[(\[]([A-Za-z])[)\]](?:[.:]? ?(?P<a>.*))|([A-Za-z])(?:(?:[.:)]| ?-| ?=| ?(?=\()) ?(?P<b>.+)|[.:)]?)", re.DOTALL
)
_ANOTHER = re.compile(
    r"(?:^|[^A-Za-z\\])(?:\(([A-J])\)|([A-J])(?=$|[,.;:)])|(?:or|and|,|&|/) ?\(?([A-J])\)?(?![A-Za-z]))"
)


def plain(text: str) -> str:
    """Canonical text without text commands and braces."""
    return re.sub(" +", " ", _TEXT.sub(" ", text)).strip()


def gold_letter(gold: str) -> tuple[str, str] | None:
    """The letter of a gold that is a choice, and the value written after it, if any."""
    if gold[:1] not in _MAY_START:
        return None
    text = plain(gold)
    match = _GOLD.fullmatch(text)
    if match:
        return match[1], ""
    match = _LABELLED_GOLD.fullmatch(text)
    return (match[1], match[2]) if match else None


def given_letter(answer: str) -> tuple[str, str] | None:
    """The letter that an answer chooses, and its label; None where it chooses none, or several."""
    text = _LEAD.sub("", plain(answer)).strip().rstrip(".")
    match = _GIVEN.fullmatch(text)
    if match is None:
        return None
    letter, label = (match[1] or match[3]).upper(), (match["a"] or match["b"] or "")
    others = {next(filter(None, found)) for found in _ANOTHER.findall(label)}
    return None if letter > "J" or others - {letter} else (letter, label)


def several_letters(gold: str) -> bool:
    """Whether a gold is several letters written as one word: `AC`."""
    return re.fullmatch("[A-J]{2,}", gold) is not None and sorted(set(gold)) == list(gold)


def letters_of(answer: str) -> set[str]:
    """The letters of an answer that is a list of them, and of nothing else."""
    found = re.sub(r"\band\b|\\&", ",", plain(answer))
    parts = [part.strip("() .") for part in re.split("[,;]", found)]
    return set(parts) if all(re.fullmatch("[A-J]", part) for part in parts) else set()
