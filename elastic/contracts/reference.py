"""Published figures as data: what one YAML file under data/reference says, with where each figure comes from.

A figure carries what decides whether another may be laid beside it: problems, model, budget, samples, sampling and how
tokens were counted. What a source does not say stays null, which makes a comparison impossible rather than wrong.
Contradictions between sources, or within one, are in `data/reference/contradictions.yaml` and are named by the tables
and rows that they concern.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from elastic.budget import Budget
from elastic.contracts.params.common import (
    BudgetText,
    Count,
    Strict,
    Temperature,
    block,
    read_params,
    validate,
)
from elastic.errors import DataError, ParamsError

REFERENCES = Path("data/reference")
CONTRADICTIONS = "contradictions.yaml"
# Shares, 0 to 1; changes of them, -1 to 1.
ShareMeasure = Literal[
    "accuracy", "best_of_n", "majority", "pass_at_k", "early_stop_change", "easy_half_share", "efficiency_score",
    "length_error", "soft_violations", "hard_violations", "percentile",
]  # fmt: skip
Measure = Literal[
    ShareMeasure, "tokens", "early_stop_tokens_change", "rating", "adaptation_ratio", "per_response", "slope"
]
# Where a figure was read: the public code, the paper's text or table, a model card or README, notes by others, a plot.
Confidence = Literal["code", "paper", "card", "notes", "figure"]
# What a published number of tokens counts.
TokenCount = Literal["sampled", "whole response", "text tokenised again", "cost without prompts", "not stated"]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
SetName = Annotated[str, Field(pattern=r"^\w+$")]
Filled = Annotated[str, Field(min_length=1)]


class Protocol(Strict):
    """How the figures of a table were measured; null is not stated.

    Attributes:
        samples: traces a problem.
        temperature, top_p: of sampling.
        tokens: what a number of tokens counts.
    """

    samples: Count | None
    temperature: Temperature | None
    top_p: Annotated[float, Field(gt=0, le=1)] | None
    tokens: TokenCount


class PublishedRow(Strict):
    """Figures of one model under one setting.

    Attributes:
        model: as the source calls it.
        problems: of the file's sets; null where figures are over several of them.
        budget, limit: separate budgets, or the limit of a whole response; neither where the source says none.
        setting: what else tells rows apart, in the source's words.
        values: figures by measure; shares are 0 to 1, lengths are tokens.
        contradictions: names of those that concern the row.
        confidence: where it differs from the table's.
    """

    model: Filled
    problems: SetName | None = None
    budget: BudgetText | None = None
    limit: Count | None = None
    setting: str = ""
    values: Annotated[dict[Measure, float], Field(min_length=1)]
    contradictions: tuple[Slug, ...] = ()
    confidence: Confidence | None = None

    @model_validator(mode="after")
    def _possible(self) -> PublishedRow:
        if self.budget and self.limit:
            raise ValueError("a row has a budget or a limit, not both")
        for name, value in self.values.items():
            if name in get_args(ShareMeasure) and not (-1 if name.endswith("change") else 0) <= value <= 1:
                raise ValueError(f"values.{name} is a share, and {value} is none; write 0.41 for 41.0")
        return self


class PublishedTable(Strict):
    """One table of a source.

    Attributes:
        title: what it shows.
        source: where it stands.
        confidence: how it was read.
        protocol: how its figures were measured.
        problems: of rows that name none of their own.
        rows: the figures.
        contradictions: names of those that concern the whole table.
        notes: what else a reader must know.
    """

    title: Filled
    source: Filled
    confidence: Confidence
    protocol: Protocol
    problems: SetName | None = None
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1)]
    contradictions: tuple[Slug, ...] = ()
    notes: tuple[Filled, ...] = ()


class Reference(Strict):
    """The published figures of one paper or release.

    Attributes:
        name: as the file is named.
        paper: title or system, with its arXiv number where it has one.
        finding: what the figures are quoted for, in one sentence.
        sets: number of problems by name (that of data/sources, where the set is there); null where it is not stated.
        tables: the figures.
    """

    name: Slug
    paper: Filled
    finding: Filled
    sets: dict[SetName, Count | None]
    tables: Annotated[tuple[PublishedTable, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _known_sets(self) -> Reference:
        named = {row.problems or table.problems for table in self.tables for row in table.rows} - {None}
        if unknown := sorted(str(name) for name in named if name not in self.sets):
            raise ValueError(f"sets has no {', '.join(unknown)}")
        return self


@dataclass(frozen=True)
class Published:
    """One published figure with all that a comparison needs.

    Attributes:
        value: share, tokens, or the measure's own unit.
        n_problems: of its set; None where it is not stated.
        contradictions: in words.
        source: paper and place.
        others: as in PublishedRow, PublishedTable and Protocol.
    """

    measure: Measure
    value: float
    model: str
    problems: str | None
    n_problems: int | None
    budget: Budget | None
    limit: int | None
    setting: str
    protocol: Protocol
    confidence: Confidence
    contradictions: tuple[str, ...]
    source: str


def published_figures(reference: Reference, contradictions: Mapping[str, str]) -> Iterator[Published]:
    """Every figure of a file, in its order.

    Args:
        reference: from `load_reference`.
        contradictions: from `load_contradictions`; it has every name that the file uses.
    """
    for table in reference.tables:
        for row in table.rows:
            problems = row.problems or table.problems
            for measure, value in row.values.items():
                yield Published(
                    measure=measure,
                    value=value,
                    model=row.model,
                    problems=problems,
                    n_problems=reference.sets[problems] if problems else None,
                    budget=row.budget,
                    limit=row.limit,
                    setting=row.setting,
                    protocol=table.protocol,
                    confidence=row.confidence or table.confidence,
                    contradictions=tuple(contradictions[name] for name in (*table.contradictions, *row.contradictions)),
                    source=f"{reference.paper}: {table.source}",
                )


def load_reference(path: Path) -> Reference:
    """Read and validate a file of published figures.

    Raises:
        DataError: it is missing or breaks its contract; names file and keys.
    """
    try:
        reference = validate(Reference, read_params(path), where="")
    except ParamsError as error:
        remedy = f"edit {path} at the keys named above" if path.is_file() else "name a file of data/reference"
        raise DataError(error.what, where=str(path), remedy=remedy) from None
    if reference.name != path.stem:
        raise DataError(f"its name is {reference.name!r}", where=str(path), remedy="name the file as the reference")
    return reference


def load_contradictions(folder: Path = REFERENCES) -> dict[str, str]:
    """What the sources contradict, in words, by name.

    Raises:
        DataError: the file is missing, or holds anything but texts.
    """
    path = folder / CONTRADICTIONS
    try:
        texts = dict(block(read_params(path), "contradictions"))
    except ParamsError as error:
        raise DataError(error.what, where=str(path), remedy="restore it from the repository") from None
    if wrong := [name for name, text in texts.items() if not isinstance(text, str)]:
        raise DataError(f"{', '.join(map(str, wrong))}: not a text", where=str(path), remedy="write one text a name")
    return texts
