"""GPQA (Rein et al. 2023): one right and three wrong answers, made a choice among the letters A to D.

Its authors ask that no example be shown in plain text, so that none gets into training data: its file forbids that,
and collect refuses it. The reader serves evaluations that keep the rows in memory.
"""

from __future__ import annotations

import hashlib
from typing import Any

from elastic.data.readers.values import as_question, as_text

_LETTERS = "ABCD"


def read(question: Any, correct: Any, wrong_1: Any, wrong_2: Any, wrong_3: Any) -> dict[str, Any]:
    """The question with its options in an order that only their text decides, and the letter of the right one."""
    asked, right = as_question(question).strip(), as_text(correct)
    options = sorted(
        [right, *map(as_text, (wrong_1, wrong_2, wrong_3))],
        key=lambda option: hashlib.sha256(f"{asked}\0{option}".encode()).digest(),
    )
    listed = "\n".join(f"({letter}) {option}" for letter, option in zip(_LETTERS, options, strict=True))
    return {"question": f"{asked}\n\n{listed}", "answer": _LETTERS[options.index(right)]}
