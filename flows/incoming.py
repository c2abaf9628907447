"""New problems on their way in: a file is validated whole, then becomes a version of the raw data, or stays outside.

A version is named after its bytes, `data/raw/<first 12 digits of its sha256>.jsonl`, so a file that comes twice is the
same version; `collect` reads the folder, and DVC sees that it changed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from elastic.contracts.params.collect import FilesSource
from elastic.contracts.params.profile import Profile
from elastic.data.files import read_problem_file
from elastic.errors import DataError, ParamsError
from stages.common import file_digest

INCOMING = Path("data/incoming")
RAW = Path("data/raw")


def waiting() -> list[Path]:
    """The files in `data/incoming/`, by name."""
    return sorted(INCOMING.glob("*.jsonl"))


def require_source(profile: Profile) -> None:
    """Refuse a profile whose sources would never read a new version.

    Raises:
        ParamsError: no source reads the folder of raw files.
    """
    if not any(isinstance(source, FilesSource) and Path(source.folder) == RAW for source in profile.collect.sources):
        raise ParamsError(
            f"no source reads {RAW}, so new problems would be left out",
            where="collect.sources",
            remedy=f"add a source of kind files with the folder {RAW}",
        )


def accept(path: Path) -> tuple[Path, bool]:
    """Make a file a version of the raw data; a file of `data/incoming/` leaves that folder.

    Args:
        path: JSONL rows as `elastic/data/files.py` reads them.

    Returns:
        The version, and whether it is new.

    Raises:
        DataError: a row is malformed (every one is named), or there is none; nothing was changed.
    """
    rows = sum(1 for _ in read_problem_file(path))
    if not rows:
        raise DataError("holds no rows", where=str(path), remedy='write {"question": ..., "answer": ...} on each line')
    digest = file_digest(path)
    version = RAW / f"{digest[:12]}.jsonl"
    is_new = not version.exists()
    if is_new:
        RAW.mkdir(parents=True, exist_ok=True)
        temporary = RAW / f".{version.name}.partial"
        shutil.copyfile(path, temporary)
        if file_digest(temporary) != digest:
            temporary.unlink()
            raise DataError("changed while it was read", where=str(path), remedy="run again when it is complete")
        os.replace(temporary, version)
    if path.resolve().parent == INCOMING.resolve():
        path.unlink()
    return version, is_new
