"""Rows with one field a value: AIME, AMC, MATH, HMMT, AIMO, Omni-MATH, DeepScaleR, and a user's own.

AMC has its answers as JSON floats (142.0); MATH's training file has two rows without an answer.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_optional, as_question, as_text


def read(
    question: Any, answer: Any, level: Any = None, source_id: Any = None, thinking: Any = None, solution: Any = None
) -> dict[str, Any]:
    """Fields as they came; `thinking` and `solution` are a demonstration."""
    row = {
        "question": as_question(question),
        "answer": as_text(answer),
        "level": as_optional(level),
        "thinking": as_optional(thinking),
        "solution": as_optional(solution),
    }
    return row if source_id is None else row | {"source_id": as_text(source_id)}
