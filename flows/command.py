"""What the commands `python -m flows.…` share: how they end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from stages.common import exit_with_message


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def run_command(main: Callable[[], None]) -> None:
    """Run `main`; an error meant for the user, Ctrl-C and SIGTERM end the process with a message, not with a stack.

    An orderly end also stops the temporary server, which SIGTERM by itself would leave running.
    """
    signal.signal(signal.SIGTERM, _stop)
    try:
        exit_with_message(main)
    except KeyboardInterrupt:
        print("stopped; the next run goes on from here", file=sys.stderr, flush=True)
        sys.exit(130)
