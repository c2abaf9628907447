"""Contamination between taught and evaluated problems."""

from __future__ import annotations

import polars as pl

from elastic.contracts.records import Overlap
from elastic.data.overlap import find_overlaps


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
    assert find_overlaps([teaching, training], [validation, test]) == [
        Overlap(
            split="teaching",
            source="world",
            question="2 + 2 = ?",
            met_split="test",
            met_problem_id="test-0",
            met_source="world",
        ),
        Overlap(
            split="training",
            source="mine",
            question="Find X .",
            met_split="validation",
            met_problem_id="validation-1",
            met_source="world",
        ),
    ]


def test_different_problems_do_not_overlap() -> None:
    assert find_overlaps([_problems("training", "a", "1 2")], [_problems("test", "a", "12")]) == []
