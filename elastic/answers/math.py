r"""Grader `math`: structures and exact rules first, then math-verify in worker processes that can be killed.

What an answer is (a number with a unit, a set, an interval, an equation) is read and compared by
`elastic.answers.reading`; single expressions are settled by exact arithmetic where that is possible. What is left goes
to the same comparison in a worker, where math-verify judges the expressions (`reading/symbolic.py`).

Nothing here imports math-verify but the worker, and no worker starts unless the exact rules abstain on some answer.
The policy is written in docs/grading.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from elastic.answers.filters import FILTERS
from elastic.answers.graders import Grader
from elastic.answers.pool import Ask, RequestBreachError, RequestFaultError, WorkerPool
from elastic.answers.reading.judge import judge
from elastic.answers.reading.leaves import bounded_leaf
from elastic.answers.verdict import Gold, Verdict
from elastic.errors import GraderError

SECONDS = 5.0
MEGABYTES = 512
WORKER = "elastic.answers.reading.symbolic"


class MathGrader(Grader):
    """Grades mathematics as people write it.

    Args:
        workers: processes at most; as many as there are processors by default.
        seconds: wall-clock limit of an answer.
        megabytes: memory an answer may cost its worker.
    """

    name = "math"
    filters = FILTERS

    def __init__(self, *, workers: int | None = None, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> None:
        self.version = f"2, math-verify {version('math-verify')}"
        self._pool = WorkerPool(
            WORKER, size=workers or os.cpu_count() or 1, seconds=seconds, megabytes=megabytes, check=_self_test
        )

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        """One verdict a pair of (answer, gold)."""
        settled = [judge(answer, gold, bounded_leaf()) for answer, gold in pairs]
        open_pairs = [pair for pair, equal in zip(pairs, settled, strict=True) if equal is None]
        slow = iter(self._pool.map(self._ask, open_pairs) if open_pairs else ())
        return [next(slow) if equal is None else _verdict(equal) for equal in settled]

    def _ask(self, pair: tuple[str, Gold]) -> Verdict:
        answer, gold = pair
        try:
            return _verdict(self._pool.ask((answer, gold.answer, gold.policy.to_text(), gold.question)))
        except RequestBreachError:
            return Verdict.TIMEOUT
        except RequestFaultError:
            return Verdict.ERROR

    def close(self) -> None:
        """End the workers."""
        self._pool.close()


def _verdict(equal: bool) -> Verdict:
    return Verdict.CORRECT if equal else Verdict.WRONG


# What only math-verify can tell, and what it must.
_EQUAL = (r"\int_0^1 2x\,dx", "1", None, None)
_DIFFERENT = (r"\int_0^1 2x\,dx", "2", None, None)


def _self_test(ask: Ask) -> Any:
    """Refuse a worker that cannot grade 1 = 1, or that grades 1 = 2 as correct.

    The ones are written as integrals too, so that math-verify itself is asked.

    Raises:
        GraderError: it is so.
    """
    if not (
        ask(("1", "1", None, None)) is True
        and ask(("1", "2", None, None)) is False
        and ask(_EQUAL) is True
        and ask(_DIFFERENT) is False
    ):
        raise GraderError(
            "fails its self-test: it does not find 1 = 1 correct and 1 = 2 wrong",
            where="grader math",
            remedy="install the versions of constraints.txt again",
        )
