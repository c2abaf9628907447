"""Checkpoints that are whole or not there: a marker is written last, and resuming looks for the marker.

The trainer's own search picks the newest folder even when a kill left it half written.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from transformers import TrainerCallback

MARKER = "COMPLETE"
_REWARD_STATE = "reward_state.json"


class Favourite(Protocol):
    """Knows a checkpoint that must stay."""

    def step(self) -> int | None:
        """Its step, None where there is none."""
        ...


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


def saved_reward_state(checkpoint: Path | None) -> str | None:
    """The state of the reward as it was when `checkpoint` was written; None where there is none."""
    path = checkpoint / _REWARD_STATE if checkpoint else None
    return path.read_text(encoding="utf-8") if path and path.exists() else None


class MarkComplete(TrainerCallback):
    """Marks each checkpoint once everything in it is on disk, and keeps the newest two and the best.

    Args:
        reward_state: the reward's state as text, None where it has none.
        best: knows the best checkpoint so far.
    """

    def __init__(self, reward_state: Callable[[], str | None] = lambda: None, best: Favourite | None = None) -> None:
        self.reward_state, self.best = reward_state, best

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the reward's state and the marker, then drop what is older than the newest two."""
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir)
        written = folder / f"checkpoint-{state.global_step}"
        saved = self.reward_state()
        if saved is not None:
            (written / _REWARD_STATE).write_text(saved, encoding="utf-8")
        (written / MARKER).touch()
        steps = sorted(int(path.name.rsplit("-", 1)[1]) for path in folder.glob("checkpoint-*"))
        spared = self.best.step() if self.best else None
        for step in steps[:-2]:
            if step != spared:
                shutil.rmtree(folder / f"checkpoint-{step}")
