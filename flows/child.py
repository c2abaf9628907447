"""The process in which one stage runs: `dvc repro --single-item STAGE` in a process group that ends with the flow.

    python -m flows.child STAGE < LIFELINE

Standard input is a pipe whose other end the flow holds. It closes when the flow stops or dies, even by SIGKILL, and
the whole group then ends: killing `dvc` alone would leave its stage running. No Prefect is imported here.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time

from dvc.cli import main as dvc

GRACE = 10.0


def _end_with_flow(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the stage and exit with DVC's code."""
    # A copy is not inherited: the stage gets an empty input, and the pipe stays ours.
    lifeline = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # A handler, unlike SIG_IGN, is not inherited: the stage ends on SIGTERM, this process when the stage has ended.
    signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=_end_with_flow, args=(lifeline,), daemon=True).start()
    # Its hint to `git add dvc.lock` comes once a process, here once a stage.
    logging.getLogger("dvc.repo.scm_context").setLevel(logging.WARNING)
    sys.exit(dvc(["repro", "--single-item", sys.argv[1]]))


if __name__ == "__main__":
    main()
