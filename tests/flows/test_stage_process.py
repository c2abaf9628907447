"""One stage under DVC in a child process: what happened is told apart, and nothing outlives the flow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml
from toy_repository import STAGES, call

from elastic.errors import ElasticError
from flows.dag import plan
from flows.stage import StageFailedError, run_stage


def test_the_order_is_that_of_dvc(repository: Path) -> None:
    dry = call("dvc", "repro", "--dry", cwd=repository)
    named = [line.split("'")[1] for line in dry.stdout.splitlines() if line.startswith("Stage")]
    assert sorted(named) == sorted(STAGES)
    assert plan([]) == named
    assert plan(["train@r1"]) == ["collect", "train@r1"]


def test_a_target_that_does_not_exist_is_named(repository: Path) -> None:
    with pytest.raises(ElasticError, match="'train@r9' not found"):
        plan(["train@r9"])


def test_what_happened_to_a_stage_is_told_apart(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_stage("train@r1").happened == "skipped"
    profile = (repository / "params.yaml").read_text(encoding="utf-8")
    changed = yaml.safe_load(profile)
    changed["rounds"]["r1"]["steps"] += 1
    (repository / "params.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    outcome = run_stage("train@r1")
    assert (outcome.happened, outcome.sampled_tokens) == ("ran", 1234)
    assert "trained r1" in capfd.readouterr().out
    (repository / "params.yaml").write_text(profile, encoding="utf-8")
    outcome = run_stage("train@r1")
    assert (outcome.happened, outcome.sampled_tokens) == ("restored", None)


def test_a_failing_stage_raises_its_own_message_also_when_it_speaks_of_something_busy(repository: Path) -> None:
    (repository / "decide.py").write_text("raise SystemExit(\"'/dev/gpu' is busy, it is being blocked by: me\")")
    with pytest.raises(
        StageFailedError, match="decide: the stage failed\n'/dev/gpu' is busy, it is being blocked by: me"
    ):
        run_stage("decide")


def test_killing_the_flow_ends_the_running_stage(repository: Path) -> None:
    script = "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(600)"
    (repository / "slow.py").write_text(script, encoding="utf-8")
    dag = yaml.safe_load((repository / "dvc.yaml").read_text(encoding="utf-8"))
    dag["stages"]["slow"] = {"cmd": "python slow.py"}
    (repository / "dvc.yaml").write_text(yaml.safe_dump(dag), encoding="utf-8")
    with subprocess.Popen([sys.executable, "-c", "from flows.stage import run_stage; run_stage('slow')"]) as flow:
        while not (repository / "pid").exists() or not (repository / "pid").read_text():
            assert flow.poll() is None
            time.sleep(0.1)
        stage = psutil.Process(int((repository / "pid").read_text()))
        os.kill(flow.pid, signal.SIGKILL)
        stage.wait(timeout=30)
    assert not stage.is_running()
