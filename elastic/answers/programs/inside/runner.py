"""The sandbox's first process: forks a process for each test, confines it, watches it and says how it ended.

It reads the program once and then one test at a time, so that a test's process knows neither other tests nor, ever,
what is expected of it: outputs are compared outside. It runs no code of a program's.

The check source of asserts holds what is expected, so the program's process is forked before that source is read, and
the check runs in a process of its own (elastic/answers/programs/inside/remote.py).
"""

from __future__ import annotations

# The module signal without its enums, whose import would cost every program some milliseconds.
import _signal as signal
import fcntl
import gc
import os
import select
import sys
import time

from .confine import confine, memory_bytes, shield
from .frames import receive, send
from .script import run_script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    Body = Callable[[], None]

THREADS = 64
ERROR_BYTES = 4096
_LOOK_SECONDS = 0.02
_CHUNK = 1 << 16
_HIGH, _HIGHEST = 64, 256


class Setup:
    """What holds for all tests of a program.

    Attributes:
        kind: of the tests, as in elastic/contracts/code_tests.py.
        source: the program.
        entry: the function that is called.
        names: what the program's globals start with.
        seconds, wall: of processor and of wall time, a test.
        memory: bytes above what this process has.
        output: bytes.
    """

    def __init__(self, fields: list[bytes]) -> None:
        self.kind, self.source, self.entry, preamble, *limits = (field.decode() for field in fields)
        self.seconds, self.wall = map(float, limits[:2])
        self.memory, self.output = map(int, limits[2:])
        self.names: dict[str, Any] = {}
        exec(preamble, self.names)


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


class Process:
    """A forked process, watched."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.handle = os.pidfd_open(number)
        # clock_getcpuclockid(3), which Python lacks.
        self.clock = ~number << 3 | 2
        self.own_bytes = memory_bytes("self", 1)
        self.exit_code, self.cpu, self.peak_bytes = 0, 0.0, 0

    def breach(self, setup: Setup) -> str | None:
        """Which limit it is over right now, as far as can be seen from here."""
        if time.clock_gettime(self.clock) > setup.seconds:
            return "cpu"
        if memory_bytes(self.number, 1) > self.own_bytes + setup.memory:
            return "memory"
        if len(os.listdir(f"/proc/{self.number}/task")) > THREADS:
            return "threads"
        return None

    def end(self) -> None:
        """Kill it, and learn what it used."""
        os.kill(self.number, signal.SIGKILL)
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
    setup = Setup(receive(requests))
    if setup.kind != "stdin":
        from .nodes import ListNode, TreeNode

        setup.names |= {"ListNode": ListNode, "TreeNode": TreeNode}
    # Forked processes leave these objects, and the pages that they lie in, alone.
    gc.freeze()
    send(replies)
    while True:
        try:
            test = receive(requests)
        except EOFError:
            return None
        result = _run_check(setup, requests, replies) if setup.kind == "asserts" else _run_test(setup, test[0])
        if callable(result):
            return result
        send(replies, *result, b"clean" if _empty(folder) else b"")


def _run_test(setup: Setup, given: bytes) -> list[bytes] | Body:
    """One test of the kinds stdin and functional: its result, or in the forked process what it is to do."""
    output, errors = Pipe(setup.output), Pipe(ERROR_BYTES)
    if setup.kind == "stdin":
        source = os.memfd_create("input")
        with os.fdopen(os.dup(source), "wb") as file:
            file.write(given)
        os.lseek(source, 0, os.SEEK_SET)
        files = [source, output.writer, errors.writer]
    else:
        # Before the fork, so that only the first test pays for it.
        from .calls import call

        source = os.open(os.devnull, os.O_RDWR)
        files = [source, source, errors.writer, output.writer]
    number = _fork(files, setup)
    if not number:
        if setup.kind == "stdin":
            return lambda: run_script(setup.source, setup.names)
        return lambda: call(setup.source, setup.names, setup.entry, given.decode(), os.fdopen(3, "wb"))
    for descriptor in (source, output.writer, errors.writer):
        os.close(descriptor)
    process = Process(number)
    breach = _watch(process, [process], [output, errors], setup)
    return _result(process, breach, setup, output, errors)


def _run_check(setup: Setup, requests: BinaryIO, replies: BinaryIO) -> list[bytes] | Body:
    """The one test of the kind asserts.

    The check source is asked for, and sent, when the program's process is there: what was read ahead would be in it.
    """
    from .calls import answer, check

    errors, report = Pipe(ERROR_BYTES), Pipe(setup.output)
    nothing = os.open(os.devnull, os.O_RDWR)
    asked, answered = os.pipe(), os.pipe()
    number = _fork([nothing, nothing, errors.writer, asked[0], answered[1]], setup)
    if not number:
        return lambda: answer(setup.source, setup.names, os.fdopen(3, "rb"), os.fdopen(4, "wb"))
    program = Process(number)
    send(replies)
    source, preamble, wanted = (field.decode() for field in receive(requests))
    number = _fork([nothing, nothing, nothing, answered[0], asked[1], report.writer], setup, shielded=True)
    if not number:
        exec(preamble, setup.names)
        files = os.fdopen(4, "wb"), os.fdopen(3, "rb"), os.fdopen(5, "wb")
        return lambda: check(source, setup.names, wanted.split(), *files)
    checker = Process(number)
    for descriptor in (nothing, *asked, *answered, errors.writer, report.writer):
        os.close(descriptor)
    breach = _watch(checker, [program, checker], [report, errors], setup)
    return _result(program, breach, setup, report, errors)


def _fork(files: list[int], setup: Setup, *, shielded: bool = False) -> int:
    """Fork a confined process whose file descriptors are `files`, in order; its number, 0 in the process itself."""
    number = os.fork()
    if not number:
        copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in files]
        for place, descriptor in enumerate(copies):
            os.dup2(descriptor, place)
        os.closerange(len(files), _HIGHEST)
        confine(setup.seconds, setup.memory, shielded=shielded)
    return number


def _watch(awaited: Process, processes: list[Process], pipes: list[Pipe], setup: Setup) -> str | None:
    """Read the pipes until `awaited` has ended or a limit is broken, then end all; which limit that was."""
    poll = select.poll()
    for descriptor in (awaited.handle, *(pipe.reader for pipe in pipes)):
        poll.register(descriptor, select.POLLIN)
    by_reader = {pipe.reader: pipe for pipe in pipes}
    deadline = time.monotonic() + setup.wall
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
            breach = processes[0].breach(setup)
    for process in processes:
        process.end()
    for pipe in pipes:
        while pipe.read():
            pass
        os.close(pipe.reader)
    return breach or ("output" if pipes[0].over else None)


def _result(process: Process, breach: str | None, setup: Setup, output: Pipe, errors: Pipe) -> list[bytes]:
    """How a program's process ended: the limit it broke, its exit status, its output and its errors."""
    if breach is None and (process.cpu > setup.seconds or process.exit_code == -signal.SIGXCPU):
        breach = "cpu"
    if breach is None and process.peak_bytes > process.own_bytes + setup.memory:
        breach = "memory"
    return [(breach or "").encode(), str(process.exit_code).encode(), bytes(output.content), bytes(errors.content)]


def _empty(folder: str) -> bool:
    """Remove what a test left; whether the next will find nothing of it."""

    def give_up(error: OSError) -> None:
        raise error

    try:
        for base, folders, files in os.walk(folder, topdown=False, onerror=give_up):
            for name in folders + files:
                path = os.path.join(base, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    os.rmdir(path)
                else:
                    os.unlink(path)
    except (OSError, RecursionError):
        return False
    return True
