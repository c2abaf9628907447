"""Problem files: JSONL, one object a line with `question` and `answer`.

A file is read whole or refused: every bad row is named by file, line and field, and none is skipped, since a row that
vanishes silently is a problem that its owner believes was used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StrictStr, ValidationError

from elastic.errors import DataError

_NAMED = 20
_REMEDIES = {
    "extra_forbidden": "remove the field, or correct its spelling",
    "missing": "add the field",
}


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value


Filled = Annotated[StrictStr, AfterValidator(_filled)]
Answer = Annotated[Filled, BeforeValidator(_number_as_text)]
Row = TypeVar("Row", bound=BaseModel)


class ProblemRow(BaseModel):
    """One line of a problem file.

    Attributes:
        question: as the model will be asked.
        answer: the gold answer; a number is kept as its shortest decimal text.
        thinking, solution: a demonstration, where there is one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Filled
    answer: Answer
    thinking: StrictStr | None = None
    solution: StrictStr | None = None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no value of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the field {next(n for n in names if names.count(n) > 1)!r} stands twice")
    return fields


def _parse(line: str, where: str, model: type[Row]) -> Row:
    try:
        value = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", where=where, remedy="write one JSON object on each line") from None
    if not isinstance(value, dict):
        raise DataError(
            f"holds a {type(value).__name__}, not an object",
            where=where,
            remedy=f"write {_example(model)} on each line",
        )
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults, remedies = [], []
        for fault in error.errors():
            faults.append(
                f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg'].removeprefix('Value error, ')}"
            )
            remedies.append(_REMEDIES.get(fault["type"], "correct the value"))
        raise DataError("; ".join(faults), where=where, remedy="; ".join(dict.fromkeys(remedies))) from None


def _example(model: type[BaseModel]) -> str:
    fields = [f'"{name}": ...' for name, field in model.model_fields.items() if field.is_required()]
    return f"{{{', '.join(fields)}}}"


def read_problem_file(path: Path) -> Iterator[ProblemRow]:
    """Read a JSONL file of problems; see `read_rows`."""
    return read_rows(path, ProblemRow)


def read_rows(path: Path, model: type[Row]) -> Iterator[Row]:
    """Read a JSONL file, one `model` a line; blank lines are passed over.

    Raises:
        DataError: the file is missing or not UTF-8, or rows are malformed; names file, line and field of each.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(path), remedy="check the path") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise DataError(
            f"not UTF-8: {error.reason}",
            where=f"{path}, line {number}",
            remedy="save the file in UTF-8",
        ) from None
    faults = []
    for position, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = _parse(line, f"{path}, line {position}", model)
            except DataError as fault:
                faults.append(fault)
            else:
                yield row
    if len(faults) == 1:
        raise faults[0]
    if faults:
        named = "\n".join(str(fault) for fault in faults[:_NAMED])
        rest = f"\nand {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
        raise DataError(f"{len(faults)} malformed rows\n{named}{rest}", where=str(path))
