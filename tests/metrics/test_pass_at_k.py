from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.pass_at_k import chance_of_none, mean_at_k, pass_at_k


def answers(**verdicts: str) -> pl.DataFrame:
    """A letter an answer: correct, wrong, no_answer, timeout, error."""
    names = {word[0]: word for word in ("correct", "wrong", "no_answer", "timeout", "error")}
    return pl.DataFrame(
        [{"problem_id": problem, "verdict": names[letter]} for problem, said in verdicts.items() for letter in said]
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_pass_at_k_is_the_share_of_subsets_with_a_correct_answer(k: int) -> None:
    said = {"none": "wnwwtw", "one": "wcwwww", "half": "cwcwcw", "all": "cccccc"}
    found = dict(pass_at_k(answers(**said), k).rows())
    for problem, letters in said.items():
        subsets = list(combinations(letters, k))
        assert found[problem] == pytest.approx(sum("c" in subset for subset in subsets) / len(subsets))


def test_pass_at_1_is_the_mean() -> None:
    frame = answers(b="cwww", a="ccew", c="eee")
    assert mean_at_k(frame).rows() == [("a", 2 / 3), ("b", 0.25)]
    assert pass_at_k(frame, 1).rows() == [("a", pytest.approx(2 / 3)), ("b", 0.25)]


def test_errors_are_left_out_and_a_problem_with_too_few_answers_drops_out() -> None:
    frame = answers(a="cwe", b="cwwe", c="eeee")
    assert pass_at_k(frame, 3).rows() == [("b", 1.0)]
    assert pass_at_k(frame, 2).rows() == [("a", 1.0), ("b", pytest.approx(2 / 3))]


def test_thousands_of_answers_neither_overflow_nor_lose_digits() -> None:
    rare = chance_of_none(np.array([10_000]), np.array([1]), 5_000)
    assert rare == pytest.approx([0.5], rel=1e-9)
    assert chance_of_none(np.array([3]), np.array([1]), 9) == [0.0]


def test_an_impossible_k_is_refused() -> None:
    with pytest.raises(DataError, match="the most are 3"):
        pass_at_k(answers(a="cwe", b="cwwe"), 4)
    with pytest.raises(DataError, match="draws no answer"):
        pass_at_k(answers(a="cw"), 0)
