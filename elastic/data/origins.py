"""Raw rows of a data set: from a mirror folder, the Hugging Face hub, a repository at a commit, or the user's own file.

Rows are read by `datasets`, whichever way they come. A mirror is a folder that ELASTIC_DATA_MIRROR names; when it is
set, nothing is asked of a network. What a file holds is checked against its sha256, a hub against its commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import datasets
import pandas

from elastic.contracts.sources import FileOrigin, HubOrigin, Mirror, RepositoryOrigin, SourceFile
from elastic.errors import DataError

MIRROR = "ELASTIC_DATA_MIRROR"
GITHUB = "https://github.com"
datasets.disable_progress_bars()
_BUILDERS = {".json": "json", ".jsonl": "json", ".parquet": "parquet", ".csv": "csv"}


def _builder(name: str, where: str) -> str:
    suffix = PurePosixPath(name).suffix
    if suffix not in _BUILDERS:
        raise DataError(f"cannot read {name}", where=where, remedy=f"use a file that ends in {', '.join(_BUILDERS)}")
    return _BUILDERS[suffix]


def _read(path: Path, name: str, cache: str, where: str) -> Any:
    """Rows of a local file; `name` tells its format, since a download has lost it."""
    builder = _builder(name, where)
    if builder == "csv":  # `datasets` guesses types, and would make 7 of "007" and null of "None"
        return pandas.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    return datasets.load_dataset(builder, data_files=str(path), split="train", cache_dir=cache)


def _checked(path: Path, sha256: str | None, where: str) -> None:
    """Refuse a file that is not the one that was pinned."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if sha256 is None:
        raise DataError(
            f"nobody has pinned the mirrored file {path.name} yet; its sha256 is {found}",
            where=where,
            remedy="make sure that it is the file you want, and write this as mirror.sha256",
        )
    if found != sha256:
        raise DataError(
            f"wrong revision: {path.name} has the sha256 {found}, not {sha256}",
            where=where,
            remedy="fetch the file at the revision that the source pins; or, if the new one is wanted, pin that",
        )


def _mirrored(mirror: Mirror | None, folder: Path, where: str) -> Path:
    if mirror is None:
        raise DataError(
            "names no file of a mirror",
            where=where,
            remedy=f"add mirror.path and mirror.sha256, or unset {MIRROR} to read it over the network",
        )
    path = folder / mirror.path
    if not path.is_file():
        raise DataError(
            f"the mirror has no file {path}",
            where=where,
            remedy=f"copy it there, or unset {MIRROR} to read it over the network",
        )
    _checked(path, mirror.sha256, where)
    return path


def _pinned(origin: HubOrigin, where: str) -> str:
    if origin.revision is None:
        raise DataError(
            f"the revision of {origin.hub} is not pinned",
            where=where,
            remedy="write the 40 digits of a commit as origin.revision; they stand at "
            f"https://huggingface.co/datasets/{origin.hub}/commits/main",
        )
    return origin.revision


def _downloaded(origin: RepositoryOrigin, mirror: Mirror | None, where: str) -> Path:
    url = f"{GITHUB}/{origin.repository}/raw/{origin.revision}/{origin.path}"
    path = Path(datasets.DownloadManager().download(url))
    if mirror and mirror.sha256:
        _checked(path, mirror.sha256, where)
    return path


def _table(source: SourceFile, catalogue: Path, cache: str, where: str) -> Any:
    """The rows; those of the hub's own files stay in the standard cache of `datasets`, others are read anew."""
    origin, mirror = source.origin, os.environ.get(MIRROR)
    if isinstance(origin, FileOrigin):
        path = Path(origin.file) if "/" in origin.file else catalogue / origin.file
        if not path.is_file():
            raise DataError(f"there is no file {path}", where=where, remedy="put it there, or correct origin.file")
        return _read(path, path.name, cache, where)
    if mirror:
        path = _mirrored(source.mirror, Path(mirror), where)
        return _read(path, path.name, cache, where)
    if isinstance(origin, RepositoryOrigin):
        return _read(_downloaded(origin, source.mirror, where), origin.path, cache, where)
    revision = _pinned(origin, where)
    if origin.files:
        urls = [f"hf://datasets/{origin.hub}@{revision}/{file}" for file in origin.files]
        return datasets.load_dataset(_builder(origin.files[0], where), data_files=urls, split="train")
    return datasets.load_dataset(origin.hub, origin.config, split=origin.split, revision=revision)


def raw_rows(source: SourceFile, catalogue: Path) -> Iterator[dict[str, Any]]:
    """Every raw row, as a mapping from field to value.

    Args:
        source: what to read.
        catalogue: folder of the source's YAML file.

    Raises:
        DataError: the origin cannot be reached or read, is not pinned, or is not what was pinned.
    """
    where = str(catalogue / f"{source.name}.yaml")
    with TemporaryDirectory(prefix="elastic-source-") as cache:
        try:
            table = _table(source, catalogue, cache, where)
        except DataError:
            raise
        except Exception as error:  # hub, network and parsers each have their own families of errors
            remedy = "look at the origin that this file names"
            if not isinstance(source.origin, FileOrigin) and not os.environ.get(MIRROR):
                remedy += f"; without a network, name a folder that holds the data in {MIRROR}"
            raise DataError(f"cannot be read: {type(error).__name__}: {error}", where=where, remedy=remedy) from None
        yield from table
