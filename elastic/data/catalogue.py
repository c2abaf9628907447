"""The catalogue: one YAML file a data set under data/sources, and what it gives for the frame Collected.

A source that is not what its file says is refused: a raw field that is missing, a row count that has changed, a use
that its licence or its purpose rules out. No row is dropped here but by the file's own filter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, get_args

from elastic.contracts.params.collect import DatasetSource
from elastic.contracts.params.common import read_params, validate
from elastic.contracts.policy import Policy
from elastic.contracts.sources import (
    FileOrigin,
    Filter,
    HubOrigin,
    JoinedSource,
    NearDuplicates,
    SourceFacts,
    SourceFile,
    Use,
)
from elastic.data.readers import code, gpqa, gsm8k, minerva, olympiad, plain, verl
from elastic.errors import DataError, ParamsError

CATALOGUE = Path("data/sources")
_READERS: dict[str, Callable[..., dict[str, Any]]] = {
    "plain": plain.read,
    "gsm8k": gsm8k.read,
    "minerva": minerva.read,
    "olympiad": olympiad.read,
    "verl": verl.read,
    "gpqa": gpqa.read,
}


def load_source(name: str, catalogue: Path = CATALOGUE) -> SourceFile | JoinedSource:
    """Read and validate a source's file.

    Raises:
        DataError: there is none, or it breaks its contract; names file and keys.
    """
    path = catalogue / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in catalogue.glob("*.yaml")))
        raise DataError(
            f"there is no source {name!r}", where=str(path), remedy=f"write that file, or use one of {known}"
        )
    try:
        values = read_params(path)
        source: SourceFile | JoinedSource
        if "parts" in values:
            source = validate(JoinedSource, values, where="")
        else:
            source = validate(SourceFile, values, where="")
    except ParamsError as error:
        raise DataError(error.what, where=str(path), remedy=f"edit {path} at the keys named above") from None
    if source.name != name:
        raise DataError(f"its name is {source.name!r}", where=str(path), remedy="name the file as the source")
    if isinstance(source, SourceFile):
        _check_fields(source, str(path))
    return source


def _check_fields(source: SourceFile, where: str) -> None:
    arguments = dict(inspect.signature(_READERS.get(source.reader, code.read)).parameters)
    if source.reader in code.FORMATS:
        del arguments["format_"], arguments["raw"]
    missing = [name for name, argument in arguments.items() if argument.default is argument.empty]
    missing = [name for name in missing if name not in source.fields]
    unknown = [name for name in source.fields if name not in arguments]
    if missing or unknown:
        raise DataError(
            f"fields: the reader {source.reader} "
            + "; ".join([f"needs {name}" for name in missing] + [f"knows no {name}" for name in unknown]),
            where=where,
            remedy=f"name the raw fields of {', '.join(arguments)}",
        )


def _parts(source: SourceFile | JoinedSource, catalogue: Path) -> list[SourceFile]:
    if isinstance(source, SourceFile):
        return [source]
    parts = [load_source(name, catalogue) for name in source.parts]
    plain_parts = [part for part in parts if isinstance(part, SourceFile)]
    if len(plain_parts) < len(parts):
        raise DataError(
            "one of its parts is a joined source itself",
            where=str(catalogue / f"{source.name}.yaml"),
            remedy="name the sources that it is made of",
        )
    return plain_parts


def _keeps(filter_: Filter | None, raw: Mapping[str, Any], where: str) -> bool:
    if filter_ is None:
        return True
    value = _field(raw, filter_.field, where)
    if filter_.one_of:
        return value in filter_.one_of
    # JSON has no dates, but pyarrow takes text that looks like one for one.
    text = value.isoformat() if isinstance(value, date) else str(value)
    return (filter_.at_least is None or text >= filter_.at_least) and (filter_.below is None or text < filter_.below)


def _field(raw: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in raw:
        raise DataError(
            f"has no field {name!r}, only {', '.join(raw)}",
            where=where,
            remedy="look at what has changed at its origin, and correct the fields in its file",
        )
    return raw[name]


def _check_count(found: int, expected: int | None, where: str) -> None:
    if expected is None:
        raise DataError(
            f"nobody has counted its rows yet; {found} were read",
            where=where,
            remedy=f"make sure that these are the rows you want, and write rows: {found}",
        )
    if found != expected:
        raise DataError(
            f"has {found} rows, not {expected}",
            where=where,
            remedy="look at what has changed at its origin; if the new rows are wanted, correct rows",
        )


def _read(source: SourceFile, catalogue: Path) -> Iterator[dict[str, Any]]:
    """All rows of one file, for the frame Collected but for the role."""
    path = catalogue / f"{source.name}.yaml"
    fixed = {"source": source.name, "licence": source.licence.name, "domain": source.domain}
    written = source.policy.model_dump(exclude_defaults=True)
    count = 0
    from elastic.data.origins import raw_rows  # it loads `datasets`: seconds, for those who read a data set only

    for number, raw in enumerate(raw_rows(source, catalogue)):
        where = f"{path}, row {number}"
        if not _keeps(source.filter, raw, where):
            continue
        values = {argument: _field(raw, name, where) for argument, name in source.fields.items()}
        try:
            is_code = source.reader in code.FORMATS
            row = code.read(source.reader, raw, **values) if is_code else _READERS[source.reader](**values)
            policy = Policy.model_validate(written | row.pop("policy", {}))
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise DataError(
                f"the reader {source.reader} cannot read it: {error}",
                where=where,
                remedy="look at this row; correct fields, or choose another reader",
            ) from None
        if not row["question"].strip():
            raise DataError("has no question", where=where, remedy="correct fields.question, or filter the row out")
        yield {"source_id": str(number), "policy": policy.to_text()} | fixed | row
        count += 1
    _check_count(count, source.rows, str(path))


def read_source(name: str, catalogue: Path = CATALOGUE) -> Iterator[dict[str, Any]]:
    """Rows of a source for the frame Collected, but for the role; nothing is written.

    Raises:
        DataError: the source is not what its file says, or cannot be read.
    """
    source = load_source(name, catalogue)
    if isinstance(source, SourceFile):
        yield from _read(source, catalogue)
        return
    count = 0
    for part in _parts(source, catalogue):
        for row in _read(part, catalogue):
            yield row | {"source": name, "source_id": f"{part.name}/{row['source_id']}"}
            count += 1
    _check_count(count, source.rows, str(catalogue / f"{name}.yaml"))


def _check_use(part: SourceFile, role: str) -> None:
    """Refuse a use that the licence forbids, or that the source is not meant for."""
    where = f"collect.sources.{part.name}"
    wanted = get_args(Use) if role == "any" else (role,)
    if "plain text" in part.licence.forbids:
        raise DataError(
            f"{part.name} must not appear in plain text, and every artifact of the pipeline would show it",
            where=where,
            remedy="take it out of collect.sources; elastic.data.catalogue.read_source reads it and writes nothing",
        )
    if forbidden := [use for use in wanted if use in part.licence.forbids]:
        raise DataError(
            f"its licence ({part.licence.name}) forbids {', '.join(forbidden)}",
            where=f"{where}.role",
            remedy=f"use one of {', '.join(part.uses)}",
        )
    if unfit := [use for use in wanted if use not in part.uses]:
        raise DataError(
            f"{part.name} is no source for {', '.join(unfit)}",
            where=f"{where}.role",
            remedy=f"use one of {', '.join(part.uses)}, or add to uses in its file",
        )


def dataset_rows(wanted: DatasetSource, catalogue: Path = CATALOGUE) -> Iterator[dict[str, Any]]:
    """Rows of a source of the params, but for the role; a limit keeps the first ones, and all are counted.

    Raises:
        DataError: as `read_source`; or the role is one that the source may not have.
    """
    for part in _parts(load_source(wanted.name, catalogue), catalogue):
        _check_use(part, wanted.role)
    for number, row in enumerate(read_source(wanted.name, catalogue)):
        if wanted.limit is None or number < wanted.limit:
            yield row


def _origin(source: SourceFile) -> str:
    origin = source.origin
    if isinstance(origin, FileOrigin):
        return f"the file {origin.file}"
    if isinstance(origin, HubOrigin):
        return f"{origin.hub} on the Hugging Face hub"
    return f"{origin.path} in {origin.repository} on GitHub"


def dataset_facts(wanted: DatasetSource, rows: int, catalogue: Path = CATALOGUE) -> SourceFacts:
    """What later stages are told of a source of which `rows` rows were collected; of a joined one, of all its parts."""
    source = load_source(wanted.name, catalogue)
    parts = _parts(source, catalogue)
    near = [part.near_duplicates for part in parts if isinstance(part.near_duplicates, NearDuplicates)]
    revisions = [part.origin.revision for part in parts if not isinstance(part.origin, FileOrigin)]
    return SourceFacts(
        name=source.name,
        description=source.description,
        origin="; ".join(_origin(part) for part in parts),
        revision="; ".join(str(revision) for revision in revisions) if any(revisions) else None,
        role=wanted.role,
        licence="; ".join(dict.fromkeys(part.licence.name for part in parts)),
        notes="; ".join(dict.fromkeys(part.licence.notes for part in parts if part.licence.notes)),
        forbids=tuple(dict.fromkeys(use for part in parts for use in part.licence.forbids)),
        rows=rows,
        near_duplicates=near[0] if near else None,
        overlaps=tuple(dict.fromkeys(overlap for part in parts for overlap in part.overlaps)),
    )
