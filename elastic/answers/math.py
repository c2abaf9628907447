r"""Grader `math`: the fast path first, then math-verify in worker processes that can be killed.

math-verify parses LaTeX into sympy and compares symbolically. It may hang inside big-integer arithmetic, where no
signal of its own would reach it, and signals fail in threads: so it runs without its timeouts, in processes with a
limit of time and memory (`elastic.answers.pool`). Only its LaTeX parser is used; its reader of plain expressions goes
through Python's `eval`.

math-verify's own policy holds where it is asked: units are dropped, decimals agree when they do to 6 places.

Nothing here imports math-verify but the worker, and no worker starts unless the fast path abstains on some answer.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from elastic.answers.compare import canonical, settle
from elastic.answers.graders import Grader
from elastic.answers.pool import Ask, RequestBreachError, RequestFaultError, WorkerPool, serve
from elastic.answers.verdict import Gold, Verdict
from elastic.errors import GraderError

SECONDS = 5.0
MEGABYTES = 512


class MathGrader(Grader):
    """Grades mathematics as people write it.

    Args:
        workers: processes at most; as many as there are processors by default.
        seconds: wall-clock limit of an answer.
        megabytes: memory an answer may cost its worker.
    """

    name = "math"

    def __init__(self, *, workers: int | None = None, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> None:
        self.version = f"1, math-verify {version('math-verify')}"
        self._pool = WorkerPool(
            __name__, size=workers or os.cpu_count() or 1, seconds=seconds, megabytes=megabytes, check=_self_test
        )

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        """One verdict a pair of (answer, gold)."""
        settled = [settle(answer, gold.answer) for answer, gold in pairs]
        open_pairs = [
            (answer, gold.answer) for (answer, gold), equal in zip(pairs, settled, strict=True) if equal is None
        ]
        slow = iter(self._pool.map(self._ask, open_pairs) if open_pairs else ())
        return [next(slow) if equal is None else _verdict(equal) for equal in settled]

    def _ask(self, pair: tuple[str, str]) -> Verdict:
        try:
            return _verdict(self._pool.ask(pair))
        except RequestBreachError:
            return Verdict.TIMEOUT
        except RequestFaultError:
            return Verdict.ERROR

    def close(self) -> None:
        """End the workers."""
        self._pool.close()


def _verdict(equal: bool) -> Verdict:
    return Verdict.CORRECT if equal else Verdict.WRONG


def _self_test(ask: Ask) -> None:
    """Refuse a worker that cannot grade 1 = 1, or that grades 1 = 2 as correct.

    Raises:
        GraderError: it is so.
    """
    if ask(("1", "1")) is not True or ask(("1", "2")) is not False:
        raise GraderError(
            "fails its self-test: it does not find 1 = 1 correct and 1 = 2 wrong",
            where="grader math",
            remedy="install the versions of constraints.txt again",
        )


def _load() -> Ask:
    """What a worker answers: whether the answer equals the gold, by math-verify."""
    from math_verify import LatexExtractionConfig, parse, verify

    # It warns that its own timeouts are off, as they must be.
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    target = [LatexExtractionConfig(boxed_match_priority=0, try_extract_without_anchor=False)]

    def read(text: str) -> list[Any]:
        boxed = f"\\boxed{{{canonical(text)}}}"
        return parse(boxed, target, extraction_mode="first_match", parsing_timeout=None)

    read_gold = lru_cache(maxsize=256)(read)

    def equals(request: Any) -> bool:
        answer, gold = request
        # The order matters: math-verify takes the gold first.
        return bool(verify(read_gold(gold), read(answer), timeout_seconds=None))

    # The first comparison builds the parser: it belongs to the start, not to the limits of somebody's answer.
    equals(("x", "1"))
    return equals


if __name__ == "__main__":
    serve(_load)
