"""Kinds of gold answers by their spelling."""

from __future__ import annotations

import pytest

from elastic.data.answer_kinds import answer_kind


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        ("integer", ["7", "-12", "+3", "1,234,567", "007"]),
        ("decimal", ["0.5", "-.25", "1,234.5"]),
        ("fraction", ["1/2", "-3/4", r"\frac{1}{2}", r"\dfrac12", "1 1/2", r"\frac{-1}{2}"]),
        ("choice", ["B", "(C)"]),
        ("tuple", ["(1, 2)", "1, 2, 3", r"\left(3, \frac{\pi}{2}\right)", r"\{1, 2\}", "[0,1)", "(a; b)"]),
        ("text", ["Evelyn", r"\text{even}", "west by south"]),
        (
            "expression",
            ["x^2+1", r"\sqrt{2}", "2x", r"\frac{\pi}{2}", "6.02 \\times 10^{23}", "f(1,2)", "50%"],
        ),
        ("none", ["", "  "]),
    ],
)
def test_a_kind_is_told_by_its_spelling(kind: str, answers: list[str]) -> None:
    assert {answer: answer_kind(answer, "math") for answer in answers} == dict.fromkeys(answers, kind)


def test_what_tests_judge_is_code_whatever_its_answer() -> None:
    assert answer_kind("", "code") == answer_kind("7", "code") == "code"
