"""Params of the block prompt: how a question becomes a prompt, in teaching, training and evaluation alike."""

from __future__ import annotations

from pydantic import field_validator

from elastic.contracts.params.common import Count, Strict


class PromptParams(Strict):
    """Attributes:
    template: the user turn; `{question}` is replaced by the question.
    system: an optional system turn.
    max_tokens: longest rendered prompt; longer ones are an error, never cut.
    """

    template: str
    system: str | None = None
    max_tokens: Count

    @field_validator("template")
    @classmethod
    def _asks(cls, value: str) -> str:
        if "{question}" not in value:
            raise ValueError("the template must contain {question}")
        return value
