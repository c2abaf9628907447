"""Grader `code`: the last fenced block of a solution is run on the tests of its problem, and must pass them all.

The verdict is that of a judge (Elastic Reasoning, section 4.1, and DeepCoder: all or nothing): a program that is over
a limit is wrong. The share of tests that it passed stands beside the verdict. An error is ours: no tests, or a fault of
the sandbox; it is never a pass.

Programs run in sandboxes (elastic/answers/sandbox.py), one each, several at a time.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pydantic import ValidationError

from elastic.answers.graders import Grader, Ruling
from elastic.answers.programs.fences import FENCED
from elastic.answers.programs.trial import NoTestsError, try_program
from elastic.answers.sandbox import UNSANDBOXED, WHERE, SandboxError, refusal, require, unsandboxed
from elastic.answers.verdict import Gold, Verdict
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.errors import GraderError

_log = logging.getLogger(__name__)


class CodeGrader(Grader):
    """Grades programs in Python.

    Args:
        workers: programs at a time; as many as there are processors by default.
    """

    name = "code"
    filters = (FENCED,)

    def __init__(self, *, workers: int | None = None) -> None:
        self.version = f"1, Python {sys.version_info.major}.{sys.version_info.minor}"
        if unsandboxed():
            self.version += ", no sandbox"
        self._workers = workers or len(os.sched_getaffinity(0))
        self._tested = False

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Ruling]:
        """One ruling a pair of (program, gold).

        Raises:
            GraderError: no sandbox can be had, or the self-test fails; names the remedy.
        """
        if not self._tested:
            self_test()
            self._tested = True
        with ThreadPoolExecutor(self._workers) as threads:
            return list(threads.map(lambda pair: rule(*pair), pairs))


def rule(program: str, gold: Gold) -> Ruling:
    """Run one program on the tests of its gold."""
    try:
        tests = CodeTests.from_text(gold.tests or "")
        trial = try_program(program, tests)
    except (ValidationError, NoTestsError) as error:
        _log.error("a problem has no tests that can be run: %s", error)
    except SandboxError as error:
        _log.error("a sandbox failed: %s", error)
    else:
        correct = trial.passed == trial.total
        return Ruling(Verdict.CORRECT if correct else Verdict.WRONG, trial.passed / trial.total)
    return Ruling(Verdict.ERROR, None)


def self_test() -> None:
    """Refuse a machine that cannot run programs safely, or cannot tell a right one from a wrong one.

    Raises:
        GraderError: it is so; names the remedy.
    """
    require()
    if unsandboxed():
        _log.warning("%s=1: PROGRAMS RUN WITHOUT A SANDBOX and can do whatever this user can", UNSANDBOXED)
    tests = CodeTests(kind="stdin", tests=(CodeTest(input="1\n", outputs=("2",)),), seconds=10)
    try:
        right, wrong = (try_program(f"print(int(input()) + {step})\n", tests) for step in (1, 2))
    except SandboxError as error:
        raise refusal(str(error)) from None
    if right.passed != 1 or wrong.passed != 0:
        raise GraderError(
            f"fails its self-test: a right program has {right}, a wrong one {wrong}",
            where=WHERE,
            remedy="run `elastic doctor`; the filter of system calls knows Linux on x86_64 and aarch64",
        )
