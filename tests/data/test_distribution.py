"""Figures of hand-made frames, and how far they are from others."""

from __future__ import annotations

import pytest
from filled_frames import filled

from elastic.contracts.distribution import Distribution, FrameFigures
from elastic.contracts.frames import PassRates, Problems, TrainingSet
from elastic.contracts.params.check import DriftBounds
from elastic.data.distribution import bucketed_figures, curated_figures, shifts

BOUNDS = DriftBounds(max_row_change=0.2, max_mean_change=0.1, max_share_distance=0.3)


def test_figures_of_curated_splits_are_counts_lengths_and_shares() -> None:
    rows = [
        {"problem_id": "0" * 16, "question": "xxxx", "answer": "12"},
        {"problem_id": "1" * 16, "question": "xxxxxx", "answer": "1/2"},
        {"problem_id": "2" * 16, "question": "xxxxx", "answer": "", "domain": "code", "tests": "{}", "source": "web"},
        {"problem_id": "3" * 16, "question": "xxxxx", "answer": "13"},
    ]
    figures = curated_figures({"test": filled(Problems, rows), "teaching": filled(Problems, [])})
    assert figures.frames == {
        "test": FrameFigures(
            rows=4,
            means={"question length": 5.0},
            shares={
                "source": {"web": 0.25, "world": 0.75},
                "answer kind": {"code": 0.25, "fraction": 0.25, "integer": 0.5},
            },
        ),
        "teaching": FrameFigures(rows=0, means={}, shares={"source": {}, "answer kind": {}}),
    }


def test_figures_of_probed_problems_show_those_that_were_never_graded() -> None:
    rates = filled(
        PassRates,
        [
            {"problem_id": "a", "correct": 2, "pass_rate": 0.5, "bucket": "hard"},
            {"problem_id": "b", "correct": 4, "pass_rate": 1.0, "bucket": "always"},
            {"problem_id": "c", "graded": 0, "correct": 0, "kept": False},
        ],
    )
    training = filled(TrainingSet, [{"rank": 0, "problem_id": "a", "pass_rate": 0.5, "bucket": "hard"}])
    frames = bucketed_figures(rates, {"training": training}).frames
    assert frames["rates"].means == {"pass rate": 0.75}
    assert frames["rates"].shares["bucket"] == {"always": 0.333333, "hard": 0.333333, "none": 0.333333}
    assert frames["training"].shares == {
        "source": {"world": 1.0},
        "answer kind": {"integer": 1.0},
        "bucket": {"hard": 1.0},
    }


def version(rows: int, length: float, **sources: float) -> Distribution:
    figures = FrameFigures(rows=rows, means={"question length": length}, shares={"source": sources})
    return Distribution(gate="curated", frames={"test": figures})


def test_shifts_are_ratios_and_total_variation_distances() -> None:
    found = shifts(version(100, 20.0, a=0.7, b=0.3), version(110, 15.0, a=0.5, b=0.1, c=0.4), BOUNDS)["test"]
    rows, length, source = found
    assert (rows.value, rows.low, rows.high, rows.detail) == (1.1, 0.8, 1.2, "100, now 110")
    assert (length.value, length.low, length.high) == (0.75, 0.9, 1.1)
    # |0.5 - 0.7| + |0.1 - 0.3| + |0.4 - 0| over two.
    assert (source.value, source.low, source.high) == (0.4, None, 0.3)
    assert source.detail == "c 0.0%, now 40.0%; a 70.0%, now 50.0%; b 30.0%, now 10.0%"


@pytest.mark.parametrize(("then", "now", "ratio"), [(0, 7, 7.0), (7, 0, 0.0)])
def test_rows_that_came_from_nothing_or_went_are_out_of_any_bounds(then: int, now: int, ratio: float) -> None:
    [rows] = shifts(version(then, 1.0, a=1.0), version(now, 1.0, a=1.0), BOUNDS)["test"]
    assert rows.value == ratio
    assert not (rows.low or 0) <= ratio <= rows.high


def test_frames_without_rows_then_and_now_have_nothing_to_compare() -> None:
    assert shifts(version(0, 0.0), version(0, 0.0), BOUNDS) == {}
