"""Differences of one question: paired by problem, corrected for how many there are."""

from __future__ import annotations

import made_lab
import polars as pl
import pytest

from elastic.errors import DataError
from lab.paired import Difference, Family
from lab.tables import listed, verdicts

N = 200


def values(right: int, *, missing: int = 0) -> pl.DataFrame:
    """1 for the first `right` problems, 0 for the others; the last `missing` are left out."""
    return pl.DataFrame(
        {"problem_id": [f"{n:04}" for n in range(N - missing)], "value": [float(n < right) for n in range(N - missing)]}
    )


def corrected(differences: dict[str, int]) -> dict[object, Difference]:
    family = Family("test", made_lab.PARAMS)
    for name, gain in differences.items():
        family.add(name, values(100 + gain), values(100))
    return family.corrected()


def test_a_difference_is_the_mean_over_problems_with_its_interval() -> None:
    row = corrected({"gain": 40})["gain"]
    assert row.value.mean == pytest.approx(0.2)
    assert row.value.low < 0.2 < row.value.high
    assert (row.better, row.worse, row.n_problems) == (True, False, N)


def test_the_number_of_differences_counts() -> None:
    # 7 problems of 200 more: p = 2 / 2^7 = 0.016, which one test survives and the strictest of ten does not.
    assert corrected({"gain": 7})["gain"].holds
    many = corrected({f"gain {n}": 7 for n in range(10)})
    assert not any(row.holds for row in many.values())


def test_a_loss_that_holds_is_worse() -> None:
    found = corrected({"loss": -40, "nothing": 0})
    assert found["loss"].worse
    assert not found["nothing"].holds
    assert verdicts(list(found.values())) == "worse in 1 of 2"


def test_problems_that_only_one_side_has_are_left_out() -> None:
    family = Family("test", made_lab.PARAMS)
    family.add("gain", values(100, missing=50), values(100))
    assert family.corrected()["gain"].n_problems == N - 50
    with pytest.raises(DataError, match="no problem was graded on both sides"):
        family.add("none", values(100).with_columns(problem_id=pl.lit("another")).head(1), values(100))


def test_equal_seeds_give_equal_figures_and_other_names_other_draws() -> None:
    again, other = (Family(name, made_lab.PARAMS) for name in ("test", "other"))
    for family in (again, other):
        family.add("gain", values(140), values(100))
    first = corrected({"gain": 40})["gain"].value
    assert again.corrected()["gain"].value == first
    assert other.corrected()["gain"].value != first


@pytest.mark.parametrize(
    ("better", "worse", "equal", "said"),
    [
        (2, 1, 4, "better in 2 and worse in 1 of 7"),
        (2, 0, 0, "better in 2 of 2"),
        (0, 0, 3, "none of 3 differences holds"),
        (0, 0, 1, "the difference does not hold"),
    ],
)
def test_verdicts_in_words(better: int, worse: int, equal: int, said: str) -> None:
    up, down, none = corrected({"up": 60, "down": -60, "none": 0}).values()
    assert verdicts([up] * better + [down] * worse + [none] * equal) == said


def test_lists_in_words() -> None:
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
