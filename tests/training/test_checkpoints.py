"""Only whole checkpoints are resumed from, and logs have no gaps or repeats."""

from __future__ import annotations

import json
from pathlib import Path

from elastic.training.checkpoints import MARKER, checkpoint_step, newest_complete
from elastic.training.steplog import StepLog


def checkpoint(folder: Path, step: int, *, complete: bool) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    (path / "model.safetensors").write_bytes(b"half")
    if complete:
        (path / MARKER).touch()
    return path


def test_a_half_written_checkpoint_is_passed_over_and_removed(tmp_path: Path) -> None:
    whole = checkpoint(tmp_path, 20, complete=True)
    half = checkpoint(tmp_path, 100, complete=False)
    assert newest_complete(tmp_path) == whole
    assert not half.exists()


def test_steps_are_ordered_as_numbers(tmp_path: Path) -> None:
    checkpoint(tmp_path, 90, complete=True)
    newest = checkpoint(tmp_path, 100, complete=True)
    assert newest_complete(tmp_path) == newest
    assert checkpoint_step(newest) == 100


def test_without_a_checkpoint_a_run_starts_at_step_0(tmp_path: Path) -> None:
    assert newest_complete(tmp_path) is None
    assert checkpoint_step(None) == 0


def test_a_resumed_log_drops_the_rows_after_its_checkpoint_and_a_line_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    rows = [{"step": step, "sampled_tokens": 10} for step in (1, 2, 3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 4, "sam', encoding="utf-8")
    log = StepLog(path, keep_until=2)
    log.write(3, {"sampled_tokens": 7})
    assert [json.loads(line)["step"] for line in path.read_text(encoding="utf-8").splitlines()] == [1, 2, 3]
    assert log.sampled_tokens == 27


def test_a_fresh_run_starts_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "sampled_tokens": 10}\n', encoding="utf-8")
    assert StepLog(path, keep_until=0).sampled_tokens == 0
