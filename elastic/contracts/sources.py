"""A source of the catalogue: what one YAML file under data/sources says, and what collect tells of a source it read.

A file pins what it names: a commit, a checksum, a row count. What is not known stays null, and collect refuses the
source until somebody has looked it up: an invented figure would pass for a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from elastic.contracts.params.common import Count, Natural, Strict
from elastic.contracts.policy import Policy

Use = Literal["training", "validation", "test"]
Forbidden = Literal["training", "commercial use", "redistribution", "plain text"]
ReaderName = Literal[
    "plain", "gsm8k", "minerva", "olympiad", "verl", "gpqa",
    "taco", "livecodebench", "codeforces", "synthetic_1", "humaneval_plus", "leetcode",
]  # fmt: skip
SourceName = Annotated[str, Field(pattern=r"^\w+$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Similarity = Annotated[float, Field(gt=0, lt=1)]


class Licence(Strict):
    """What a source may be used for.

    Attributes:
        name: SPDX identifier, or in words where there is none.
        notes: who holds the problem statements, where that is somebody else.
        forbids: uses that it rules out. `training` keeps it out of the training split, `plain text` out of every
            artifact; the others are for people to heed, and stand in the report and in the model card.
    """

    name: str
    notes: str = ""
    forbids: tuple[Forbidden, ...] = ()


class HubOrigin(Strict):
    """A data set of the Hugging Face hub.

    Attributes:
        hub: its id.
        revision: commit; null while nobody has looked it up.
        config: name of a configuration.
        split: of the hub.
        files: paths in the repository, where they are to be read without the repository's own loading script.
    """

    hub: str
    revision: Commit | None
    config: str | None = None
    split: str = "train"
    files: tuple[str, ...] = ()


class RepositoryOrigin(Strict):
    """A file in a GitHub repository at a commit."""

    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Commit
    path: str


class FileOrigin(Strict):
    """A JSONL, JSON, CSV or parquet file of the user's own, beside the YAML file (a bare name) or under data/raw."""

    file: str

    @field_validator("file")
    @classmethod
    def _tracked(cls, value: str) -> str:
        parts = value.split("/")
        if ".." in parts or (len(parts) > 1 and parts[:2] != ["data", "raw"]):
            raise ValueError(
                "must be a name beside this YAML file, or a path in data/raw, so that its version is tracked"
            )
        return value


def _origin_kind(value: Any) -> str | None:
    keys = value if isinstance(value, Mapping) else vars(value)
    return next((kind for kind in ("hub", "repository", "file") if kind in keys), None)


Origin = Annotated[
    Annotated[HubOrigin, Tag("hub")]
    | Annotated[RepositoryOrigin, Tag("repository")]
    | Annotated[FileOrigin, Tag("file")],
    Discriminator(
        _origin_kind,
        custom_error_type="origin",
        custom_error_message="names neither a `hub` id, nor a `repository`, nor a `file`",
    ),
]


class Mirror(Strict):
    """The file of a mirror folder that holds the source; of a repository, the same bytes.

    Attributes:
        path: relative to the folder that ELASTIC_DATA_MIRROR names.
        sha256: null while nobody has had the file.
    """

    path: str
    sha256: Sha256 | None


class Filter(Strict):
    """Rows to keep, by one raw field; the bounds compare text, as ISO dates do.

    Attributes:
        field: name of the raw field.
        one_of: values to keep.
        at_least: smallest value to keep.
        below: smallest value to leave out again.
    """

    field: str
    one_of: tuple[str | float, ...] = ()
    at_least: str | None = None
    below: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Filter:
        if bool(self.one_of) == (self.at_least is not None or self.below is not None):
            raise ValueError("give either one_of, or at_least and below")
        return self


class NearDuplicates(Strict):
    """When two questions count as one: Jaccard similarity over runs of words.

    Attributes:
        threshold: similarity from which on they do.
        words: length of a run.
    """

    threshold: Similarity
    words: Count


class SourceFile(Strict):
    """One data set.

    Attributes:
        name: as the file is named.
        description: one line.
        domain: what kind of problems, hence which grader.
        origin: where its rows lie.
        mirror: where they lie without a network.
        licence: of the data.
        uses: splits that it may stand in.
        reader: file of elastic/data/readers.
        fields: the reader's arguments, each with the raw field that holds it.
        filter: rows to keep; all by default.
        rows: how many there are then; null while nobody has counted.
        policy: how answers are compared, where it differs from the default.
        near_duplicates: when a copy counts as near; `exact` for normalised equality alone.
        overlaps: what it is known to share with other sources.
    """

    name: SourceName
    description: str
    domain: Literal["math", "code"]
    origin: Origin
    mirror: Mirror | None = None
    licence: Licence
    uses: Annotated[tuple[Use, ...], Field(min_length=1)]
    reader: ReaderName
    fields: dict[str, str]
    filter: Filter | None = None
    rows: Count | None
    policy: Policy = Policy()
    near_duplicates: NearDuplicates | Literal["exact"]
    overlaps: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _may_train(self) -> SourceFile:
        if "training" in self.uses and "training" in self.licence.forbids:
            raise ValueError("uses has training, which the licence forbids")
        return self


class JoinedSource(Strict):
    """Several sources that are reported as one set.

    Attributes:
        name: as the file is named.
        description: one line.
        parts: names of sources, in order; what they say holds for their rows.
        rows: of all together.
    """

    name: SourceName
    description: str
    parts: Annotated[tuple[SourceName, ...], Field(min_length=2)]
    rows: Count


class SourceFacts(BaseModel):
    """What collect tells later stages of a source; whether a mirror or the hub gave its rows is none of it.

    Attributes:
        name: of the source, as its rows carry it.
        description: one line.
        origin: where it comes from, in words.
        revision: commit, where it has one.
        role: as in params.yaml.
        licence, notes, forbids: of its licence.
        rows: collected.
        near_duplicates: null for normalised equality alone.
        overlaps: what it is known to share with other sources.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    description: str
    origin: str
    revision: str | None
    role: str
    licence: str
    notes: str
    forbids: tuple[Forbidden, ...]
    rows: Natural
    near_duplicates: NearDuplicates | None
    overlaps: tuple[str, ...]
