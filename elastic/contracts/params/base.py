"""Params of the stage base: the starting model, taught from nothing or pinned on a hub."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from elastic.contracts.params.common import Count, Natural, Positive, Share, Strict
from elastic.errors import ParamsError


class AskedLengths(Strict):
    """A share of the demonstrations names the length of its response in the question (for L1's prompts).

    Attributes:
        share: of the demonstrations.
        suffix: what the question is followed by; `{tokens}` is replaced by the length.
        low, high: what the named length is kept within, in tokens.
        spread: the named length is off by up to this share of the true one, either way.
    """

    share: Share
    suffix: Annotated[str, Field(pattern=r"\{tokens\}")]
    low: Natural
    high: Natural
    spread: Share


class TaughtBase(Strict):
    """A tiny decoder taught on curated demonstrations.

    Attributes:
        vocabulary: words of the tokenizer, beside its special tokens.
        context: longest sequence, prompt included.
        hidden, layers, heads: size of the decoder.
        steps, batch_size, learning_rate, warmup_steps, weight_decay: supervised teaching.
        save_every: steps between checkpoints.
        asked_lengths: None where no question names a length.
    """

    kind: Literal["taught"]
    vocabulary: list[str]
    context: Count
    hidden: Count
    layers: Count
    heads: Count
    steps: Count
    batch_size: Count
    learning_rate: Positive
    warmup_steps: Natural
    weight_decay: Share
    save_every: Count
    asked_lengths: AskedLengths | None = None
    seed: Natural

    @model_validator(mode="after")
    def _size(self) -> TaughtBase:
        if self.hidden % self.heads:
            raise ValueError("hidden must be a multiple of heads")
        if len(set(self.vocabulary)) < len(self.vocabulary):
            raise ValueError("a word stands twice in vocabulary")
        return self


class HubBase(Strict):
    """A checkpoint of the Hugging Face hub at a pinned revision, or a local folder.

    Attributes:
        model: hub id, or a path to a folder.
        revision: commit hash; required for a hub id.
        context: longest sequence the pipeline may use.
    """

    kind: Literal["hub"]
    model: str
    revision: str | None = None
    context: Count
    licence: str

    @model_validator(mode="after")
    def _pinned(self) -> HubBase:
        is_folder = self.model.startswith((".", "/"))
        if not is_folder and (self.revision is None or len(self.revision) != 40):
            raise ValueError("revision must be the 40-digit commit of the hub model, so that a run can be repeated")
        return self


BaseParams = Annotated[TaughtBase | HubBase, Field(discriminator="kind")]


class BaseBlock(Strict):
    """The block `base` of params.yaml."""

    base: BaseParams


class ContextBlock(Strict):
    """What stages that sample read of the block `base`, whatever its kind: the longest sequence, prompt included."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    context: Count

    def require(self, key: str, prompt: int, tokens: int) -> None:
        """Refuse budgets that the context cannot hold, before any work.

        Args:
            key: where the budget stands in params.yaml.
            prompt: prompt.max_tokens.
            tokens: counted tokens of both phases; the delimiter comes on top.

        Raises:
            ParamsError: naming the key, the sum and the remedy.
        """
        needed = prompt + tokens + 1
        if needed > self.context:
            raise ParamsError(
                f"prompt + t + s + 1 = {prompt} + {tokens} + 1 = {needed} is over the model's context ({self.context})",
                where=key,
                remedy="lower this budget or prompt.max_tokens, or raise base.context",
            )
