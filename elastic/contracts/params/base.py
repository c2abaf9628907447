"""Params of the stage base: the starting model, taught from nothing or pinned on a hub."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from elastic.contracts.params.common import Count, Natural, Positive, Share, Strict


class TaughtBase(Strict):
    """A tiny decoder taught on curated demonstrations.

    Attributes:
        vocabulary: words of the tokenizer, beside its special tokens.
        context: longest sequence, prompt included.
        hidden, layers, heads: size of the decoder.
        steps, batch_size, learning_rate, warmup_steps, weight_decay: supervised teaching.
        save_every: steps between checkpoints.
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
