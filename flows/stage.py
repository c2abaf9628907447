"""One stage, run by DVC in a child process: its lines passed on, and what happened read from what DVC says.

DVC exits with 0 whether a stage ran, was restored from the run cache or was skipped, and with 255 whether the stage
failed or the repository was locked; only its text tells these apart.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from elastic.contracts.records import Record, TrainingOutcome, read_record
from elastic.errors import ElasticError
from flows.dag import is_unchanged
from stages.common import RECORDS

Happened = Literal["ran", "restored", "skipped", "failed"]
TRAINING = Path("reports/training")
_TAIL_LINES = 20
_BUSY = re.compile(r"Unable to acquire lock\.|' is busy, it is being blocked by:")


class StageFailedError(ElasticError):
    """A stage, or DVC on its behalf, failed; the text is the stage's own."""


class RepositoryBusyError(ElasticError):
    """Another DVC process holds the repository or the stage's files; trying again later helps."""


@dataclass(frozen=True)
class Outcome:
    """What became of a stage.

    Attributes:
        stage: as in dvc.yaml.
        happened: it ran, was restored from the run cache, was skipped because nothing it reads changed, or failed.
        seconds: wall time.
        sampled_tokens: from the record that this run wrote, if it wrote one.
        training: how the training of a round went, now or when it last ran.
    """

    stage: str
    happened: Happened
    seconds: float
    sampled_tokens: int | None = None
    training: TrainingOutcome | None = None

    @property
    def words(self) -> str:
        """What happened, for people."""
        return {"restored": "restored from the run cache", "skipped": "skipped, unchanged"}.get(
            self.happened, self.happened
        )


def run_stage(stage: str) -> Outcome:
    """Let DVC reproduce one stage, without its dependencies.

    Raises:
        StageFailedError: with the end of the stage's standard error.
        RepositoryBusyError: DVC could not get its lock.
    """
    began, clock = time.time(), time.monotonic()
    if is_unchanged(stage):
        return Outcome(stage, "skipped", round(time.monotonic() - clock, 2), training=_training(stage))
    happened: Happened = "ran"
    errors: deque[str] = deque(maxlen=_TAIL_LINES)
    process = _start(stage)
    try:
        for is_error, line in _lines(process):
            print(line, file=sys.stderr if is_error else sys.stdout, flush=True)
            if is_error:
                errors.append(line)
            elif line in (f"Stage '{stage}' didn't change, skipping", f"'{stage}' didn't change, skipping"):
                happened = "skipped"
            elif line.startswith(f"Stage '{stage}' is cached - skipping run"):
                happened = "restored"
    finally:
        _end(process)
    if process.returncode:
        raise _fault(stage, list(errors))
    seconds = round(time.monotonic() - clock, 2)
    return Outcome(stage, happened, seconds, _sampled_tokens(stage, since=began), _training(stage))


def _start(stage: str) -> subprocess.Popen[bytes]:
    # The stages' `python` is the one that runs the flow, also where its environment is not activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return subprocess.Popen(
        [sys.executable, "-m", "flows.child", stage],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    process.stdin.close()
    process.wait()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[bool, str]]:
    """The lines of both streams as they come, each with whether it is of standard error.

    Of a progress bar, which redraws one line, only the last state is kept.
    """
    assert process.stdout
    assert process.stderr
    begun: dict[IO[bytes], bytes] = {process.stdout: b"", process.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for pipe in begun:
            selector.register(pipe, selectors.EVENT_READ, data=pipe)
        while selector.get_map():
            for key, _ in selector.select():
                stream: IO[bytes] = key.data
                piece = os.read(key.fd, 1 << 16)
                *lines, begun[stream] = (begun[stream] + piece).split(b"\n")
                if not piece:
                    selector.unregister(stream)
                    lines = [begun[stream]] if begun[stream] else []
                for line in lines:
                    yield stream is process.stderr, line.rstrip(b"\r").rpartition(b"\r")[2].decode(errors="replace")


def _fault(stage: str, errors: list[str]) -> ElasticError:
    # DVC's own line comes last; what a stage may have written about something busy does not count.
    last = next((i for i in reversed(range(len(errors))) if errors[i].startswith("ERROR: ")), len(errors))
    said = "\n".join(errors).strip() or "it failed without a message"
    if any(_BUSY.search(line) for line in errors[last:]):
        return RepositoryBusyError(said, where=stage, remedy="wait for the other DVC process to end, then run again")
    return StageFailedError(
        f"the stage failed\n{said}",
        where=stage,
        remedy="mend what it names and run again; it goes on from this stage",
    )


def _sampled_tokens(stage: str, *, since: float) -> int | None:
    path = RECORDS / f"{stage}.json"
    if not path.exists() or path.stat().st_mtime < since:
        return None
    return read_record(Record, path).sampled_tokens


def _training(stage: str) -> TrainingOutcome | None:
    """How the training of a round went, read from its outputs; None for any other stage."""
    name, _, round_name = stage.partition("@")
    path = TRAINING / round_name / "outcome.json"
    return read_record(TrainingOutcome, path) if name == "train" and path.exists() else None
