"""OlympiadBench (He et al. 2024), open-ended mathematics in English: `answer` is a list of one text.

A problem with several answers has them all in that text, parted by commas and each in its own dollars or not
("$69$,$84$"). The dollars go, so that the text is one list; they stand in no other sense in this data set. The unit
that a few rows name is left out: the default policy forgives one that stands on one side only.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_question, as_text


def read(question: Any, answer: Any, source_id: Any, error: Any = None) -> dict[str, Any]:
    """One gold answer, a list of values where the problem asks for several.

    `error` is the absolute error that the benchmark forgives a number; a policy's is relative.

    Raises:
        ValueError: an error is forgiven of something that is no number.
    """
    gold = ", ".join(as_text(text).replace("$", "").strip() for text in answer or [])
    row = {"question": as_question(question), "answer": gold, "source_id": as_text(source_id)}
    return row | {"policy": {"tolerance": float(error) / abs(float(gold))}} if as_text(error) else row
