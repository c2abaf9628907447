"""Answers as models write them, each with the verdict that it deserves: 20 kinds, both signs.

`answers.jsonl` names its sources; `answers_more.jsonl` holds more cases of the same kinds. A case marked `ambiguous`
is decided by docs/grading.md, and the expectation in the file is that decision.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from elastic.answers.extract import split_output
from elastic.answers.graders import Grader
from elastic.answers.math import MathGrader
from elastic.answers.verdict import Gold, Verdict

FILES = ("answers.jsonl", "answers_more.jsonl")
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def math() -> Iterator[Grader]:
    with MathGrader(workers=2, seconds=3) as grader:
        yield grader


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", FILES)
def test_every_case_gets_its_verdict(name: str, math: Grader) -> None:
    cases = rows(name)
    golds = [Gold(case["gold"], question=case.get("question")) for case in cases]
    grades = math.grade_many([split_output(case["output"]) for case in cases], golds)
    wrong = {
        case["id"]: (case["why"], case["gold"][:80], grade.answer and grade.answer[:80], grade.verdict)
        for case, grade in zip(cases, grades, strict=True)
        if grade.verdict is Verdict.ERROR or (grade.verdict is Verdict.CORRECT) != case["expect"]
    }
    assert not wrong


def test_each_kind_has_cases_of_both_signs() -> None:
    counts = Counter((case["kind"], case["expect"]) for name in FILES for case in rows(name))
    kinds = {kind for kind, _ in counts}
    assert len(kinds) == 20
    assert not [kind for kind in kinds if min(counts[kind, True], counts[kind, False]) < 3]
    assert not [kind for kind in kinds if counts[kind, True] + counts[kind, False] < 15]


def box(text: str) -> str:
    return f"\\boxed{{{text}}}"


CORRECT, NOT = True, False
HOSTILE: list[tuple[str, str, bool]] = [
    ("4", box("{" * 4000 + "4" + "}" * 4000), CORRECT),
    ("4", box("{" * 4000 + "3" + "}" * 4000), NOT),
    ("4", box("(" * 3000 + "4" + ")" * 3000), CORRECT),
    ("4", box("[" * 3000 + "5" + "]" * 3000), NOT),
    ("4", box("1+" + "(" * 2000 + "3" + ")" * 2000), CORRECT),
    ("4", box(r"\left(" * 500 + "4" + r"\right)" * 499), NOT),
    ("4", box(r"\frac{1}{" * 300 + "4" + "}" * 300), NOT),
    ("4", box(r"\sqrt{" * 2000 + "4" + "}" * 2000), NOT),
    ("4", box(r"\sqrt" * 3000 + "{4}"), NOT),
    ("4", box("x^" * 1500 + "x"), NOT),
    ("4", box("f" + "(" * 1000 + "x" + ")" * 1000), NOT),
    ("4", box("|" * 2000), NOT),
    ("4", box("-" * 5000 + "5"), NOT),
    ("4", box("!" * 3000), NOT),
    ("4", box("1/" * 5000 + "1"), NOT),
    ("4", box("1+" * 20_000 + "1"), NOT),
    ("4", box("1," * 1_000_000), NOT),
    ("4", box("1" * 100_000), NOT),
    ("4", box("\\begin{pmatrix}" * 500 + "1" + "\\end{pmatrix}" * 500), NOT),
    ("4", box("\x00" * 100_000), NOT),
    ("4", "\x00" * 100_000 + box("4"), CORRECT),
    ("4", box(" " * 1_000_000 + "4"), CORRECT),
    ("4", box("\\" * 1_000_000), NOT),
    ("4", box("$" * 100_000), NOT),
    ("4", box("\ud800"), NOT),
    ("4", "The answer is " + "a" * 1_000_000, NOT),
    ("4", "The answer is " * 100_000, NOT),
    ("4", "#### " * 100_000, NOT),
    ("4", "<answer>" * 100_000, NOT),
    ("4", "**" * 300_000, NOT),
    ("4", "\\boxed{" * 100_000, NOT),
    ("4", box("3") * 50_000 + box("4"), CORRECT),
    ("4", ", ".join([box("4")] * 1000), CORRECT),
    ("7" * 100_000, box("7" * 100_000), CORRECT),
    ("7" * 100_000, box("7" * 99_999 + "8"), NOT),
    ("9^{9^{9^{9}}}", box("9^{9^{9^9}}"), CORRECT),
    ("9^{9^{9^{9}}}", box("9^{9^{9^8}}"), NOT),
    ("0", box(r"\frac{1}{9^{9^{9^{9}}}}"), NOT),
    ("4", box("+".join(["(x+1)^{60}"] * 400)), NOT),
    ("4", box("".join(f"(x_{{{n}}}+1)" for n in range(300))), NOT),
    ("4", box("(((x+y+z)^{9})^{9})^{9}"), NOT),
    ("4", box("+".join(f"{n}!" for n in range(2000, 2200))), NOT),
    ("4", box("+".join(f"\\sqrt{{{n}}}" for n in range(999_000, 999_400))), NOT),
    (",".join(f"(x+{n})^9" for n in range(70)), box(",".join(f"(y+{n})^9" for n in range(70))), NOT),
    (",".join(f"x+{n}" for n in range(60)), box(",".join(f"{n}+x" for n in reversed(range(60)))), CORRECT),
    ("4", box("4" + r"\text{ a}" * 3000), NOT),
    ("4", box(r"\pm" * 2000 + "4"), NOT),
    ("4", box("x=" * 3000 + "5"), NOT),
    ("4", box("1<" * 3000 + "x"), NOT),
    ("4", box(r"(0,1)\cup" * 2000 + "(0,1)"), NOT),
    ("A", box("A" * 19_000), NOT),
    ("A", box("(A) " + "B or " * 4000), NOT),
    ("3", box(r"\int_0^{10^{10^{10}}} x^{10^{10}} dx"), NOT),
]


def test_hostile_answers_end_with_their_verdict_within_time_and_memory() -> None:
    golds, solutions, expected = zip(*HOSTILE, strict=True)
    with MathGrader(workers=2, seconds=1) as grader:
        verdicts = [grade.verdict for grade in grader.grade_many(solutions, [Gold(gold) for gold in golds])]
        assert all(worker.memory_info().rss < 2**30 for worker in psutil.Process().children())
    wrong = {
        place: verdict
        for place, (verdict, correct) in enumerate(zip(verdicts, expected, strict=True))
        if verdict is Verdict.ERROR or (verdict is Verdict.CORRECT) != correct
    }
    assert not wrong
