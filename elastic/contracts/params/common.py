"""What every params model shares: strictness, shared kinds of values, and errors that name the key and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from elastic.budget import Budget
from elastic.errors import ElasticError, ParamsError


class Strict(BaseModel):
    """A params block: unknown keys are refused and nothing changes after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _budget(value: Any) -> Any:
    if isinstance(value, Budget):
        return value
    try:
        return Budget.parse(str(value))
    except ElasticError as error:
        raise ValueError(str(error)) from None


BudgetText = Annotated[Budget, BeforeValidator(_budget)]
Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
EngineName = Literal["transformers", "vllm"]
Temperature = Annotated[float, Field(ge=0, le=2)]

_REMEDIES = {
    "extra_forbidden": "remove the key, or correct its spelling",
    "missing": "add the key",
}

Block = TypeVar("Block", bound=BaseModel)


def validate(model: type[Block], values: Any, *, where: str) -> Block:
    """Build `model` from `values`.

    Args:
        model: the params model.
        values: what was read from params.yaml.
        where: dotted name of the block, for the error.

    Raises:
        ParamsError: one line a fault, each with its dotted key and a remedy.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            key = ".".join([where, *(str(part) for part in fault["loc"])]).strip(".")
            single = not isinstance(fault["input"], Mapping)
            got = f"got {fault['input']!r}; change this value" if single else "change these values"
            remedy = _REMEDIES.get(fault["type"], got)
            faults.append(f"{key}: {fault['msg'].removeprefix('Value error, ')} ({remedy})")
        raise ParamsError("; ".join(faults), remedy="edit params.yaml at the keys named above") from None


def read_params(path: Path) -> Mapping[str, Any]:
    """The raw mapping in a params file.

    Raises:
        ParamsError: the file is missing or no YAML mapping.
    """
    if not path.exists():
        raise ParamsError("no such file", where=str(path), remedy="run `elastic profile use laptop`")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ParamsError(f"not valid YAML: {error}", where=str(path), remedy="mend the line named") from None
    if not isinstance(values, dict):
        raise ParamsError("holds no mapping of blocks", where=str(path), remedy="start from a file under params/")
    return values


def block(values: Mapping[str, Any], name: str) -> Any:
    """One block of a params file.

    Raises:
        ParamsError: the block is missing.
    """
    if name not in values:
        raise ParamsError("the block is missing", where=name, remedy="copy it from a profile under params/")
    return values[name]
