"""Code problems: tests and reference program by elastic/data/code_formats.py, which reads a row whole.

A row whose tests cannot be read comes without any, and curate rejects it for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elastic.data import code_formats
from elastic.data.code_formats import CodeProblem, Row
from elastic.data.readers.values import as_optional, as_question, as_text
from elastic.errors import DataError

FORMATS: dict[str, Callable[[Row], CodeProblem]] = {
    "taco": code_formats.taco,
    "livecodebench": code_formats.livecodebench,
    "codeforces": code_formats.codeforces,
    "synthetic_1": code_formats.synthetic_1,
    "humaneval_plus": code_formats.humaneval_plus,
    "leetcode": code_formats.leetcode,
}


def read(format_: str, raw: Row, question: Any, level: Any = None, source_id: Any = None) -> dict[str, Any]:
    """A row of one of FORMATS; `question` is what is asked where its tests cannot be read."""
    asked = as_question(question)
    row: dict[str, Any] = {"question": asked, "answer": "", "level": as_optional(level)}
    if source_id is not None:
        row["source_id"] = as_text(source_id)
    try:
        problem = FORMATS[format_](raw)
    except DataError:
        return row
    return row | {
        "question": problem.question,
        "tests": problem.tests.to_text(),
        "reference": problem.reference,
    }
