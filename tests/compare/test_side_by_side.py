"""Two runs at a time in one DVC repository: a toy DAG with the comparison's stage names, run by its real runner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Each training says that it has begun and waits for the other, which only two at a time can pass.
MEET = """\
import pathlib, sys, time
mine, other = sys.argv[1:]
pathlib.Path("begun-" + mine).touch()
until = time.monotonic() + 120
while not pathlib.Path("begun-" + other).exists():
    if time.monotonic() > until:
        sys.exit("the other run has not begun")
    time.sleep(0.05)
pathlib.Path("model-" + mine).write_text(mine)
"""
COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"


def stage(command: str, deps: list[str], out: str) -> dict[str, Any]:
    return {"cmd": f"{sys.executable} {command}", "deps": deps, "outs": [out]}


def dag() -> dict[str, Any]:
    runs = {"a_1": {"other": "b_1"}, "b_1": {"other": "a_1"}}
    copy = f'-c "{COPY}"'
    return {
        "stages": {
            "check": {"matrix": {"gate": ["bucketed"]}, **stage(f"{copy} world base", ["world"], "base")},
            "sample-base": stage(f"{copy} base traces-base", ["base"], "traces-base"),
            "score-base": stage(f"{copy} traces-base scores-base", ["traces-base"], "scores-base"),
            "train": {"foreach": runs, "do": stage("meet.py ${key} ${item.other}", ["base"], "model-${key}")},
            "sample": {
                "foreach": runs,
                "do": stage(f"{copy} model-${{key}} traces-${{key}}", ["model-${key}"], "traces-${key}"),
            },
            "score": {
                "foreach": runs,
                "do": stage(f"{copy} traces-${{key}} scores-${{key}}", ["traces-${key}"], "scores-${key}"),
            },
            "report": stage(f"{copy} scores-a_1 report", ["scores-a_1", "scores-b_1", "scores-base"], "report"),
        }
    }


def side_by_side(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compare.side_by_side"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "world").write_text("world", encoding="utf-8")
    (tmp_path / "meet.py").write_text(MEET, encoding="utf-8")
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump(dag(), sort_keys=False), encoding="utf-8")
    runs = {name: {"recipe": name[0], "seed": 1, "prev": "base"} for name in ("a_1", "b_1")}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"runs": runs}), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], cwd=tmp_path, check=True)
    return tmp_path


def test_runs_meet_and_every_stage_is_locked_by_itself(toy: Path) -> None:
    first = side_by_side(toy)
    assert first.returncode == 0, first.stdout + first.stderr
    locked = yaml.safe_load((toy / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    parts = [f"{part}@{name}" for part in ("train", "sample", "score") for name in ("a_1", "b_1")]
    assert set(locked) == {"check@bucketed", "sample-base", "score-base", "report", *parts}


def test_a_failed_run_is_named_and_the_other_is_kept(toy: Path) -> None:
    (toy / "meet.py").write_text(MEET + 'if mine == "b_1":\n    sys.exit("no")\n', encoding="utf-8")
    run = side_by_side(toy)
    assert run.returncode == 1
    assert "1 of 2 runs failed: b_1" in run.stderr
    assert (toy / "scores-a_1").exists()
    assert not (toy / "report").exists()
