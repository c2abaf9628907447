"""A program tried on its tests, in a sandbox of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from elastic.answers.programs.checks import NoCheckError, read_check
from elastic.answers.programs.outputs import any_printed, any_returned
from elastic.answers.programs.preamble import preamble
from elastic.answers.sandbox import Sandbox, SandboxError
from elastic.contracts.code_tests import CodeTests

OUTPUT_BYTES = 16 << 20
_START_SECONDS = 60.0
# How long the runner may be late with what it knows: it waits for a processor as everybody does.
_LATE_SECONDS = 60.0
_OVER_TIME = {"cpu": "over its limit of processor time", "wall": "over its limit of wall time"}
_BREACHES = {
    **_OVER_TIME,
    "memory": "over its limit of memory",
    "output": "over its limit of output",
    "threads": "over its limit of threads",
}


class NoTestsError(ValueError):
    """Tests that judge nothing of a program."""


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Attributes:
        passed: tests that the program passed.
        total: all of its tests, at least one.
        fault: why the first failed test failed; None where all passed.
    """

    passed: int
    total: int
    fault: str | None


def wall_seconds(seconds: float) -> float:
    """How long a test of so many processor seconds may take on a busy machine, or asleep."""
    return 4 * seconds + 2


def try_program(program: str, tests: CodeTests) -> Trial:
    """Run a program on its tests.

    After a test that takes too long the rest is not run and counts as not passed.

    Raises:
        NoTestsError: the check source is no Python, or never calls the program; an argument or result is no JSON.
        SandboxError: the sandbox is at fault.
    """
    if tests.kind == "asserts":
        return _try_check(program, tests)
    if tests.kind == "functional":
        _require_json(tests)
    equal = any_printed if tests.kind == "stdin" else any_returned
    passed, fault = 0, None
    sandbox = None
    try:
        for test in tests.tests:
            sandbox = sandbox or _start(program, tests)
            reply = _ask(sandbox, tests, test.input)
            found = reply.fault
            if found is None and not equal(reply.output, test.outputs):
                found = "another output than expected"
            passed += found is None
            fault = fault or found
            if reply.breach in _OVER_TIME:
                break
            if not reply.clean:
                sandbox.close()
                sandbox = None
    finally:
        if sandbox:
            sandbox.close()
    return Trial(passed, len(tests.tests), fault)


def _require_json(tests: CodeTests) -> None:
    try:
        for test in tests.tests:
            for text in (test.input, *test.outputs):
                json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoTestsError(f"an argument or result is no JSON: {error}") from None


def _try_check(program: str, tests: CodeTests) -> Trial:
    try:
        check = read_check(tests.check or "", tests.entry)
    except NoCheckError as error:
        raise NoTestsError(str(error)) from None
    with _start(program, tests) as sandbox:
        sandbox.tell()
        # Until the program's process is there, nothing of the check may be in the sandbox.
        sandbox.hear(_START_SECONDS)
        reply = _ask(sandbox, tests, check.source, check.preamble, " ".join(check.wanted))
    passed, faults, calls = _read_report(reply.output.splitlines())
    fault = _BREACHES.get(reply.breach) or next(iter(faults), None)
    if calls is None:
        fault = fault or "the check was ended"
    elif fault is None and not calls:
        raise NoTestsError("the check never called the program")
    total = max(check.asserts, passed + max(len(faults), fault is not None), 1)
    return Trial(total if fault is None else passed, total, fault)


def _read_report(lines: Sequence[str]) -> tuple[int, list[str], int | None]:
    """Of a check's report: how many asserts passed, why others did not, and how often the program was called."""
    passed = lines.count("pass")
    faults = [line.removeprefix("fail ") for line in lines if line.startswith("fail ")]
    ended = bool(lines) and lines[-1].startswith("end ")
    return passed, faults, int(lines[-1].removeprefix("end ")) if ended else None


def _start(program: str, tests: CodeTests) -> Sandbox:
    sandbox = Sandbox()
    try:
        limits = (tests.seconds, wall_seconds(tests.seconds), tests.megabytes << 20, OUTPUT_BYTES)
        sandbox.tell(tests.kind, program, tests.entry or "", preamble(program), *map(str, limits))
        sandbox.hear(_START_SECONDS)
    except SandboxError:
        sandbox.close()
        raise
    return sandbox


@dataclass(frozen=True)
class _Reply:
    """What the runner says of one test."""

    breach: str
    exit_code: int
    output: str
    errors: str
    clean: bool

    @property
    def fault(self) -> str | None:
        """Why the test failed, as far as its process tells."""
        if self.breach:
            return _BREACHES[self.breach]
        if self.exit_code < 0:
            return f"ended by signal {-self.exit_code}"
        if self.exit_code:
            return self.errors.strip().rpartition("\n")[2] or f"ended with exit status {self.exit_code}"
        return None


def _ask(sandbox: Sandbox, tests: CodeTests, *request: str) -> _Reply:
    sandbox.tell(*request)
    fields = [field.decode("utf-8", "replace") for field in sandbox.hear(wall_seconds(tests.seconds) + _LATE_SECONDS)]
    breach, exit_code, output, errors, clean = fields
    return _Reply(breach, int(exit_code), output, errors, bool(clean))
