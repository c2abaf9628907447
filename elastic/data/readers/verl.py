"""Rows as verl trains on them: the question is a chat, the answer the ground truth of a reward model.

The chat may open with a system turn, which is no part of the question: prompts are the pipeline's own.
"""

from __future__ import annotations

from typing import Any

from elastic.data.readers.values import as_optional, as_question, as_text


def read(chat: Any, reward_model: Any, level: Any = None) -> dict[str, Any]:
    """The last user turn and the ground truth.

    Raises:
        ValueError: nobody asks anything.
    """
    turns = [turn["content"] for turn in chat if turn["role"] == "user"]
    if not turns:
        raise ValueError("the chat has no user turn")
    return {
        "question": as_question(turns[-1]),
        "answer": as_text(reward_model["ground_truth"]),
        "level": as_optional(level),
    }
