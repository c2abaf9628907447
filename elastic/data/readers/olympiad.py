"""OlympiadBench (He et al. 2024), open-ended mathematics in English: `answer` is a list of one text.

A problem with several answers has them all in that text, parted by commas and each in its own dollars or not
("$69$,$84$"). The dollars go, so that the text is one list; they stand in no other sense in this data set.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_question, as_text


def read(question: Any, answer: Any, source_id: Any) -> dict[str, Any]:
    """One gold answer, a list of values where the problem asks for several."""
    return {
        "question": as_question(question),
        "answer": ", ".join(as_text(text).replace("$", "").strip() for text in answer or []),
        "source_id": as_text(source_id),
    }
