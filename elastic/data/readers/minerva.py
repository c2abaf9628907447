"""Minerva's OCWCourses (Lewkowycz et al. 2022): `answer` is a list of spellings, each good; many end in a newline.

The first spelling becomes the gold answer: graders compare values, so the others are met by the same comparison.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_optional, as_question, as_text


def read(question: Any, answer: Any, level: Any = None, source_id: Any = None) -> dict[str, Any]:
    """The first of the answers; empty where there is none."""
    spellings = [text for text in map(as_text, answer or []) if text]
    row = {
        "question": as_question(question),
        "answer": spellings[0] if spellings else "",
        "level": as_optional(level),
    }
    return row if source_id is None else row | {"source_id": as_text(source_id)}
