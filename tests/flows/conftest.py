"""A real Prefect server for the whole session, and a small real DVC repository for the flows to run on."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest
from toy_repository import BIN, CURATE, DAG, DECIDE, ROOT, TRAIN, call

# Before any test file imports the flows, and with them Prefect: nothing of a test lands in the repository's history.
_HOME = tempfile.TemporaryDirectory(prefix="prefect-home-")
os.environ["PREFECT_HOME"] = _HOME.name


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DVC repository in which nothing has run."""
    folder = tmp_path_factory.mktemp("sources")
    for name, text in {"dvc.yaml": DAG, "curate.py": CURATE, "train.py": TRAIN, "decide.py": DECIDE}.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "params/laptop.yaml", folder / "params.yaml")
    (folder / "data/raw").mkdir(parents=True)
    (folder / "data/incoming").mkdir()
    (folder / "data/raw/first.jsonl").write_text('{"question": "1+1=?", "answer": "2"}\n', encoding="utf-8")
    assert call("git", "init", "-q", cwd=folder).returncode == 0
    assert call("dvc", "init", "-q", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="session")
def reproduced(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same repository after a plain `dvc repro`."""
    folder = tmp_path_factory.mktemp("reproduced") / "repository"
    shutil.copytree(sources, folder)
    done = call("dvc", "repro", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def repository(reproduced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the reproduced repository of the test's own, as the current folder."""
    folder = tmp_path / "repository"
    shutil.copytree(reproduced, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API address of a real Prefect server."""
    home = tmp_path_factory.mktemp("prefect-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "PREFECT_HOME": str(home), "DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    url = f"http://127.0.0.1:{port}/api"
    with (home / "log").open("w") as log:
        command = [str(BIN / "prefect"), "server", "start", "--no-ui", "--port", str(port)]
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            for _ in range(180):
                try:
                    urllib.request.urlopen(f"{url}/health", timeout=5).close()
                    break
                except (URLError, OSError):
                    assert process.poll() is None, (home / "log").read_text()
                    time.sleep(0.5)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=60)
