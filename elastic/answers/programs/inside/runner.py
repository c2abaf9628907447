"""The sandbox's first process: forks a process for each test, confines it, watches it and says how it ended.

It reads the program once and then one test at a time, so that a test's process knows neither other tests nor, ever,
what is expected of it: outputs are compared outside. It runs no code of a program's.

The check source of asserts holds what is expected, so the program's process is forked before that source is read, and
the check runs in a process of its own (elastic/answers/programs/inside/remote.py).
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from . import bodies
from .confine import confine, memory_bytes, shield
from .frames import receive, send
from .nodes import ListNode, TreeNode

Body = Callable[[], None]

THREADS = 64
ERROR_BYTES = 4096
_LOOK_SECONDS = 0.02
_CHUNK = 1 << 16
_HIGH, _HIGHEST = 64, 256


class Limits(NamedTuple):
    """Of one test: processor and wall seconds, megabytes of memory, bytes of output."""

    seconds: float
    wall: float
    megabytes: int
    output: int


class Pipe:
    """A pipe that this process reads from: what came, and whether it was more than the limit."""

    def __init__(self, limit: int) -> None:
        self.reader, self.writer = os.pipe()
        self.limit = limit
        self.content = bytearray()
        self.over = False

    def read(self) -> bool:
        """Take what is there; false at the end."""
        chunk = os.read(self.reader, _CHUNK)
        self.over = self.over or len(self.content) + len(chunk) > self.limit
        self.content += chunk[: self.limit - len(self.content)]
        return bool(chunk)

    def text(self) -> str:
        """What came."""
        return self.content.decode("utf-8", "replace")


class Process:
    """A forked process, watched."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.handle = os.pidfd_open(number)
        # clock_getcpuclockid(3), which Python lacks.
        self.clock = ~number << 3 | 2
        self.own_bytes = memory_bytes("self", 1)
        self.exit_code, self.cpu, self.peak_bytes = 0, 0.0, 0

    def breach(self, limits: Limits) -> str | None:
        """Which limit it is over right now, as far as can be seen from here."""
        if time.clock_gettime(self.clock) > limits.seconds:
            return "cpu"
        if memory_bytes(self.number, 1) > self.own_bytes + (limits.megabytes << 20):
            return "memory"
        if len(os.listdir(f"/proc/{self.number}/task")) > THREADS:
            return "threads"
        return None

    def end(self) -> None:
        """Kill it, and learn what it used."""
        signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        _, status, usage = os.wait4(self.number, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak_bytes = usage.ru_maxrss << 10
        os.close(self.handle)


def main() -> Body | None:
    """Serve tests over standard input and output.

    Returns:
        In a forked process, what it is to do; it leaves through the interpreter's own end, as any script does.
    """
    requests = os.fdopen(fcntl.fcntl(0, fcntl.F_DUPFD, _HIGH), "rb", closefd=False)
    replies = os.fdopen(fcntl.fcntl(1, fcntl.F_DUPFD, _HIGH), "wb", closefd=False)
    folder = sys.argv[1]
    shield()
    setup = receive(requests)
    limits = Limits(*setup["limits"])
    names: dict[str, Any] = {}
    exec(setup["preamble"], names)
    if setup["kind"] != "stdin":
        names |= {"ListNode": ListNode, "TreeNode": TreeNode}
    send(replies, {"ready": True})
    while True:
        try:
            test = receive(requests)
        except EOFError:
            return None
        if setup["kind"] == "asserts":
            result = _run_check(setup, limits, names, requests)
        else:
            result = _run_test(setup, limits, names, test["input"])
        if callable(result):
            return result
        send(replies, result | {"clean": _empty(folder)})


def _run_test(setup: dict[str, Any], limits: Limits, names: dict[str, Any], given: str) -> Any:
    """One test of the kinds stdin and functional: its result, or in the forked process what it is to do."""
    output, errors = Pipe(limits.output), Pipe(ERROR_BYTES)
    if setup["kind"] == "stdin":
        source = os.memfd_create("input")
        with os.fdopen(os.dup(source), "wb") as file:
            file.write(given.encode("utf-8", "surrogatepass"))
        os.lseek(source, 0, os.SEEK_SET)
        files = [source, output.writer, errors.writer]
        body = partial(bodies.script, setup["source"], names)
    else:
        source = os.open(os.devnull, os.O_RDWR)
        files = [source, source, errors.writer, output.writer]
        body = partial(bodies.call, setup["source"], names, setup["entry"], given, 3)
    number = _fork(files, limits)
    if not number:
        return body
    for descriptor in (source, output.writer, errors.writer):
        os.close(descriptor)
    process = Process(number)
    breach = _watch(process, [process], [output, errors], limits)
    return _result(process, breach, limits, output, errors)


def _run_check(setup: dict[str, Any], limits: Limits, names: dict[str, Any], requests: BinaryIO) -> Any:
    """The one test of the kind asserts."""
    errors, report = Pipe(ERROR_BYTES), Pipe(limits.output)
    nothing = os.open(os.devnull, os.O_RDWR)
    asked, answered = os.pipe(), os.pipe()
    number = _fork([nothing, nothing, errors.writer, asked[0], answered[1]], limits)
    if not number:
        return partial(bodies.answer, setup["source"], names, os.fdopen(3, "rb"), os.fdopen(4, "wb"))
    program = Process(number)
    check = receive(requests)
    number = _fork([nothing, nothing, nothing, answered[0], asked[1], report.writer], limits, shielded=True)
    if not number:
        exec(check["preamble"], names)
        files = os.fdopen(4, "wb"), os.fdopen(3, "rb"), os.fdopen(5, "wb")
        return partial(bodies.check, check["source"], names, check["wanted"], *files)
    checker = Process(number)
    for descriptor in (nothing, *asked, *answered, errors.writer, report.writer):
        os.close(descriptor)
    breach = _watch(checker, [program, checker], [report, errors], limits)
    return _result(program, breach, limits, report, errors)


def _fork(files: list[int], limits: Limits, *, shielded: bool = False) -> int:
    """Fork a confined process whose file descriptors are `files`, in order; its number, 0 in the process itself."""
    number = os.fork()
    if not number:
        copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in files]
        for place, descriptor in enumerate(copies):
            os.dup2(descriptor, place)
        os.closerange(len(files), _HIGHEST)
        confine(limits.seconds, limits.megabytes, shielded=shielded)
    return number


def _watch(awaited: Process, processes: list[Process], pipes: list[Pipe], limits: Limits) -> str | None:
    """Read the pipes until `awaited` has ended or a limit is broken, then end all; which limit that was."""
    poll = select.poll()
    for descriptor in (awaited.handle, *(pipe.reader for pipe in pipes)):
        poll.register(descriptor, select.POLLIN)
    by_reader = {pipe.reader: pipe for pipe in pipes}
    deadline = time.monotonic() + limits.wall
    next_look = time.monotonic() + _LOOK_SECONDS
    breach, ended = None, False
    while not (breach or ended):
        for descriptor, _ in poll.poll(_LOOK_SECONDS * 1000):
            if descriptor == awaited.handle:
                ended = True
            elif not by_reader[descriptor].read():
                poll.unregister(descriptor)
        now = time.monotonic()
        if pipes[0].over:
            breach = "output"
        elif now > deadline:
            breach = "wall"
        elif now > next_look and not ended:
            next_look = now + _LOOK_SECONDS
            breach = processes[0].breach(limits)
    for process in processes:
        process.end()
    for pipe in pipes:
        while pipe.read():
            pass
        os.close(pipe.reader)
    return breach or ("output" if pipes[0].over else None)


def _result(process: Process, breach: str | None, limits: Limits, output: Pipe, errors: Pipe) -> dict[str, Any]:
    """How a program's process ended."""
    if breach is None and (process.cpu > limits.seconds or process.exit_code == -signal.SIGXCPU):
        breach = "cpu"
    if breach is None and process.peak_bytes > process.own_bytes + (limits.megabytes << 20):
        breach = "memory"
    return {"breach": breach, "exit_code": process.exit_code, "output": output.text(), "errors": errors.text()}


def _empty(folder: str) -> bool:
    """Remove what a test left; whether the next will find nothing of it."""
    try:
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
    except (OSError, RecursionError):
        return False
    return True
