"""The published claims of claims.yaml, each held against what was found here.

A claim says what must be more, less or kept, of which recipe, against which other one, and at which budget. It held
where every part did, and did not hold where a part is claimed the other way round; anything else is undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, model_validator

from compare.findings import Cell, Findings
from elastic.contracts.params.common import Natural, Strict
from elastic.reporting.words import interval, points, signed

Outcome = Literal["held", "did not hold", "undecided", "not testable here"]


class Part(Strict):
    """One condition of a claim.

    Attributes:
        recipe, against: names of recipes, or `base`.
        at: a thinking budget of the grid, `main` for the report's, `free` for none, or `every` for all above 0.
        of: accuracy, tokens of a response, or adaptation ratio (always without a budget).
        is_: more or less must be claimed; `kept` means that the interval excludes a loss above the report's margin.
    """

    recipe: str
    against: str
    at: Natural | Literal["main", "free", "every"] = "free"
    of: Literal["accuracy", "tokens", "adaptation"] = "accuracy"
    is_: Annotated[Literal["more", "less", "kept"], Field(alias="is")]

    @model_validator(mode="after")
    def _kept(self) -> Part:
        if self.is_ == "kept" and self.of != "accuracy":
            raise ValueError("only accuracy has a margin within which it is kept")
        return self


class Claim(Strict):
    """A published claim.

    Attributes:
        claim, published, source: what is said, with which figures, where.
        parts: what would show it here; none where nothing here can, and `because` says why.
    """

    claim: str
    published: str
    source: str
    parts: tuple[Part, ...] = ()
    because: str | None = None

    @model_validator(mode="after")
    def _testable(self) -> Claim:
        if bool(self.parts) == bool(self.because):
            raise ValueError("give parts, or say at `because` why nothing here can test the claim")
        return self


@dataclass(frozen=True)
class Judged:
    """A claim and what became of it; `seeds` is the smallest number of seeds behind it."""

    claim: Claim
    outcome: Outcome
    here: list[str]
    seeds: int | None


def read_claims(path: Path) -> list[Claim]:
    """The claims of a YAML file."""
    return [Claim.model_validate(row) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _cells(part: Part, findings: Findings) -> list[Cell]:
    if part.at == "every":
        return [cell for cell in findings.cells if cell]
    if part.at == "free":
        return [None]
    return [findings.params.main if part.at == "main" else part.at]


def known(claim: Claim, findings: Findings) -> bool:
    """Whether every recipe that the claim names was run, and every budget measured."""
    return all(
        {part.recipe, part.against} <= findings.by_recipe.keys() and set(_cells(part, findings)) <= set(findings.cells)
        for part in claim.parts
    )


def ask(claims: list[Claim], findings: Findings) -> None:
    """Ask for every difference that a claim needs, so that all are corrected together."""
    for claim in claims:
        if known(claim, findings):
            for part in claim.parts:
                for cell in _cells(part, findings):
                    findings.difference(part.recipe, part.against, cell, part.of)


def judge(claim: Claim, findings: Findings) -> Judged:
    """Hold a claim against the findings, which must have been corrected."""
    if claim.because:
        return Judged(claim, "not testable here", [claim.because], None)
    if not known(claim, findings):
        return Judged(claim, "not testable here", ["a recipe or a budget that it names was not run"], None)
    said, words, seeds = [], [], []
    for part in claim.parts:
        for cell in _cells(part, findings):
            row = findings.difference(part.recipe, part.against, cell, part.of)
            sign = 1 if row.difference > 0 else -1
            if part.is_ == "kept":
                held, against = row.low >= -findings.params.margin, row.high < -findings.params.margin
            else:
                wanted = 1 if part.is_ == "more" else -1
                held, against = row.claimed and sign == wanted, row.claimed and sign != wanted
            said.append("held" if held else "against" if against else "open")
            seeds.append(row.seeds)
            words.append(_in_words(part, cell, row.difference, row.low, row.high, claimed=row.claimed))
    outcome: Outcome = "did not hold" if "against" in said else "held" if set(said) == {"held"} else "undecided"
    return Judged(claim, outcome, words, min(seeds))


def _in_words(part: Part, cell: Cell, difference: float, low: float, high: float, *, claimed: bool) -> str:
    where = "without a budget" if cell is None else f"at t = {cell}"
    if part.of == "accuracy":
        figure = f"{points(difference)} points ({interval(low, high)})"
    elif part.of == "tokens":
        figure = f"{signed(difference)} tokens ({interval(low, high, 1)})"
    else:
        figure, where = f"{signed(difference, 2)} in the ratio ({signed(low, 2)} to {signed(high, 2)})", ""
    tail = "" if claimed or part.is_ == "kept" else ", not claimed"
    return f"{' '.join(filter(None, (part.recipe, '−', part.against, where)))}: {figure}{tail}"
