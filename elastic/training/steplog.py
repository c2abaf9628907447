"""The log of a training run, one JSON object a line, that survives a kill and a resume without gaps or repeats."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class StepLog:
    """One JSON object a line, a step's own row first; on resume the rows after the checkpoint are dropped.

    Args:
        path: the file.
        keep_until: the step that the run resumes after.

    Attributes:
        sampled_tokens: drawn by rollouts and monitors in all logged steps.
    """

    def __init__(self, path: Path, *, keep_until: int) -> None:
        self.path = path
        rows = self.rows()
        kept = [row for row in rows if row["step"] <= keep_until] if keep_until else []
        self.sampled_tokens = sum(map(_drawn, kept))
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.partial")
        temporary.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
        os.replace(temporary, path)

    def rows(self) -> list[dict[str, Any]]:
        """All rows so far."""
        if not self.path.exists():
            return []
        rows = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                break  # the line that a kill cut short is after the last checkpoint
        return rows

    def write(self, step: int, values: dict[str, Any]) -> None:
        """Append one row."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"step": step, **values}) + "\n")
        self.sampled_tokens += _drawn(values)


def _drawn(row: dict[str, Any]) -> int:
    """Tokens drawn by the rollouts or the monitor of one row."""
    return int(row.get("sampled_tokens", 0) + row.get("monitor_tokens", 0))
