"""Checkpoints that are whole or not there: a marker is written last, and resuming looks for the marker.

The trainer's own search picks the newest folder even when a kill left it half written.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

MARKER = "COMPLETE"


def newest_complete(folder: Path) -> Path | None:
    """The newest complete checkpoint under `folder`; incomplete ones are removed.

    Returns:
        The checkpoint's folder, or None when there is none to resume from.
    """
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rsplit("-", 1)[1]))
    for path in found:
        if not (path / MARKER).exists():
            shutil.rmtree(path)
    complete = [path for path in found if (path / MARKER).exists()]
    return complete[-1] if complete else None


def checkpoint_step(checkpoint: Path | None) -> int:
    """The optimisation step that `checkpoint` was written after; 0 without one."""
    return int(checkpoint.name.rsplit("-", 1)[1]) if checkpoint else 0


class MarkComplete(TrainerCallback):
    """Marks each checkpoint once everything in it is on disk, and keeps the newest two."""

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the marker, then drop what is older than the newest two."""
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir)
        (folder / f"checkpoint-{state.global_step}" / MARKER).touch()
        steps = sorted(int(path.name.rsplit("-", 1)[1]) for path in folder.glob("checkpoint-*"))
        for step in steps[:-2]:
            shutil.rmtree(folder / f"checkpoint-{step}")
