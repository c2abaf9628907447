"""Keyword families of reasoning behaviours: what data/behaviours.yaml says, for a person to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from elastic.contracts.params.common import Count, Strict, read_params, validate
from elastic.errors import DataError, ParamsError

BEHAVIOURS = Path("data/behaviours.yaml")
Keyword = Annotated[str, Field(pattern=r"^\S+( \S+)*$")]
FamilyName = Annotated[str, Field(pattern=r"^[a-z][a-z-]*$")]


class KeywordSet(Strict):
    """Families of one language or world.

    Attributes:
        about: which texts they are for.
        families: keywords by behaviour. Case does not count; a space stands for any white space.
    """

    about: Annotated[str, Field(min_length=1)]
    families: Annotated[dict[FamilyName, Annotated[tuple[Keyword, ...], Field(min_length=1)]], Field(min_length=1)]

    @model_validator(mode="after")
    def _in_one_family(self) -> KeywordSet:
        seen: dict[str, str] = {}
        for family, keywords in self.families.items():
            for keyword in keywords:
                if other := seen.get(keyword.lower()):
                    raise ValueError(f"{keyword!r} stands in {family} and in {other}, and would be counted in one only")
                seen[keyword.lower()] = family
        return self


class Behaviours(Strict):
    """The whole file.

    Attributes:
        version: raised by whoever edits a keyword; counts of different versions are not comparable.
        sets: by name.
    """

    version: Count
    sets: dict[str, KeywordSet]


def read_behaviours(name: str, path: Path = BEHAVIOURS) -> KeywordSet:
    """The set called `name`.

    Raises:
        DataError: the file is missing or breaks its contract, or has no such set.
    """
    if not path.is_file():
        raise DataError("no such file", where=str(path), remedy=f"name a file like {BEHAVIOURS}")
    try:
        behaviours = validate(Behaviours, read_params(path), where="")
    except ParamsError as error:
        raise DataError(error.what, where=str(path), remedy=f"edit {path} at the keys named above") from None
    if name not in behaviours.sets:
        raise DataError(
            f"there is no set {name!r}", where=str(path), remedy=f"use one of {', '.join(sorted(behaviours.sets))}"
        )
    return behaviours.sets[name]
