from __future__ import annotations

from elastic.answers.verdict import Verdict
from elastic.rewards.correctness import correctness


def test_only_a_correct_answer_pays_and_an_error_leaves_its_group() -> None:
    assert {verdict.value: correctness(verdict) for verdict in Verdict} == {
        "correct": 1.0,
        "wrong": 0.0,
        "no_answer": 0.0,
        "timeout": 0.0,
        "error": None,
    }
