"""The flows on a real Prefect server over a small real DVC repository."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterKey,
    TaskRunFilter,
    TaskRunFilterName,
    TaskRunFilterState,
    TaskRunFilterStateName,
)
from prefect.client.schemas.sorting import ArtifactSort
from prefect.settings import PREFECT_API_URL, temporary_settings
from toy_repository import ROOT, STAGES, call

from elastic.errors import ElasticError
from flows.pipeline import pipeline
from flows.retrain import retrain

pytestmark = pytest.mark.prefect

HOLD_LOCK = "import zc.lockfile; lock = zc.lockfile.LockFile('.dvc/tmp/lock'); print('held', flush=True); input()"


@pytest.fixture(autouse=True)
def _on_the_server(server: str) -> Iterator[None]:
    with temporary_settings({PREFECT_API_URL: server}):
        yield


def _artifact(key: str) -> Any:
    with get_client(sync_client=True) as client:
        newest = client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key])), sort=ArtifactSort.UPDATED_DESC, limit=1
        )
    return newest[0].data


def _happened(outcomes: list[Any]) -> dict[str, str]:
    return {outcome.stage: outcome.happened for outcome in outcomes}


def _lock(folder: Path) -> Any:
    return yaml.safe_load((folder / "dvc.lock").read_text(encoding="utf-8"))


def test_the_flow_gives_the_lock_of_dvc_repro_and_then_skips_everything(
    sources: Path, reproduced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "repository"
    shutil.copytree(sources, folder)
    monkeypatch.chdir(folder)
    assert _happened(pipeline()) == dict.fromkeys(STAGES, "ran")
    assert _lock(folder) == _lock(reproduced)
    assert _artifact("pipeline-summary") == "| model | accuracy |\n"
    tokens = {row["stage"]: row["sampled tokens"] for row in json.loads(_artifact("pipeline-stages"))}
    assert tokens == dict.fromkeys(STAGES) | {"train@r1": 1234, "train@r2": 1234}
    _holds_the_training()

    assert _happened(pipeline()) == dict.fromkeys(STAGES, "skipped")
    assert _lock(folder) == _lock(reproduced)
    table = json.loads(_artifact("pipeline-stages"))
    assert {row["stage"] for row in table} == set(STAGES)
    assert {row["what happened"] for row in table} == {"skipped, unchanged"}
    _holds_the_training()
    with get_client(sync_client=True) as client:
        runs = client.read_task_runs(task_run_filter=TaskRunFilter(name=TaskRunFilterName(any_=["train@r2"])))
    assert {run.state_name for run in runs} == {"Ran", "Skipped"}


def _holds_the_training() -> None:
    """The artifacts show the alert of r2 and how both rounds went, also when nothing was trained this time."""
    alerts = {row["stage"]: row["alerts"] for row in json.loads(_artifact("pipeline-stages"))}
    assert alerts == dict.fromkeys(STAGES) | {"train@r1": "", "train@r2": "step 30: entropy fell"}
    calm, alarmed = _artifact("train-r1"), _artifact("train-r2")
    assert "ALERT" not in calm
    assert "- kept model: that of step 20, the best on the monitor slice" in calm
    assert "- length turned at step: 12" in calm
    assert "**ALERT**: step 30: entropy fell" in alarmed
    assert "- ended early by: alert at step 30: entropy fell" in alarmed


def test_a_failing_stage_fails_the_flow_once_and_the_next_run_goes_on_from_there(repository: Path) -> None:
    decide = (repository / "decide.py").read_text(encoding="utf-8")
    broken = "open('tries', 'a').write('x')\nraise SystemExit('error: scores: no rows')"
    (repository / "decide.py").write_text(broken, encoding="utf-8")
    with pytest.raises(ElasticError, match="decide: the stage failed\nerror: scores: no rows"):
        pipeline()
    assert (repository / "tries").read_text(encoding="utf-8") == "x"
    assert json.loads(_artifact("pipeline-stages"))[-1]["what happened"] == "failed"

    (repository / "decide.py").write_text(decide.replace("r1", "r2"), encoding="utf-8")
    happened = _happened(pipeline())
    assert happened == dict.fromkeys(STAGES, "skipped") | {"decide": "ran"}


def test_the_command_prints_a_failing_stage_s_message_and_not_prefect_s(repository: Path) -> None:
    (repository / "decide.py").write_text("raise SystemExit('error: scores: no rows')", encoding="utf-8")
    done = call(sys.executable, "-m", "flows.pipeline", cwd=repository)
    assert done.returncode == 1
    assert "error: decide: the stage failed\nerror: scores: no rows\n" in done.stderr
    assert len(done.stderr.splitlines()) < 10, done.stderr
    assert "[train@r2] skipped, unchanged" in done.stdout
    assert (repository / ".prefect").exists() is False, "PREFECT_HOME of the environment holds"


def test_bad_params_stop_the_flow_before_any_work(repository: Path) -> None:
    params = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    params["probe"]["samples"] = 1
    (repository / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    shutil.rmtree(repository / "results")
    with pytest.raises(ElasticError, match=r"probe\.samples"):
        pipeline()
    assert not (repository / "results").exists()


def test_a_busy_repository_is_tried_again(repository: Path, server: str) -> None:
    def release_once_the_flow_waits() -> None:
        with SyncPrefectClient(api=server) as client:
            while not client.read_task_runs(
                task_run_filter=TaskRunFilter(
                    state=TaskRunFilterState(name=TaskRunFilterStateName(any_=["AwaitingRetry"]))
                )
            ):
                time.sleep(0.2)
        holder.communicate("\n")

    with subprocess.Popen(
        [sys.executable, "-c", HOLD_LOCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        thread = threading.Thread(target=release_once_the_flow_waits)
        thread.start()
        assert _happened(pipeline(["collect"])) == {"collect": "skipped"}
        thread.join()


def test_retrain_refuses_a_bad_file_and_takes_a_good_one_to_a_decision(repository: Path) -> None:
    good = '{"question": "2+2=?", "answer": "4"}\n{"question": "2+3=?", "answer": "5"}\n'
    bad = repository / "data/incoming/bad.jsonl"
    bad.write_text('{"question": "2+2=?"}\n', encoding="utf-8")
    lock = _lock(repository)
    with pytest.raises(ElasticError, match=r"bad\.jsonl, line 1: answer: Field required"):
        retrain([bad])
    assert bad.exists()
    assert _lock(repository) == lock

    (repository / "data/incoming/good.jsonl").write_text(good, encoding="utf-8")
    with pytest.raises(ElasticError, match=r"bad\.jsonl, line 1"):
        retrain()
    assert [path.name for path in (repository / "data/incoming").iterdir()] == ["bad.jsonl"]
    assert len(list((repository / "data/raw").iterdir())) == 2
    text = _artifact("retrain-decision")
    assert "# Promoted: r1" in text
    assert "| r1 | base | accuracy at 24+20 | +12.5 points | +5.0 to +20.0 | 256 |" in text
    assert "| training, from incoming | 2 | +2 |" in text
    assert "| copy | 1 | +0 |" in text

    bad.unlink()
    assert "nothing new" in retrain()


def test_the_deployments_have_their_schedule_and_one_run_at_a_time(repository: Path, server: str) -> None:
    shutil.copy(ROOT / "prefect.yaml", repository)
    environment = {"PREFECT_API_URL": server}
    pool = call("prefect", "work-pool", "create", "local", "--type", "process", cwd=repository, **environment)
    assert pool.returncode == 0, pool.stderr
    done = call("prefect", "--no-prompt", "deploy", "--all", cwd=repository, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    with get_client(sync_client=True) as client:
        deployments = {d.name: d for d in client.read_deployments()}
    assert set(deployments) == {"pipeline", "retrain"}
    assert [s.schedule.cron for s in deployments["pipeline"].schedules] == ["0 3 * * 1"]
    assert not deployments["retrain"].schedules
    for deployment in deployments.values():
        assert deployment.global_concurrency_limit.limit == 1
        assert deployment.concurrency_options.collision_strategy.value == "ENQUEUE"
        assert deployment.work_pool_name == "local"
