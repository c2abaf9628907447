"""Lengths named in the questions of demonstrations."""

from __future__ import annotations

from itertools import pairwise

from elastic.contracts.params.base import AskedLengths
from elastic.models.tiny import build_tokenizer
from elastic.training.asked_lengths import ask_lengths
from elastic.training.sft import Demonstration

WORDS = [*(str(n) for n in range(100)), *"+-=?", "take", "\\boxed{", "}", *"ABC"]
# thinking B 4 + 3 = 7 is 6 tokens, solution \boxed{ 7 } is 3, and EOS is 1
ROW = Demonstration("A4 B+3=?", "B4+3=7", "\\boxed{7}")


def asked(rows: list[Demonstration], **changed: float) -> list[int | None]:
    """The lengths that were named, None where none was."""
    params = AskedLengths.model_validate(
        {"share": 1.0, "suffix": " take {tokens}", "low": 2, "high": 90, "spread": 0.0, **changed}
    )
    named = ask_lengths(rows, params, build_tokenizer(WORDS, context=64), seed=1)
    assert all(new.question.startswith(old.question) for new, old in zip(named, rows, strict=True))
    assert [(new.thinking, new.solution) for new in named] == [(old.thinking, old.solution) for old in rows]
    return [int(row.question.rpartition("take ")[2]) if "take" in row.question else None for row in named]


def test_without_a_spread_the_true_length_is_named() -> None:
    assert asked([ROW]) == [10]


def test_the_named_length_is_off_by_no_more_than_the_spread() -> None:
    lengths = asked([ROW] * 200, spread=0.3)
    assert {7, 13} <= set(lengths) <= set(range(7, 14))


def test_the_named_length_keeps_within_its_bounds() -> None:
    assert asked([ROW], low=20) == [20]
    assert asked([ROW], high=5) == [5]


def test_only_a_share_is_asked_and_equal_seeds_ask_the_same() -> None:
    first = asked([ROW] * 400, share=0.25)
    assert 0.15 < sum(length is not None for length in first) / 400 < 0.35
    assert first == asked([ROW] * 400, share=0.25)
    assert any(one != next_ for one, next_ in pairwise(first))
