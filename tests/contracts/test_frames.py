"""Borders between stages: what breaks a contract is refused with the file's name, however it comes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from elastic.contracts.frames import PassRates, Traces, check_frame, read_frame, write_frame
from elastic.errors import DataError

RATES = {
    "problem_id": ["a", "b"],
    "source": ["world", "world"],
    "samples": [4, 4],
    "graded": [4, 4],
    "correct": [4, 1],
    "pass_rate": [1.0, 0.25],
}


def rates(**changes: list) -> pl.DataFrame:  # type: ignore[type-arg]
    return pl.DataFrame({**RATES, "bucket": ["always", "hard"], "kept": [True, True], **changes})


def traces(**changes: object) -> pl.DataFrame:
    row = {
        "problem_id": "a",
        "split": "test",
        "model": "base",
        "method": "separate",
        "think_budget": 2,
        "solution_budget": 3,
        "limit": None,
        "sample": 0,
        "prompt_ids": [7],
        "think_ids": [8, 9],
        "solution_ids": [6, 1],
        "n_think": 2,
        "n_solution": 2,
        "closed": "forced",
        "finish": "eos",
        "think_text": "",
        "solution_text": "",
        **changes,
    }
    integers = ("think_budget", "solution_budget", "limit")
    return pl.DataFrame([row], schema_overrides=dict.fromkeys(integers, pl.Int64), strict=False)


def test_a_good_frame_is_written_and_read_back(tmp_path: Path) -> None:
    write_frame(PassRates, rates(), tmp_path / "rates.parquet")
    assert read_frame(PassRates, tmp_path / "rates.parquet").equals(rates())


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"pass_rate": [1.0, 1.5]}, "pass_rate"),
        ({"problem_id": ["a", "a"]}, "problem_id"),
        ({"bucket": ["always", ""]}, "bucket"),
        ({"samples": [4, 1]}, "samples"),
        ({"correct": ["4", "1"]}, "correct"),
        ({"surplus": [1, 2]}, "surplus"),
    ],
)
def test_a_bad_value_is_refused_by_column_and_nothing_is_written(changes: dict, named: str, tmp_path: Path) -> None:  # type: ignore[type-arg]
    path = tmp_path / "rates.parquet"
    with pytest.raises(DataError, match=named) as caught:
        write_frame(PassRates, rates(**changes), path)
    assert str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_lazy_frame_with_bad_values_does_not_pass_in_silence() -> None:
    with pytest.raises(DataError, match="LazyFrame cannot be validated"):
        check_frame(PassRates, rates(pass_rate=[1.0, 1.5]).lazy(), where="rates.parquet")  # type: ignore[arg-type]


def test_an_empty_frame_is_refused_unless_it_may_be_empty() -> None:
    with pytest.raises(DataError, match="no rows"):
        check_frame(PassRates, rates().clear(), where="rates.parquet")
    assert check_frame(PassRates, rates().clear(), where="rates.parquet", empty=True).is_empty()


def test_a_file_that_is_missing_or_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rates.parquet"
    with pytest.raises(DataError, match="no such file"):
        read_frame(PassRates, path)
    write_frame(PassRates, rates(), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match="not a readable parquet file") as caught:
        read_frame(PassRates, path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_think": 3},
        {"n_solution": 4},
        {"method": "truncate", "n_think": 4},
        {"method": "unconstrained", "think_budget": None, "solution_budget": None, "limit": 3},
    ],
)
def test_a_trace_over_its_budget_breaks_the_frame(changes: dict) -> None:  # type: ignore[type-arg]
    check_frame(Traces, traces(), where="traces.parquet")
    with pytest.raises(DataError, match="budgets_hold"):
        check_frame(Traces, traces(**changes), where="traces.parquet")


def test_plain_truncation_may_spend_its_total_on_thinking() -> None:
    check_frame(Traces, traces(method="truncate", n_think=5, n_solution=0), where="traces.parquet")
