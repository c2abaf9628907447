"""Two processes over gloo train as one does: the same update on the same rollouts, every prompt once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from elastic.errors import TrainingError
from elastic.prompts import Prompter

SCRIPT = Path(__file__).with_name("one_of_many.py")
ROOT = Path(__file__).parents[2]


def start(processes: int, *arguments: str) -> None:
    alone = [sys.executable] if processes == 1 else [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes),
    ]  # fmt: skip
    path = os.pathsep.join([str(ROOT), str(SCRIPT.parent)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(
        [*alone, str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]


def weights(folder: Path, rank: int = 0) -> dict[str, torch.Tensor]:
    return torch.load(folder / f"weights-{rank}.pt")


def rows(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "scratch" / "metrics.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Every recipe by one process, and by two that replay what the one sampled."""
    folder = tmp_path_factory.mktemp("processes")
    start(1, str(folder / "one"))
    start(2, str(folder / "two"), str(folder / "one"))
    return folder / "one", folder / "two"


@pytest.mark.parametrize("recipe", ["e1", "alp", "batch"])
def test_two_processes_make_the_update_of_one_on_replayed_rollouts(recipe: str, runs: tuple[Path, Path]) -> None:
    one, two = (folder / recipe for folder in runs)
    for name, value in weights(one).items():
        torch.testing.assert_close(weights(two)[name], value, rtol=1e-4, atol=1e-6)
        assert torch.equal(weights(two)[name], weights(two, 1)[name])
    for mine, other in zip(rows(one), rows(two), strict=True):
        assert mine.keys() == other.keys()
        for key, value in mine.items():
            assert other[key] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)), key


def test_a_live_run_of_two_processes_sees_every_prompt_once_and_in_whole_groups(runs: tuple[Path, Path]) -> None:
    seen = [json.loads((runs[1] / "live" / f"seen-{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)]
    prompts = Counter(tuple(ids) for process in seen for batch in process["rollouts"] for ids in batch)
    assert len(prompts) == 4
    assert set(prompts.values()) == {4}
    assert seen[0]["sampled_tokens"] == seen[1]["sampled_tokens"]


def test_groups_that_would_be_split_over_processes_are_refused_with_the_sizes_that_work(
    prompter: Prompter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parity import fresh, run

    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(TrainingError, match="start one of 1, 2 processes"):
        run(fresh(prompter), prompter, tmp_path)
