"""Which Prefect server the flows talk to: the one that PREFECT_API_URL names, else a temporary one of their own.

The temporary server lives as long as the flow, keeps its history in `.prefect/`, and is quiet: a stage's own lines are
what the user reads. Everything is a default that the environment overrides.
"""

from __future__ import annotations

import os
from pathlib import Path

_QUIET = {
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # Nothing is scheduled on a server that ends with the flow.
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_FOREMAN_ENABLED": "false",
    # At the level ERROR, a failing stage's message drowns in tracebacks, and sqlite's busy moments look like faults.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}


def has_own_server() -> bool:
    """Whether the user named a server; its runs also log the stages' lines there."""
    return bool(os.environ.get("PREFECT_API_URL"))


def choose_server() -> None:
    """Set Prefect's defaults for this process and its children; has an effect before Prefect is imported only."""
    os.environ.setdefault("DO_NOT_TRACK", "1")
    if not has_own_server():
        os.environ.setdefault("PREFECT_HOME", str(Path(".prefect").resolve()))
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
