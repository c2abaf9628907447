r"""How fast answers are graded, against math-verify alone: `ELASTIC_DATA_MIRROR=... python -m bench.grading`.

Each of the 500 golds of MATH500 gets a right answer, which is the gold spelled in another way, and a wrong one, which
is the gold with one figure or letter changed. math-verify alone is what it is by itself: one process that parses both
texts and compares them, each time anew. Ours is grader `math` with nothing kept between answers: the exact rules in
this process and, for what they leave, worker processes. Both sides take turns on the same slice of pairs, so that a
busy machine slows both alike; the table shows medians over the slices.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from elastic.answers.math import MathGrader
from elastic.answers.reading.judge import judge
from elastic.answers.reading.leaves import exact_leaf
from elastic.answers.verdict import Gold, Verdict
from elastic.errors import DataError
from stages.common import exit_with_message

GOLDS = "math/math500.json"
SLICE = 50
# Ours does a slice in a millisecond or two, which is too short to time on a busy machine.
REPEATS = 10

Pair = tuple[str, Gold]


def right_answer(gold: str) -> str:
    """The gold, spelled in another way."""
    spelled = gold.replace("\\frac", "\\dfrac").replace("\\left", "").replace("\\right", "").replace(", ", ",")
    spelled = spelled.replace("\\text{", "\\mathrm{").replace("\\cup", " \\cup ").replace("\\pi", "\\pi ")
    if gold.lstrip("-").isdigit():
        return f"{gold}.0"
    return f"\\, {spelled} \\,"


def wrong_answer(gold: str) -> str:
    """The gold with its last figure, or else its last letter, changed."""
    for kind in (str.isdigit, str.isalpha):
        for place in reversed(range(len(gold))):
            if kind(gold[place]):
                other = str((int(gold[place]) + 1) % 10) if gold[place].isdigit() else chr(ord(gold[place]) ^ 1)
                return gold[:place] + other + gold[place + 1 :]
    raise DataError(f"no figure and no letter to change in {gold!r}", where=GOLDS)


def load_pairs(mirror: Path) -> list[Pair]:
    """One right and one wrong answer for each gold, with the gold."""
    golds = [str(row["answer"]) for row in json.loads((mirror / GOLDS).read_text(encoding="utf-8"))]
    return [(make(gold), Gold(gold)) for gold in golds for make in (right_answer, wrong_answer)]


def math_verify_alone() -> Callable[[list[Pair]], list[bool]]:
    """math-verify in this process, on its defaults but for its timeouts, which no sandboxed grader could use."""
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)

    def compare(pairs: list[Pair]) -> list[bool]:
        return [
            bool(
                verify(
                    parse(f"\\boxed{{{gold.answer}}}", parsing_timeout=None),
                    parse(f"\\boxed{{{answer}}}", parsing_timeout=None),
                    timeout_seconds=None,
                )
            )
            for answer, gold in pairs
        ]

    compare([("1", Gold("1"))])
    return compare


def seconds(work: Callable[[list[Pair]], object], pairs: list[Pair]) -> float:
    """Wall-clock time that `work` takes."""
    start = time.perf_counter()
    work(pairs)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print.

    Raises:
        DataError: no mirror is named.
    """
    mirror = os.environ.get("ELASTIC_DATA_MIRROR")
    if not mirror:
        raise DataError("the golds of MATH500 are needed", remedy="set ELASTIC_DATA_MIRROR to a mirror folder")
    pairs = load_pairs(Path(mirror))
    alone = math_verify_alone()
    settled = [judge(answer, gold, exact_leaf) for answer, gold in pairs]
    plain = [pair for pair, verdict in zip(pairs, settled, strict=True) if verdict is not None]
    with MathGrader() as grader:
        verdicts = grader.judge(pairs)
        expected = [Verdict.CORRECT, Verdict.WRONG] * (len(pairs) // 2)
        theirs = [Verdict.CORRECT if equal else Verdict.WRONG for equal in alone(pairs)]

        def exact(some: list[Pair]) -> None:
            for answer, gold in some:
                judge(answer, gold, exact_leaf)

        rows = []
        for name, work, some in (("all", grader.judge, pairs), ("settled by exact rules", exact, plain)):
            rates = []
            for start in range(0, len(some), SLICE):
                piece = some[start : start + SLICE]
                ours_seconds = seconds(work, piece * REPEATS) / REPEATS
                rates.append((len(piece) / ours_seconds, len(piece) / seconds(alone, piece)))
            ours, other = (statistics.median(side) for side in zip(*rates, strict=True))
            rows.append((name, len(some), ours, other, statistics.median(a / b for a, b in rates)))
    print(f"{len(pairs)} answers; {len(plain) / len(pairs):.1%} settled by exact rules")
    print(f"as expected: grader math {agreement(verdicts, expected)}, math-verify alone {agreement(theirs, expected)}")
    print(f"{'answers':24} {'n':>5} {'ours/s':>9} {'math-verify/s':>14} {'ratio':>7}")
    for name, count, ours, other, ratio in rows:
        print(f"{name:24} {count:5} {ours:9.0f} {other:14.1f} {ratio:7.1f}")
    for (answer, gold), verdict, wanted in zip(pairs, verdicts, expected, strict=True):
        if verdict != wanted:
            print(f"not as expected: {answer!r} for {gold.answer!r}: {verdict}", file=sys.stderr)


def agreement(verdicts: list[Verdict], expected: list[Verdict]) -> str:
    """How many verdicts are as expected."""
    return f"{sum(a == b for a, b in zip(verdicts, expected, strict=True))}/{len(expected)}"


if __name__ == "__main__":
    exit_with_message(main)
