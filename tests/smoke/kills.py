"""Ending commands by SIGKILL at random moments, again and again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_LONGEST_WAIT = 0.2
_LONGEST_START = 2.0


class Command:
    """A running command, in a process group of its own."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        with (folder / "killed.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def kill(self) -> int:
        """End the whole group by SIGKILL; the exit code, negative for a signal."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()


def kill_in_a_row(start: Callable[[], Command], committed: Callable[[], int], last: int, *, times: int) -> list[int]:
    """Start `times` times, each time ending it by SIGKILL at a moment drawn from its start on.

    Args:
        start: starts the work, which goes on where it was.
        committed: says how many chunks are committed.
        last: chunks of the whole work; each kill leaves later ones something to end.
        times: how often.

    Returns:
        Chunks that were committed after each kill.
    """
    counts = []
    for left in range(times, 0, -1):
        done = committed()
        wanted = done + random.randint(0, (last - done) // (2 * left))
        process = start()
        while committed() < wanted and not process.ended():
            time.sleep(0.002)
        time.sleep(random.uniform(0, _LONGEST_WAIT if wanted > done else _LONGEST_START))
        assert process.kill() == -signal.SIGKILL, "it had ended before it was killed"
        counts.append(committed())
    return counts
