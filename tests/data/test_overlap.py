"""Contamination between taught and evaluated problems, by measures worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from elastic.contracts.records import Overlap
from elastic.contracts.sources import NearDuplicates
from elastic.data.overlap import Hit, find_hits, find_overlaps

RULE = NearDuplicates(threshold=0.8, words=2)
# 28 words: 16 runs of 13.
LONG = " ".join(f"{letter}{other}" for letter in "abcdefg" for other in "wxyz")


def _problems(split: str, source: str, *questions: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "split": split,
            "source": source,
            "problem_id": [f"{split}-{number}" for number in range(len(questions))],
            "question": list(questions),
        }
    )


def test_copies_are_found_by_their_text_whatever_their_ids_say() -> None:
    teaching = _problems("teaching", "world", "1+1=?", "2 + 2 = ?")
    training = _problems("training", "mine", "Find X .", "5+5=?")
    validation = _problems("validation", "world", "9+9=?", "find x.")
    test = _problems("test", "world", "２+2=?", "find y.")
    assert find_overlaps([teaching, training], [validation, test], {}, 0.5) == [
        Overlap(
            split="teaching",
            source="world",
            question="2 + 2 = ?",
            met_split="test",
            met_problem_id="test-0",
            met_source="world",
            met_question="２+2=?",
        ),
        Overlap(
            split="training",
            source="mine",
            question="Find X .",
            met_split="validation",
            met_problem_id="validation-1",
            met_source="world",
            met_question="find x.",
        ),
    ]


def test_different_problems_do_not_overlap() -> None:
    assert find_overlaps([_problems("training", "a", "1 2")], [_problems("test", "a", "12")], {}, 0.5) == []
    assert find_overlaps([_problems("training", "a", "1 3")], [_problems("test", "a", "12")], {"a": RULE}, 0.5) == []


def _hit(
    taught: str, evaluated: str, rule: NearDuplicates | None = RULE, share: float = 0.5
) -> tuple[str, float] | None:
    hits = find_hits([taught], [evaluated], [rule], share)
    return (hits[0].measure, hits[0].share) if hits else None


def test_the_first_measure_that_holds_is_told() -> None:
    words = LONG.split()
    assert _hit(LONG.upper(), LONG) == ("same text", 1.0)
    assert _hit(LONG.replace(" ", r"\,"), LONG) == ("same words", 1.0)
    halves = "In a triangle A B C with a = (b + c)/2 and 3 other sides, find the angle of A B"
    assert _hit(halves.replace("A B", "AB").replace("(b + c)/2", r"\frac{b+c}2"), halves) == ("same words", 1.0)
    # One word more: 27 of 28 runs of two.
    assert _hit(f"{LONG} more", LONG) == ("near duplicate", 27 / 28)
    # The last nine words are others: 7 of 16 runs of 13 are left, and with eight 8.
    assert _hit(" ".join(words[:19]), LONG) is None
    assert _hit(" ".join(words[:20]), LONG) is None
    assert _hit(" ".join(words[:21]), LONG) == ("n-grams", 9 / 16)
    assert _hit(" ".join(words[:20]), LONG, share=0.49) == ("n-grams", 8 / 16)


def test_an_evaluated_problem_inside_a_longer_text_is_found() -> None:
    around = " ".join(f"q{word}" for word in LONG.split())
    assert _hit(f"{around} {LONG} {around}", LONG) == ("n-grams", 1.0)


@pytest.mark.parametrize(("count", "run"), [(25, 8), (16, 8), (15, 5), (6, 5)])
def test_short_questions_have_shorter_runs(count: int, run: int) -> None:
    """A text that shares one word less than a run shares nothing; with a run of a question of few runs it is a hit."""
    words = LONG.split()[:count]
    question = " ".join(words)
    assert _hit(f"{' '.join(words[: run - 1])} other words here", question) is None
    shared = run + (count - run + 1) // 2
    assert _hit(f"{' '.join(words[:shared])} and {'quite other words ' * 9}", question) is not None


def test_a_pattern_with_other_figures_is_another_problem() -> None:
    """Until all numbers of the one stand in the other."""
    pattern = "how many ways are there to put {} equal balls into {} equal boxes so that no box is empty"
    assert _hit(pattern.format(5, 3), pattern.format(5, 2)) is None
    assert _hit(pattern.format(5, 2).replace("empty", "left out"), pattern.format(5, 2)) is not None
    assert _hit(pattern.format(5, 2) + " out of 9", pattern.format(5, 2)) is not None


def test_what_a_source_calls_equal_decides_for_its_problems() -> None:
    """Chains differ in a digit; only the evaluated side is asked."""
    chain = "A4 B+3 C-7 D+1 E+2 F-1 G+4=?"
    assert _hit(chain.replace("G+4", "G-4"), chain, None) is None
    assert _hit(chain.replace(" ", r"\,"), chain, None) is None
    assert find_hits([LONG, chain], [chain, f"{LONG} more"], [None, RULE], 0.5) == [
        Hit(0, 1, "near duplicate", 27 / 28),
        Hit(1, 0, "same text", 1.0),
    ]
