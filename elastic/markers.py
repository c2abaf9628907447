"""The think delimiters of a tokenizer and its chat template: found, or refused with a reason.

Ids are never written down in code; they come from the tokenizer. A delimiter that is not exactly one token is an
error, because phases are split, counted and forced on ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from elastic.errors import MarkerError

PromptState = Literal["open", "closed", "absent"]
# How most models write their delimiters.
THINK = ("<think>", "</think>")


@dataclass(frozen=True)
class Markers:
    """Ids that bound the phases of a response.

    Attributes:
        open_id: the opening delimiter.
        close_id: the closing delimiter; the id that is inserted when thinking is forced to end.
        eos_ids: every id that ends a response.
        pad_id: filler of batches; a sampled pad is a token like any other.
    """

    open_id: int
    close_id: int
    eos_ids: frozenset[int]
    pad_id: int

    @classmethod
    def find(
        cls,
        tokenizer: Any,
        *,
        open_text: str = THINK[0],
        close_text: str = THINK[1],
        eos_ids: Sequence[int] | int | None = None,
    ) -> Markers:
        """Look the delimiters up in `tokenizer`.

        Args:
            tokenizer: a transformers tokenizer.
            open_text: how the opening delimiter is written.
            close_text: how the closing delimiter is written.
            eos_ids: EOS ids of the model's generation config, added to the tokenizer's own.

        Raises:
            MarkerError: a delimiter is missing or not one token, or the tokenizer has no EOS.
        """
        where = f"tokenizer {getattr(tokenizer, 'name_or_path', '') or type(tokenizer).__name__}"
        ids = []
        for text in (open_text, close_text):
            encoded = tokenizer.encode(text, add_special_tokens=False)
            if len(encoded) != 1 or encoded[0] == tokenizer.unk_token_id:
                pieces = tokenizer.convert_ids_to_tokens(encoded)
                raise MarkerError(
                    f"the delimiter {text!r} is not one token (it encodes to {pieces})",
                    where=where,
                    remedy="name the model's own delimiters, or add them to the tokenizer as tokens before teaching",
                )
            ids.append(encoded[0])
        extra = [eos_ids] if isinstance(eos_ids, int) else list(eos_ids or [])
        eos = frozenset(i for i in [tokenizer.eos_token_id, *extra] if i is not None)
        if not eos:
            raise MarkerError("no EOS token", where=where, remedy="set eos_token on the tokenizer")
        pad = tokenizer.pad_token_id
        return cls(ids[0], ids[1], eos, pad if pad is not None else min(eos))

    def prompt_state(self, prompt_ids: Sequence[int]) -> PromptState:
        """Whether the rendered prompt left the think block open, wrote a closed one, or wrote none.

        Only the last block counts: earlier turns of a conversation may hold closed ones.
        """
        for token in reversed(prompt_ids):
            if token == self.close_id:
                return "closed"
            if token == self.open_id:
                return "open"
        return "absent"
