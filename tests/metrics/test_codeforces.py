"""Ratings on Codeforces: known values worked by hand, and the public code's search for one."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from elastic.contracts.codeforces import CodeforcesTables, Contest, Standing
from elastic.errors import DataError
from elastic.metrics.codeforces import attempts_of, codeforces_rating, contest_rating, contest_score


def contest(humans: list[tuple[float, float, float]], points: dict[str, float | None] | None = None) -> Contest:
    """Humans as (points, penalty, rating)."""
    return Contest(1, points or {"A": 500.0, "B": 1000.0}, tuple(Standing(*human) for human in humans))


ONE_AND_TWO = {"A": [False, False, True], "B": [False]}  # 500 - 2 * 50 = 400 points


def test_points_fall_by_50_for_every_attempt_before_the_accepted_one() -> None:
    assert contest_score(ONE_AND_TWO, contest([])) == (400, 0)
    assert contest_score({"A": [True, False], "B": [True]}, contest([])) == (1500, 0)
    assert contest_score({"A": [False] * 12 + [True]}, contest([])) == (0, 0)
    assert contest_score({"C": [True]}, contest([])) == (0, 0)


def test_under_icpc_rules_a_problem_counts_one_and_a_wrong_attempt_ten_penalty() -> None:
    rules = contest([], {"A": None, "B": None})
    assert contest_score({"A": [False, True], "B": [False, False, True]}, rules) == (2, 30)


@pytest.mark.parametrize(
    ("humans", "rating"),
    [
        # One ahead and one behind, both 1500: one of two is expected ahead of 1500.
        ([(900, 0, 1500), (100, 0, 1500)], 1500.0),
        ([(900, 0, 1600), (100, 0, 1400)], 1500.0),
        # Two of five ahead: each with probability 2/5, hence 10^((R - 1500) / 400) = 3/2.
        ([(900, 0, 1500), (900, 0, 1500), (0, 0, 1500), (0, 0, 1500), (0, 0, 1500)], 1500 + 400 * math.log10(1.5)),
        # Level with the model is ahead of it: two of three.
        ([(900, 0, 1500), (400, 0, 1500), (0, 0, 1500)], 1500 - 400 * math.log10(2)),
        # Nobody ahead: as high as ratings go, 100 above the best.
        ([(100, 0, 1500), (0, 0, 1700)], 1800.0),
        # Everybody ahead: as low as they go.
        ([(900, 0, 1500), (800, 0, 1700)], 0.0),
    ],
)
def test_the_rating_is_the_one_that_is_expected_at_the_place(
    humans: list[tuple[float, float, float]], rating: float
) -> None:
    assert contest_rating(ONE_AND_TWO, contest(humans)) == pytest.approx(rating, abs=1e-6)


def test_penalty_decides_between_equal_points() -> None:
    rules: dict[str, float | None] = {"A": None}
    humans = [(1.0, 5.0, 1500.0), (1.0, 15.0, 1500.0)]
    assert contest_rating({"A": [False, True]}, contest(humans, rules)) == pytest.approx(1500.0)


def test_the_faithful_rating_is_what_the_public_search_over_whole_numbers_finds() -> None:
    """The largest rating whose expected place, 1 + the sum of probabilities, is not below the number ahead."""
    draw = np.random.default_rng(0)
    humans = [
        (float(p), 0.0, float(r))
        for p, r in zip(draw.integers(0, 1500, 300), draw.integers(800, 2500, 300), strict=True)
    ]
    found = contest_rating(ONE_AND_TWO, contest(humans), faithful=True)
    ahead = sum(points >= 400 for points, _, _ in humans)
    ratings = np.array([rating for _, _, rating in humans])
    seeds = [1 + (1 / (1 + 10 ** ((whole - ratings) / 400))).sum() for whole in range(2600)]
    assert math.floor(found) == max(whole for whole, seed in enumerate(seeds) if seed >= ahead)
    assert contest_rating(ONE_AND_TWO, contest(humans)) < found


def tables() -> CodeforcesTables:
    even = contest([(900, 0, 1500), (100, 0, 1500)])
    low = contest([(900, 0, 1300), (100, 0, 1300)])
    empty = contest([(0, 0, 3000)])
    problems = {"0": (1, "A"), "1": (1, "B"), "2": (2, "A"), "3": (3, "A")}
    return CodeforcesTables(problems, {1: even, 2: low, 3: empty}, np.array([1000.0, 1200.0, 1400.0, 2000.0]))


ATTEMPTS = {"0": [False, False, True], "1": [False], "2": [False, True], "3": [True]}


def test_the_rating_is_the_mean_over_contests_and_the_percentile_who_is_rated_lower() -> None:
    found = codeforces_rating(ATTEMPTS, tables(), confidence=0.95, resamples=200, seed=0, least_humans=2)
    assert found.by_contest == pytest.approx({1: 1500.0, 2: 1300.0})
    assert found.rating.mean == pytest.approx(1400.0)
    assert found.rating.low <= 1400.0 <= found.rating.high
    assert found.percentile in (0.5, 0.75)  # 1400 itself may come out a hair above 1400
    assert found.left_out == (3,)


def test_the_percentile_counts_lower_ratings_only() -> None:
    one = CodeforcesTables({"0": (1, "A")}, {1: contest([(900, 0, 1500), (800, 0, 1500)])}, np.array([0.0, 1.0, 2.0]))
    found = codeforces_rating({"0": [False]}, one, confidence=0.95, resamples=200, seed=0, least_humans=1)
    assert (found.rating.mean, found.percentile) == (0.0, 0.0)


def test_an_evaluation_of_part_of_the_benchmark_is_refused() -> None:
    part = {place: tries for place, tries in ATTEMPTS.items() if place != "2"}
    with pytest.raises(DataError, match=r"1 problems .* 2\n.*whole benchmark"):
        codeforces_rating(part, tables(), confidence=0.95, resamples=200, seed=0, least_humans=2)
    with pytest.raises(DataError, match="no contest has 201 rated participants"):
        codeforces_rating(ATTEMPTS, tables(), confidence=0.95, resamples=200, seed=0)


def test_attempts_stand_in_the_order_of_samples_and_an_error_is_none() -> None:
    answers = pl.DataFrame(
        {
            "problem_id": ["a", "a", "a", "b"],
            "sample": [2, 0, 1, 0],
            "verdict": ["correct", "wrong", "error", "timeout"],
        }
    )
    problems = pl.DataFrame({"problem_id": ["a", "b", "c"], "source_id": ["0", "1", "2"]})
    assert attempts_of(answers, problems) == {"0": [False, True], "1": [False], "2": []}
