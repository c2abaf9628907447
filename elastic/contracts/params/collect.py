"""Params of the stage collect: where problems come from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from elastic.contracts.params.common import Count, Natural, Strict

Role = Literal["any", "training"]


class GeneratedSource(Strict):
    """Problems drawn through reasoning-gym's dataset interface.

    Attributes:
        role: the split that its rows are for; `any` leaves the cut to curate. Rows for `teaching` teach the base and
            never train; a share of them (curate.held_out_share) is held out, for measuring transfer.
    """

    kind: Literal["generated"]
    name: str
    dataset: str
    rows: Count
    seed: Natural
    licence: str
    role: Role | Literal["teaching"] = "any"
    config: dict[str, Any] = Field(default_factory=dict)


class FilesSource(Strict):
    """Problems in JSONL files (one object a line with `question` and `answer`) in a folder of the repository."""

    kind: Literal["files"]
    name: str
    folder: str
    licence: str
    role: Role = "training"

    @field_validator("folder")
    @classmethod
    def _tracked(cls, value: str) -> str:
        parts = value.split("/")
        if parts[:2] != ["data", "raw"] or ".." in parts:
            raise ValueError("the folder must be data/raw or lie in it, so that its version is tracked")
        return value


class DatasetSource(Strict):
    """A data set of the catalogue, which its file in data/sources describes: origin, licence, fields and policy.

    Attributes:
        name: of the file, without `.yaml`.
        role: the split that its rows are for; `any` leaves the cut to curate.
        limit: most rows, from the first on.
    """

    kind: Literal["dataset"]
    name: Annotated[str, Field(pattern=r"^\w+$")]
    role: Role | Literal["validation", "test"]
    limit: Count | None = None


Source = Annotated[GeneratedSource | FilesSource | DatasetSource, Field(discriminator="kind")]


class CollectParams(Strict):
    """The sources, in the order in which copies are preferred: the first source keeps a problem that two have."""

    sources: Annotated[list[Source], Field(min_length=1)]

    @field_validator("sources")
    @classmethod
    def _names_differ(cls, value: list[Source]) -> list[Source]:
        names = [source.name for source in value]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        return value
