from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from elastic.answers.graders import Grader, load_grader
from elastic.answers.math import MathGrader
from elastic.answers.verdict import Gold, Grade, Verdict
from elastic.contracts.frames import VERDICTS
from elastic.errors import GraderError


def box(text: str) -> str:
    return f"The answer is \\boxed{{{text}}}."


def golds(*answers: str) -> list[Gold]:
    return [Gold(answer) for answer in answers]


@pytest.fixture(scope="module")
def math() -> Iterator[Grader]:
    with MathGrader(workers=2, seconds=3) as grader:
        yield grader


def test_frames_know_every_verdict() -> None:
    assert [str(verdict) for verdict in Verdict] == VERDICTS


@pytest.mark.parametrize("name", ["exact", "math"])
def test_what_all_graders_do(name: str) -> None:
    solutions = [box("7"), None, "No box.", box("8"), box("7"), box("0.50"), box("7") + "<think>", "\\boxed{7"]
    with load_grader(name) as grader:
        assert grader.name == name
        assert grader.version
        nothing = Grade(Verdict.NO_ANSWER, None, None)
        assert grader.grade_many(solutions, golds("7", "7", "7", "7", "8", "1/2", "7", "7")) == [
            Grade(Verdict.CORRECT, "7", "box"),
            nothing,
            nothing,
            Grade(Verdict.WRONG, "8", "box"),
            Grade(Verdict.WRONG, "7", "box"),
            Grade(Verdict.CORRECT, "0.50", "box"),
            nothing,
            nothing,
        ]
        assert grader.grade_many([], []) == []


def test_equal_pairs_are_judged_once() -> None:
    class Counting(Grader):
        name = "counting"
        version = "1"

        def __init__(self) -> None:
            self.judged: list[tuple[str, Gold]] = []

        def judge(self, pairs: object) -> list[Verdict]:
            self.judged = list(pairs)  # type: ignore[call-overload]
            return [Verdict.CORRECT] * len(self.judged)

    grader = Counting()
    grades = grader.grade_many([box("1"), "so " + box("1"), box("1"), box("2"), None], golds("1", "1", "2", "1", "1"))
    assert grader.judged == [("1", Gold("1")), ("1", Gold("2")), ("2", Gold("1"))]
    assert [grade.verdict for grade in grades] == [*[Verdict.CORRECT] * 4, Verdict.NO_ANSWER]


def test_as_many_golds_as_solutions_are_asked_for() -> None:
    with pytest.raises(ValueError, match="shorter"):
        load_grader("exact").grade_many([box("1"), box("2")], golds("1"))


@pytest.mark.parametrize("name", ["no_such", "verdict", "graders"])
def test_an_unknown_grader_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(GraderError, match=name):
        load_grader(name)


def test_exact_counts_whatever_it_cannot_settle_as_wrong() -> None:
    grades = load_grader("exact").grade_many([box("x+1"), box("1+x"), box("0.333333")], golds("x+1", "x+1", "1/3"))
    assert [grade.verdict for grade in grades] == [Verdict.CORRECT, Verdict.WRONG, Verdict.WRONG]


def test_math_settles_the_plain_majority_without_math_verify_or_a_process() -> None:
    code = """
import sys, psutil
from elastic.answers.graders import load_grader
from elastic.answers.verdict import Gold
with load_grader("math") as grader:
    solutions = [r"\\boxed{7}", r"\\boxed{8}", r"\\boxed{\\frac{2}{\\sqrt{2}}\\text{ cm}}", r"\\boxed{(0,1]}", None]
    golds = [Gold("7"), Gold("7"), Gold(r"\\sqrt{2}"), Gold(r"0<x\\le 1"), Gold("7")]
    verdicts = [g.verdict for g in grader.grade_many(solutions, golds)]
    assert verdicts == ["correct", "wrong", "correct", "correct", "no_answer"], verdicts
    assert not psutil.Process().children()
assert not {"math_verify", "sympy", "torch", "numpy"} & set(sys.modules)
assert "elastic.answers.exact" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_exact_loads_neither_the_other_grader_nor_processes() -> None:
    code = """
import sys
from elastic.answers.graders import load_grader
from elastic.answers.verdict import Gold
load_grader("exact").grade_many([r"\\boxed{7}"], [Gold("7")])
assert not {"elastic.answers.reading", "elastic.answers.pool", "subprocess", "numpy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("gold", "answer", "correct"),
    [
        (r"\sin 2x", r"2\sin x\cos x", True),
        (r"\sin 2x", r"2\sin^2 x\cos x", False),
        (r"\int_0^1 2x\,dx", "1", True),
        (r"\int_0^1 2x\,dx", "2", False),
        (r"\{1, \sin 2x\}", r"2\sin x\cos x, 1", True),
        (r"\sum_{k=1}^{3} k", "6", True),
        (r"\sum_{k=1}^{n} k a_k", r"\sum_{k=1}^{n-1} k a_k", False),
        (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}", True),
    ],
)
def test_math_compares_what_the_fast_path_leaves(math: Grader, gold: str, answer: str, correct: bool) -> None:
    [grade] = math.grade_many([box(answer)], golds(gold))
    assert grade.verdict == (Verdict.CORRECT if correct else Verdict.WRONG)


def test_nothing_that_an_answer_says_is_executed(math: Grader, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    calls = [
        f"open('{canary}','w').write('4')",
        rf"\pi*0+open('{canary}','w').write('4')",
        f"__import__('os').system('touch {canary}')",
        "eval('2+2')",
        "().__class__.__bases__[0].__subclasses__()",
        "2 + exec('4')",
    ]
    solutions = [form for call in calls for form in (box(call), f"The answer is {call}", f"<answer>{call}</answer>")]
    grades = math.grade_many(solutions, [Gold("4")] * len(solutions))
    assert {grade.verdict for grade in grades} == {Verdict.WRONG}
    assert not canary.exists()


def test_threads_share_a_grader(math: Grader) -> None:
    answers = [rf"2\sin {n}x\cos {n}x" for n in range(1, 7)]

    def grade(shift: int) -> list[Verdict]:
        wanted = golds(*(rf"\sin {2 * n + shift}x" for n in range(1, 7)))
        return [grade.verdict for grade in math.grade_many([box(answer) for answer in answers], wanted)]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(grade, [0, 1, 0, 1]))
    assert found == [[Verdict.CORRECT] * 6, [Verdict.WRONG] * 6] * 2


SLOW = [box(r"2\sin x\cos x"), box(r"\int_0^1 2x\,dx"), box(r"\sum_{k=1}^{3} k")]
SLOW_GOLDS = golds(r"\sin 2x", "1", "7")
SLOW_VERDICTS = [Verdict.CORRECT, Verdict.CORRECT, Verdict.WRONG]


def test_killed_workers_are_replaced(math: Grader) -> None:
    assert [grade.verdict for grade in math.grade_many(SLOW, SLOW_GOLDS)] == SLOW_VERDICTS
    workers = psutil.Process().children()
    assert workers
    for worker in workers:
        worker.kill()
    assert [grade.verdict for grade in math.grade_many(SLOW, SLOW_GOLDS)] == SLOW_VERDICTS


def test_closing_ends_the_workers() -> None:
    before = set(psutil.Process().children())
    with MathGrader(workers=2) as grader:
        grader.grade_many(SLOW[:1], SLOW_GOLDS[:1])
        assert set(psutil.Process().children()) - before
    assert not set(psutil.Process().children()) - before


@pytest.mark.parametrize("says", ["return False", "return True", "raise ValueError('broken')"])
def test_a_grader_that_cannot_grade_one_equals_one_is_refused(
    says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "math_verify.py").write_text(
        f"def verify(*_, **__):\n    {says}\ndef parse(text, *_, **__):\n    return text\n"
        "class LatexExtractionConfig:\n    def __init__(self, **_):\n        pass\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with MathGrader(workers=1) as grader, pytest.raises(GraderError):
        grader.grade_many(SLOW[:1], SLOW_GOLDS[:1])
