"""From a question to prompt ids: the chat template, applied once, in one place.

Whether the template leaves the think block open is read from what it renders for a probe, never guessed from a flag,
and never from the question's own text (which may speak about the tags).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elastic.errors import ParamsError
from elastic.markers import Markers, PromptState

_PROBE = "1"
_PLACE = "{question}"


def user_turn(template: str, question: str) -> str:
    """The user turn that asks a question: `{question}` in the template stands for it."""
    return template.replace(_PLACE, question)


class Prompter:
    """Renders questions with a tokenizer's chat template.

    Args:
        tokenizer: a transformers tokenizer with a chat template.
        template: the user turn; `{question}` is replaced by the question.
        system: an optional system turn.
    """

    def __init__(self, tokenizer: Any, *, template: str = _PLACE, system: str | None = None) -> None:
        self.tokenizer, self.template, self.system = tokenizer, template, system

    def messages(self, question: str) -> list[dict[str, str]]:
        """The conversation that asks `question`."""
        turns = [{"role": "system", "content": self.system}] if self.system else []
        return [*turns, {"role": "user", "content": user_turn(self.template, question)}]

    def render_messages(self, messages: list[dict[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, ready for the model to go on."""
        return tuple(
            self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
        )

    def render(self, question: str) -> tuple[int, ...]:
        """Prompt ids of one question."""
        return self.render_messages(self.messages(question))

    def ids(self, text: str) -> tuple[int, ...]:
        """Ids of text that is put into a prompt or a response, as it is.

        Raises:
            ParamsError: the tokenizer does not know all of it, or makes nothing of it.
        """
        ids = tuple(self.tokenizer.encode(text, add_special_tokens=False))
        if not ids or self.tokenizer.unk_token_id in ids:
            raise ParamsError(
                f"the tokenizer does not know all of {text!r}",
                where="texts of the strategy",
                remedy="set it to words of the tokenizer's vocabulary",
            )
        return ids

    def text(self, ids: Sequence[int], markers: Markers) -> str:
        """A phase as text: delimiters that the model wrote are kept, EOS and padding are dropped."""
        dropped = {*markers.eos_ids, self.tokenizer.pad_token_id}
        return self.tokenizer.decode([token for token in ids if token not in dropped], skip_special_tokens=False)

    def state(self, markers: Markers) -> PromptState:
        """Whether this template leaves the think block open, closed, or does not write one."""
        return markers.prompt_state(self.render(_PROBE))
