"""Pass rates, buckets and orders of a hand-made table of verdicts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from elastic.contracts.frames import PassRates, check_frame
from elastic.contracts.params.bucket import BucketParams
from elastic.data.difficulty import histogram, pass_rates, training_order

LETTERS = {"c": "correct", "w": "wrong", "n": "no_answer", "t": "timeout", "e": "error"}
# p0 never, p1 1/4, p2 exactly at the edge, p3 3/4, p4 always, p5 2/3 with an error, p6 errors only, p7 never by its end
SAID = {"p0": "wwww", "p1": "cwnt", "p2": "ccww", "p3": "cccw", "p4": "cccc", "p5": "ccwe", "p6": "eeee", "p7": "entn"}


def _params(**changes: Any) -> BucketParams:
    values = {
        "easy_above": 0.5,
        "keep": ["never", "hard", "easy", "always"],
        "order": "shuffled",
        "min_rate": 0.0,
        "max_rate": 1.0,
        "max_error_share": 1.0,
        "seed": 3,
    }
    return BucketParams(**{**values, **changes})


def _verdicts() -> pl.DataFrame:
    rows = [(name, LETTERS[letter]) for name, letters in SAID.items() for letter in letters]
    return pl.DataFrame(rows, schema=["problem_id", "verdict"], orient="row")


def test_rates_leave_errors_out_and_count_everything_else() -> None:
    rates = check_frame(PassRates, pass_rates(_verdicts(), _params()), where="rates")
    assert rates.rows() == [
        ("p0", 4, 4, 0, 0.0, "never", True),
        ("p1", 4, 4, 1, 0.25, "hard", True),
        ("p2", 4, 4, 2, 0.5, "hard", True),
        ("p3", 4, 4, 3, 0.75, "easy", True),
        ("p4", 4, 4, 4, 1.0, "always", True),
        ("p5", 4, 3, 2, 2 / 3, "easy", True),
        ("p6", 4, 0, 0, None, None, False),
        ("p7", 4, 3, 0, 0.0, "never", True),
    ]
    assert histogram(rates) == {"never": 2, "hard": 2, "easy": 2, "always": 1, "ungraded": 1}


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"keep": ["hard", "easy"]}, ["p1", "p2", "p3", "p5"]),
        ({"keep": ["always"]}, ["p4"]),
        ({"min_rate": 0.25, "max_rate": 0.5}, ["p1", "p2"]),
        ({"keep": ["easy"], "max_rate": 0.7}, ["p5"]),
        ({"easy_above": 0.2, "keep": ["hard"]}, []),
        ({"easy_above": 1.0, "keep": ["easy"]}, []),
    ],
)
def test_buckets_and_bounds_choose_what_is_kept(changes: dict[str, Any], kept: list[str]) -> None:
    rates = pass_rates(_verdicts(), _params(**changes))
    assert rates.filter("kept")["problem_id"].to_list() == kept
    assert len(rates) == len(SAID)


def test_orders_follow_the_rate_and_shuffle_equals() -> None:
    rates = pass_rates(_verdicts(), _params())
    easy = training_order(rates, _params(order="easy_first"))
    hard = training_order(rates, _params(order="hard_first"))
    assert easy["pass_rate"].to_list() == [1.0, 0.75, 2 / 3, 0.5, 0.25, 0.0, 0.0]
    assert hard["pass_rate"].to_list() == [0.0, 0.0, 0.25, 0.5, 2 / 3, 0.75, 1.0]
    assert easy["rank"].to_list() == list(range(7))
    seeds = [training_order(rates, _params(order="hard_first", seed=seed))["problem_id"][0] for seed in range(20)]
    assert set(seeds) == {"p0", "p7"}


def test_a_shuffle_is_repeatable_and_no_problem_depends_on_the_others() -> None:
    names = [f"x{i}" for i in range(50)]
    verdicts = pl.DataFrame({"problem_id": names * 2, "verdict": ["correct", "wrong"] * 50})
    rates = pass_rates(verdicts, _params())
    order = training_order(rates, _params())["problem_id"].to_list()
    assert sorted(order) == sorted(names)
    assert order != sorted(names)
    assert order == training_order(rates, _params())["problem_id"].to_list()
    assert order != training_order(rates, _params(seed=4))["problem_id"].to_list()
    fewer = training_order(rates.filter(pl.col("problem_id") != "x7"), _params())["problem_id"].to_list()
    assert fewer == [name for name in order if name != "x7"]
