from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from elastic.answers.pool import Ask, RequestBreachError, RequestFaultError, WorkerPool
from elastic.errors import GraderError

WORKER = """
import os, sys, time
from pathlib import Path
from elastic.answers.pool import serve

def load():
    print("loading")
    def handle(request):
        kind, value = request
        print("working", flush=True)
        print("working", file=sys.stderr, flush=True)
        if kind == "pid":
            return os.getpid()
        if kind == "hang":
            time.sleep(60)
        if kind == "busy":
            return 3 ** (3 ** 30)
        if kind == "raise":
            raise ValueError(value)
        if kind == "take":
            return len(bytearray(value))
        if kind == "recurse":
            return handle(request)
        if kind == "die":
            os.kill(os.getpid(), 9)
        if kind == "die once" and not Path(value).exists():
            Path(value).touch()
            os.kill(os.getpid(), 9)
        return value
    return handle

serve(load)
"""


@pytest.fixture(autouse=True)
def workers_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_worker.py").write_text(WORKER, encoding="utf-8")
    (tmp_path / "broken_worker.py").write_text("raise SystemExit('cannot load')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def accept(ask: Ask) -> None:
    assert ask(["echo", 1]) == 1


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool("plain_worker", size=2, seconds=1.0, megabytes=64, check=accept)
    yield pool
    pool.close()
    assert children() == []


def children() -> list[psutil.Process]:
    return psutil.Process().children()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not psutil.pid_exists(pid)


def test_replies_come_in_order_whatever_the_worker_prints(pool: WorkerPool) -> None:
    values = ["a\x00b", "\ud800", "x" * 1_000_000, None, [1, 2]]
    assert pool.map(pool.ask, [["echo", value] for value in values]) == values


def test_no_worker_starts_before_it_is_needed(pool: WorkerPool) -> None:
    assert children() == []
    pool.ask(["echo", 1])
    assert len(children()) == 1


def test_hanging_requests_cost_their_workers_and_never_the_pool(pool: WorkerPool) -> None:
    def ask(request: list[str]) -> str:
        try:
            return str(pool.ask(request))
        except RequestBreachError:
            return "breach"

    requests = [["hang", ""], ["busy", ""], ["hang", ""], ["echo", "here"], ["busy", ""], ["echo", "there"]]
    assert pool.map(ask, requests) == ["breach", "breach", "breach", "here", "breach", "there"]
    assert len(children()) <= 2


def test_memory_is_limited_beyond_what_a_worker_starts_with(pool: WorkerPool) -> None:
    assert pool.ask(["take", 16 * 2**20]) == 16 * 2**20
    with pytest.raises(RequestBreachError):
        pool.ask(["take", 256 * 2**20])
    assert pool.ask(["echo", 1]) == 1


def test_running_out_of_stack_is_the_requests_doing(pool: WorkerPool) -> None:
    with pytest.raises(RequestBreachError):
        pool.ask(["recurse", ""])


def test_a_worker_killed_from_outside_changes_no_reply(pool: WorkerPool, tmp_path: Path) -> None:
    pid = pool.ask(["pid", ""])
    os.kill(pid, 9)
    assert pool.ask(["echo", "idle"]) == "idle"
    assert pool.ask(["die once", str(tmp_path / "died")]) == str(tmp_path / "died")


def test_a_request_that_ends_every_worker_is_a_breach(pool: WorkerPool) -> None:
    with pytest.raises(RequestBreachError, match="two workers"):
        pool.ask(["die", ""])
    assert pool.ask(["echo", 1]) == 1


def test_an_exception_in_a_worker_is_a_fault_and_the_worker_stays(pool: WorkerPool) -> None:
    pid = pool.ask(["pid", ""])
    with pytest.raises(RequestFaultError, match="ValueError: odd"):
        pool.ask(["raise", "odd"])
    assert pool.ask(["pid", ""]) == pid


def test_a_worker_that_cannot_load_is_an_error_that_names_it() -> None:
    pool = WorkerPool("broken_worker", size=2, seconds=1, megabytes=64, check=accept)
    with pytest.raises(GraderError, match="broken_worker"):
        pool.ask(["echo", 1])
    assert children() == []


def test_a_worker_that_fails_its_check_is_refused() -> None:
    def refuse(ask: Ask) -> None:
        raise GraderError("cannot count")

    pool = WorkerPool("plain_worker", size=1, seconds=1, megabytes=64, check=refuse)
    for _ in range(2):
        with pytest.raises(GraderError, match="cannot count"):
            pool.ask(["echo", 1])
    assert children() == []


@pytest.mark.parametrize("last", ["pid", "hang"])
def test_workers_end_when_their_parent_is_killed(last: str) -> None:
    code = f"""
import os, threading, time
from elastic.answers.pool import WorkerPool
pool = WorkerPool("plain_worker", size=1, seconds=1, megabytes=64, check=lambda ask: None)
print(pool.ask(["pid", ""]), flush=True)
threading.Thread(target=pool.ask, args=([{last!r}, ""],)).start()
time.sleep(0.3)
os.kill(os.getpid(), 9)
"""
    parent = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert gone(int(parent.stdout))
