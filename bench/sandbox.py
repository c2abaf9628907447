"""What a sandbox costs: programs per second with it over programs per second without, as medians of interleaved pairs.

    python -m bench.sandbox

Without it, a program is a file that the bare interpreter runs (`python -S FILE`), with no limit and no containment.
With it, a program is judged as in grading: a sandbox of its own, limits, and its output compared. Pairs alternate in
order, one program at a time; then both run on all processors at once.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from elastic.answers.code import self_test
from elastic.answers.programs.trial import try_program
from elastic.contracts.code_tests import CodeTest, CodeTests

PAIRS = 41
BATCH = 24
MOST_MILLISECONDS = 30

_SCRIPT = "import sys\nfrom collections import Counter\nwords = sys.stdin.read().split()\nprint(len(Counter(words)))\n"
_METHOD = """
from typing import List
class Solution:
    def total(self, nums: List[int]) -> int:
        return sum(nums)
"""
_CHECK = """
def check(candidate):
    assert candidate(nums=[1, 2, 3]) == 6
    assert candidate(nums=[]) == 0
    assert candidate(nums=[-1]) == -1
check(Solution().total)
"""


@dataclass(frozen=True)
class Case:
    """A program with its tests, and the same as a file with an input."""

    name: str
    program: str
    tests: CodeTests
    script: str
    given: str = ""


CASES = (
    Case(
        "standard input, one test",
        _SCRIPT,
        CodeTests(kind="stdin", tests=(CodeTest(input="a b a\n", outputs=("2",)),)),
        _SCRIPT,
        "a b a\n",
    ),
    Case("check source", _METHOD, CodeTests(kind="asserts", check=_CHECK), _METHOD + _CHECK),
)


def timed(action: Callable[[], object]) -> float:
    """Seconds that it takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def compare(case: Case, folder: Path) -> float:
    """Print a case's lines; its overhead in milliseconds."""
    path = folder / "program.py"
    path.write_text(case.script, encoding="utf-8")
    interpreter = os.path.realpath(sys.executable)

    def sandboxed(_: int = 0) -> None:
        trial = try_program(case.program, case.tests)
        assert trial.passed == trial.total, trial

    def bare(_: int = 0) -> None:
        subprocess.run([interpreter, "-S", str(path)], input=case.given, text=True, capture_output=True, check=True)

    pairs = []
    for number in range(PAIRS):
        if number % 2:
            with_it, without = timed(sandboxed), timed(bare)
        else:
            without, with_it = timed(bare), timed(sandboxed)
        pairs.append((with_it, without))
    with_it, without = (statistics.median(column) for column in zip(*pairs, strict=True))
    overhead = statistics.median(a - b for a, b in pairs) * 1000
    ratio = statistics.median(b / a for a, b in pairs)
    print(
        f"| {case.name} | one at a time | {1 / with_it:.1f} | {1 / without:.1f} | {ratio:.2f} | {overhead:.1f} ms |",
        flush=True,
    )

    workers = len(os.sched_getaffinity(0))
    rounds = []
    with ThreadPoolExecutor(workers) as threads:
        for _ in range(5):
            sides = [timed(lambda side=side: list(threads.map(side, range(BATCH)))) for side in (sandboxed, bare)]
            rounds.append((BATCH / sides[0], BATCH / sides[1]))
    fast, slow = (statistics.median(column) for column in zip(*rounds, strict=True))
    spent = statistics.median((1 / a - 1 / b) * workers * 1000 for a, b in rounds)
    ratio = statistics.median(a / b for a, b in rounds)
    print(f"| {case.name} | {workers} at a time | {fast:.1f} | {slow:.1f} | {ratio:.2f} | {spent:.1f} ms |", flush=True)
    return overhead


def main() -> None:
    """Print the table."""
    self_test()
    print("| program | run | sandboxed a second | bare a second | ratio | overhead each |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        worst = max(compare(case, Path(folder)) for case in CASES)
    print(f"overhead of a program, one at a time: at most {worst:.1f} ms (wanted: under {MOST_MILLISECONDS} ms)")


if __name__ == "__main__":
    main()
