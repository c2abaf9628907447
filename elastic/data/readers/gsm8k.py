"""GSM8K (Cobbe et al. 2021): the answer stands at the end of the worked solution, after "####".

Copies that carry an `answer` field beside it have null there.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_question, as_text


def read(question: Any, solution: Any) -> dict[str, Any]:
    """The value after the last mark; empty where there is no mark."""
    _, mark, value = as_text(solution).rpartition("####")
    return {"question": as_question(question), "answer": value.strip() if mark else ""}
