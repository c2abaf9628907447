r"""Rules of fitness on texts of our own, those that they must take and their look-alikes that they must not."""

from __future__ import annotations

import pytest
from filled_frames import filled

from elastic.contracts.frames import Collected
from elastic.data.fitness import has_no_answer, has_parts, is_proof, is_prose, needs_image, reject_unfit
from elastic.data.ledger import open_ledger


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Prove that there are infinitely many primes.", True),
        ("Let $n > 1$. Show that $n^4 + 4^n$ is composite.", True),
        ("Prove or disprove that every bounded sequence converges.", True),
        ("Let $a$ be odd, and prove that $a^2 - 1$ is divisible by 8.", True),
        ("Show that this number is finite, and determine its average.", False),
        ("Prove that only finitely many exist. Find the largest one.", False),
        ("It can be shown that the limit exists; the census will show that it is 3.", False),
        ("Determine the last moment or prove that there is none.", False),
        ("Find $x$.", False),
    ],
)
def test_proofs(question: str, expected: bool) -> None:
    assert is_proof(question, "1") is expected


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("(a) Find $x$. (b) Find $y$.", "1", True),
        ("(i) Compute the sum. (ii) Show that it is odd.", "1", True),
        ("Solve both.", "(a) 3, (b) 4", True),
        ("Solve both.", "a) 3; b) 4", True),
        ("If f(1) is 3 and f(2) is 4, how much is f(a)+f(b)?", "7", False),
        ("Find the integers with (a) digits in order and (b) an even sum.", "12", False),
        ("Which? (A) Line (B) Circle", r"\text{(B)}", False),
        ("Determine $e(18)$ and $e(19)$.", "$6764$,$10945$", False),
        ("Find the point.", "(a, b)", False),
    ],
)
def test_parts(question: str, answer: str, expected: bool) -> None:
    assert has_parts(question, answer) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Find the area. ![](images/1.png)", True),
        (r"Find the area. \includegraphics[width=3cm]{a.jpg}", True),
        ("See https://example.org/triangle.png and find the area.", True),
        ("In the diagram, $BP$ bisects the angle. Find $x$.", True),
        ("Triangle $ABC$ is divided as shown in the figure, where $XY = 1$.", True),
        ("The diagram below shows a rectangle.", True),
        ("As shown in the figures below, two squares are inscribed.", True),
        ("In the diagram, find $x$. [asy] draw((0,0)--(1,1)); [/asy]", False),
        (r"\includegraphics{a.jpg} \nonessentialimage Find the energy.", False),
        ("It can be shown that the image of $z$ is a circle.", False),
        ("Each selfie has two or three students in the picture.", False),
        ("Give one significant figure. This figure skater turns.", False),
        ("Here is the graph: https://www.desmos.com/calculator/abc", False),
        (r"The rows are shown below. \begin{array}{cc} 1 & 2 \end{array}", False),
    ],
)
def test_images(question: str, expected: bool) -> None:
    assert needs_image(question, "1") is expected


@pytest.mark.parametrize(
    ("answer", "none", "prose"),
    [
        ("", True, False),
        ("  ", True, False),
        ("See solution.", True, False),
        ("Answers may vary", True, False),
        ("N/A", True, False),
        ("proof", True, False),
        ("nano", False, False),
        (r"\text{even}", False, False),
        ("Alice, Bob and Carol", False, False),
        (r"$f(x)=ax+b$, where $b$ is an arbitrary integer", False, False),
        ("Because the sum of the first two of these numbers must always be even, nobody can ever win this game.", False,
         True),
        ("1+" * 300 + "1", False, True),
    ],
)  # fmt: skip
def test_answers(answer: str, none: bool, prose: bool) -> None:
    assert (has_no_answer("", answer), is_prose("", answer)) == (none, prose)


def test_benchmarks_keep_what_has_an_answer_and_are_counted() -> None:
    rows = [
        {"source": source, "role": role, "question": question, "answer": answer}
        for source, role in (("mine", "training"), ("quiz", "test"))
        for question, answer in (("The diagram below shows it.", "1"), ("Prove that it holds.", "1"), ("Find it.", ""))
    ]
    ledger, unfit = reject_unfit(open_ledger(filled(Collected, rows)))
    assert ledger["reason"].to_list() == ["needs an image", "proof", "no answer", None, None, "no answer"]
    assert unfit == {"proof": {"quiz": 1}, "needs an image": {"quiz": 1}}


def test_a_program_needs_tests_and_no_answer() -> None:
    rows = [
        {"source_id": "0", "domain": "code", "question": "Prove that it halts.", "answer": "", "tests": "{}"},
        {"source_id": "1", "domain": "code", "question": "Sort.", "answer": ""},
    ]
    ledger, unfit = reject_unfit(open_ledger(filled(Collected, rows)))
    assert ledger["reason"].to_list() == [None, "no tests"]
    assert unfit == {}
