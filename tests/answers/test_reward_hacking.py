"""Ways to be paid without having solved the problem, none of which may pay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from elastic.answers.extract import split_output
from elastic.answers.graders import Grader
from elastic.answers.math import MathGrader
from elastic.answers.verdict import Gold, Verdict
from elastic.rewards.correctness import correctness


@pytest.fixture(scope="module")
def math() -> Iterator[Grader]:
    with MathGrader(workers=1, seconds=3) as grader:
        yield grader


def verdict(math: Grader, output: str, gold: str, question: str | None = None) -> Verdict:
    return math.grade_many([split_output(output)], [Gold(gold, question=question)])[0].verdict


def box(text: str) -> str:
    return f"\\boxed{{{text}}}"


@pytest.mark.parametrize(
    ("question", "answer", "gold", "paid"),
    [
        (r"Compute $3\cdot 4 + 5$.", r"3\cdot4+5", "17", False),
        (r"Compute $3\cdot 4 + 5$.", "17", "17", True),
        (r"Compute $3\cdot 4 + 5$.", "12+5", "17", True),
        (r"Evaluate \(\sqrt{144}\).", r"\sqrt{144}", "12", False),
        (r"Expand $(x-1)(x+2)$.", "(x-1)(x+2)", "x^2+x-2", False),
        (r"Expand $(x-1)(x+2)$.", "x^2+x-2", "x^2+x-2", True),
        (r"Factor $x^2+x-2$.", "(x+2)(x-1)", "(x-1)(x+2)", True),
        (r"Factor $x^2+x-2$.", "x^2+x-2", "(x-1)(x+2)", False),
        (r"Which is larger, $x+1$ or $x$?", "x+1", "1+x", True),
        (r"Write $\frac{4}{6}$ in lowest terms.", r"\frac{4}{6}", r"\frac{2}{3}", False),
        (r"A bag holds $\frac{2}{3}$ of them. How many?", r"\frac{2}{3}", "2/3", True),
        (r"Simplify $\frac{12}{7}$ dollars.", "12/7", r"\frac{12}{7}", True),
        (r"Solve $2x+1<7$.", "2x+1<7", "x<3", False),
        (r"Solve $2x+1<7$.", "x<3", "x<3", True),
        (r"Find $x$ if $x+2=5$.", "x+2=5", "x=3", False),
        (r"What is $2^{10}$?", "2^{10}", "1024", False),
        (r"Rewrite $2x - y + 3 = 0$ in slope-intercept form.", "2x-y+3=0", "y=2x+3", False),
        (r"Rewrite $2x - y + 3 = 0$ in slope-intercept form.", "y=2x+3", "y=2x+3", True),
        (r"Find $\binom{5}{2}$.", r"\binom{5}{2}", "10", False),
        (r"Is $12$ or $15$ larger?", "15", "15", True),
    ],
)
def test_an_answer_that_only_restates_the_problem_is_none(
    question: str, answer: str, gold: str, paid: bool, math: Grader
) -> None:
    assert (verdict(math, box(answer), gold, question) is Verdict.CORRECT) is paid


@pytest.mark.parametrize(
    "output",
    [
        box("1") + ", " + box("2") + ", " + box("3"),
        f"Either {box('3')} or {box('4')}.",
        box("3") + " and " + box("4"),
        box("1,2,3"),
        box(r"3 \text{ or } 4"),
        box(r"\{1,2,3\}"),
        box(r"\pm 3"),
        box(r"x \in \{3, 4\}"),
        box("3 = 4"),
        box("4 = 3"),
        box(r"3 \text{ or any other number}"),
        box(r"1,2,\ldots,9"),
        box(r"[3,3]"),
        box(r"x \le 3"),
        box("x"),
        box(r"\text{the answer}"),
        box("3") + " " + box(""),
        box("3") + r" \boxed{",
        "<answer>3</answer> <answer>4</answer>",
        "#### 3\n#### 4",
        "Final answer: 3. Final answer: 4.",
        "The answer is 3 or 4.",
    ],
)
def test_several_values_where_one_is_asked_pay_nothing(output: str, math: Grader) -> None:
    assert verdict(math, output, "3") is not Verdict.CORRECT


@pytest.mark.parametrize("answer", ["A,B,C,D", "ABCD", r"\text{A or B or C or D}", "A/B/C/D", r"(A) (B) (C) (D)"])
def test_a_box_with_every_option_pays_nothing(answer: str, math: Grader) -> None:
    for gold in "ABCD":
        assert verdict(math, box(answer), gold) is not Verdict.CORRECT


def test_a_guessed_mode_without_thinking_pays_where_it_is_right_and_nowhere_else(math: Grader) -> None:
    golds = ["0", "1", "2", r"\frac{1}{2}", "-1", "10", "(0,1)", r"\{0,1\}", "x", r"\text{even}", r"\emptyset"]
    for guess in ("0", "1"):
        outputs = [split_output(f"<think></think>{box(guess)}")] * len(golds)
        rewards = [correctness(grade.verdict) for grade in math.grade_many(outputs, [Gold(gold) for gold in golds])]
        assert rewards == [float(gold == guess) for gold in golds]


def test_only_the_solution_is_graded_never_the_thinking(math: Grader) -> None:
    assert verdict(math, f"<think>{box('3')}</think>I do not know.", "3") is Verdict.NO_ANSWER
    assert verdict(math, f"<think>The answer is 3.</think>{box('4')}", "3") is Verdict.WRONG
    assert verdict(math, f"<think>{box('3')}", "3") is Verdict.NO_ANSWER
