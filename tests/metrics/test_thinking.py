"""Answers get the thinking that they were given, and no more."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hand_made_answers import answers

from elastic.errors import DataError
from elastic.metrics.thinking import with_thinking

THINKING = pl.DataFrame(
    {
        "run": ["nested"] * 2,
        "setting": [""] * 2,
        "problem_id": ["a", "b"],
        "sample": [0, 0],
        "think_ids": [[9, 1, 2, 3], [4]],
        "opening": [1, 0],
        "think_text": ["one two three", "four"],
    }
)


def test_a_prefix_is_decoded_once_and_the_whole_is_not() -> None:
    decoded: list[Sequence[int]] = []

    def decode(ids: Sequence[int]) -> str:
        decoded.append(ids)
        return " ".join(map(str, ids))

    rows = answers(
        {"problem_id": "b", "n_think": 1},
        {"problem_id": "a", "n_think": 2},
        {"problem_id": "a", "n_think": 3},
        {"problem_id": "a", "n_think": 2},
    ).drop("think_text")
    found = with_thinking(rows, THINKING, decode)
    assert found["think_text"].to_list() == ["four", "9 1 2", "one two three", "9 1 2"]
    assert found["think_ids"].to_list() == [[4], [9, 1, 2], [9, 1, 2, 3], [9, 1, 2]]
    assert found.drop("think_ids", "think_text").equals(rows)
    assert decoded == [(9, 1, 2)]


@pytest.mark.parametrize("row", [{"problem_id": "c"}, {"problem_id": "b", "n_think": 2}])
def test_lost_thinking_is_an_error(row: dict[str, object]) -> None:
    with pytest.raises(DataError, match="1 answers have not all of their thinking"):
        with_thinking(answers(row).drop("think_text"), THINKING, str)
