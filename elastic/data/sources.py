"""Where problems come from: worlds that generate them, folders of files, and data sets of the catalogue.

Every source gives rows for the frame Collected (elastic/contracts/frames.py), as they came: nothing is normalised or
left out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elastic.contracts.params.collect import DatasetSource, FilesSource, GeneratedSource, Source
from elastic.contracts.sources import SourceFacts
from elastic.data.catalogue import dataset_facts, dataset_rows
from elastic.data.files import read_problem_file
from elastic.errors import ParamsError


def _from_files(source: FilesSource) -> Iterator[dict[str, Any]]:
    folder = Path(source.folder)
    if not folder.is_dir():
        raise ParamsError(
            f"no such folder: {folder}",
            where=f"collect.sources.{source.name}.folder",
            remedy="create it (it may stay empty), or correct the path",
        )
    for path in sorted(folder.glob("*.jsonl")):
        for row in read_problem_file(path):
            yield row.model_dump()


def _generated(source: GeneratedSource) -> Iterator[dict[str, Any]]:
    from elastic.data.worlds import generate_rows  # seconds of import, which sources of other kinds do not need

    return generate_rows(source)


def collect_rows(source: Source) -> Iterator[dict[str, Any]]:
    """Rows of one source, in its own order; none for an empty folder.

    Raises:
        ParamsError: the source names a dataset, a configuration or a folder that does not exist.
        DataError: a row is malformed, or a data set is not what its file says.
    """
    if isinstance(source, DatasetSource):
        for row in dataset_rows(source):
            yield {"role": source.role} | row
        return
    rows = _generated(source) if isinstance(source, GeneratedSource) else _from_files(source)
    fixed = {"source": source.name, "role": source.role, "licence": source.licence, "domain": "math"}
    for number, row in enumerate(rows):
        yield fixed | {"source_id": str(number)} | row


def facts_of(source: Source, rows: int) -> SourceFacts:
    """What later stages are told of a source of which `rows` rows were collected.

    Problems of worlds and of the user's own JSONL files are the same problem only when their text is: short questions
    of one pattern would all be near-duplicates of each other.
    """
    if isinstance(source, DatasetSource):
        return dataset_facts(source, rows)
    if isinstance(source, GeneratedSource):
        description, origin = "generated problems", f"drawn from {source.dataset}, seed {source.seed}"
    else:
        description, origin = "problem files", f"files in {source.folder}"
    return SourceFacts(
        name=source.name,
        description=description,
        origin=origin,
        revision=None,
        role=source.role,
        licence=source.licence,
        notes="",
        forbids=(),
        rows=rows,
        near_duplicates=None,
        overlaps=(),
    )
