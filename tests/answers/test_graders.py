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
from elastic.answers.verdict import Grade, Verdict
from elastic.contracts.frames import VERDICTS
from elastic.errors import GraderError


def box(text: str) -> str:
    return f"The answer is \\boxed{{{text}}}."


@pytest.fixture(scope="module")
def math() -> Iterator[Grader]:
    with MathGrader(workers=2, seconds=3) as grader:
        yield grader


def test_frames_know_every_verdict() -> None:
    assert [str(verdict) for verdict in Verdict] == VERDICTS


@pytest.mark.parametrize("name", ["exact", "math"])
def test_what_all_graders_do(name: str) -> None:
    solutions = [box("7"), None, "no box", box("8"), box("7"), box("0.50"), box("7") + "<think>", "\\boxed{7"]
    golds = ["7", "7", "7", "7", "8", "1/2", "7", "7"]
    with load_grader(name) as grader:
        assert grader.name == name
        assert grader.version
        nothing = Grade(Verdict.NO_ANSWER, None, None)
        assert grader.grade_many(solutions, golds) == [
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
            self.judged: list[tuple[str, str]] = []

        def judge(self, pairs: object) -> list[Verdict]:
            self.judged = list(pairs)  # type: ignore[call-overload]
            return [Verdict.CORRECT] * len(self.judged)

    grader = Counting()
    grades = grader.grade_many([box("1"), "so " + box("1"), box("1"), box("2"), None], ["1", "1", "2", "1", "1"])
    assert grader.judged == [("1", "1"), ("1", "2"), ("2", "1")]
    assert [grade.verdict for grade in grades] == [*[Verdict.CORRECT] * 4, Verdict.NO_ANSWER]


def test_as_many_golds_as_solutions_are_asked_for() -> None:
    with pytest.raises(ValueError, match="shorter"):
        load_grader("exact").grade_many([box("1"), box("2")], ["1"])


@pytest.mark.parametrize("name", ["no_such", "verdict", "graders"])
def test_an_unknown_grader_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(GraderError, match=name):
        load_grader(name)


def test_exact_counts_whatever_it_cannot_settle_as_wrong() -> None:
    grades = load_grader("exact").grade_many([box("x+1"), box("1+x"), box("0.333333")], ["x+1", "x+1", "1/3"])
    assert [grade.verdict for grade in grades] == [Verdict.CORRECT, Verdict.WRONG, Verdict.WRONG]


def test_math_settles_the_plain_majority_without_math_verify_or_a_process() -> None:
    code = """
import sys, psutil
from elastic.answers.graders import load_grader
with load_grader("math") as grader:
    verdicts = [g.verdict for g in grader.grade_many([r"\\boxed{7}", r"\\boxed{8}", None], ["7", "7", "7"])]
    assert verdicts == ["correct", "wrong", "no_answer"], verdicts
    assert not psutil.Process().children()
assert not {"math_verify", "sympy", "torch", "numpy"} & set(sys.modules)
assert "elastic.answers.exact" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_exact_loads_neither_the_other_grader_nor_processes() -> None:
    code = """
import sys
from elastic.answers.graders import load_grader
load_grader("exact").grade_many([r"\\boxed{7}"], ["7"])
assert not {"elastic.answers.math", "elastic.answers.pool", "subprocess", "numpy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("gold", "answer", "correct"),
    [
        (r"\frac{1}{3}", "0.333333", True),
        (r"\frac{1}{3}", "0.3", False),
        (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt{3}}", True),
        ("(x-1)(x+2)", "x^2+x-2", True),
        ("(x-1)(x+2)", "x^2-x-2", False),
        ("2(x+1)", "2x+1", False),
        ("2^{n}", "n^{2}", False),
        (r"2\pi", "2π", True),
        (r"2\pi", "6.28", False),
        ("x=5", "5", True),
        ("x=5", "x=-5", False),
        ("5x-2y=7", "10x-4y=14", True),
        ("5x-2y=7", "5x+2y=7", False),
        (r"\{1,2\}", "2,1", True),
        (r"\{2,5\}", r"\{2\}", False),
        ("(1,2)", "(2,1)", False),
        ("[1,5)", "[1,5]", False),
        (r"\pm 7", "7", False),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", False),
        (r"\binom{5}{2}", "10", True),
        ("3+4i", "3-4i", False),
        (r"60^\circ", "60", True),
        ("12", r"3\cdot 4=12", True),
        ("5", r"\text{nan}", False),
        ("5", r"\frac{0}{0}", False),
        ("8", r"I think \frac{16}{2} or 9", False),
    ],
)
def test_math_compares_what_the_fast_path_leaves(math: Grader, gold: str, answer: str, correct: bool) -> None:
    [grade] = math.grade_many([box(answer)], [gold])
    assert grade.verdict == (Verdict.CORRECT if correct else Verdict.WRONG)


TOWER = r"\frac{7^{\left(7^{\left(7^{\left(7^{7}\right)}-2\right)}\right)}-7}{6}"


HOSTILE = [
    ("3", box(TOWER), {"timeout", "wrong"}),
    (TOWER, box(TOWER), {"correct"}),
    ("4", box(r"10^{10^{10^{10}}\cdot\log_{10}(3)}"), {"timeout", "wrong"}),
    ("2", box("{" * 3000 + "2" + "}" * 3000), {"timeout", "wrong"}),
    ("2", box("(" * 5000 + "2" + ")" * 5000), {"timeout", "wrong"}),
    ("4", box(r"\sqrt{" * 300 + "2" + "}" * 300), {"timeout", "wrong"}),
    ("4", box("1," * 1_000_000), {"timeout", "wrong"}),
    ("4", "1," * 1_000_000, {"no_answer"}),
    ("4", "\\boxed{" * 100_000, {"no_answer"}),
    ("4", box("\x00"), {"wrong"}),
    ("4", box("4\x00"), {"wrong"}),
    ("4", "\x00" + box("4"), {"correct"}),
    ("9", box("9" * 20_000), {"timeout", "wrong"}),
    ("9" * 5000, box("9" * 5000), {"correct"}),
    ("4", box("\ud800"), {"wrong"}),
]


def test_hostile_answers_end_with_a_verdict() -> None:
    golds, solutions, allowed = zip(*HOSTILE, strict=True)
    with MathGrader(workers=2, seconds=1) as grader:
        verdicts = [grade.verdict for grade in grader.grade_many(solutions, golds)]
    assert not {i: verdicts[i] for i in range(len(HOSTILE)) if verdicts[i] not in allowed[i]}


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
    grades = math.grade_many([box(call) for call in calls], ["4"] * len(calls))
    assert {grade.verdict for grade in grades} == {Verdict.WRONG}
    assert not canary.exists()


def test_threads_share_a_grader(math: Grader) -> None:
    answers = [f"x+{i}" for i in range(6)]

    def grade(shift: int) -> list[Verdict]:
        golds = [f"{i + shift}+x" for i in range(6)]
        return [grade.verdict for grade in math.grade_many([box(answer) for answer in answers], golds)]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(grade, [0, 1, 0, 1]))
    assert found == [[Verdict.CORRECT] * 6, [Verdict.WRONG] * 6] * 2


def test_killed_workers_are_replaced(math: Grader) -> None:
    for worker in psutil.Process().children():
        worker.kill()
    grades = math.grade_many([box("y+x"), box("y-x"), box("2x")], ["x+y"] * 3)
    assert [grade.verdict for grade in grades] == [Verdict.CORRECT, Verdict.WRONG, Verdict.WRONG]


def test_closing_ends_the_workers() -> None:
    before = set(psutil.Process().children())
    with MathGrader(workers=2) as grader:
        grader.grade_many([box("y+x")], ["x+y"])
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
        grader.grade_many([box("x+y")], ["y+x"])
