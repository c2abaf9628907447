"""Pass rates, buckets and orders of a hand-made table of verdicts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from elastic.contracts.frames import PassRates, check_frame
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.sources import NearDuplicates
from elastic.data.difficulty import histogram, near_groups, pass_rates, training_order, validation_slice

LETTERS = {"c": "correct", "w": "wrong", "n": "no_answer", "t": "timeout", "e": "error"}
# p0 never, p1 1/4, p2 exactly at the edge, p3 3/4, p4 always, p5 2/3 with an error, p6 errors only, p7 never by its end
SAID = {"p0": "wwww", "p1": "cwnt", "p2": "ccww", "p3": "cccw", "p4": "cccc", "p5": "ccwe", "p6": "eeee", "p7": "entn"}


def _params(**changes: Any) -> BucketParams:
    values = {
        "edges": {"hard": 0.0, "easy": 0.5},
        "keep": ["never", "hard", "easy", "always"],
        "rates": "0 <= rate <= 1",
        "order": "shuffled",
        "validation": {"problems": 0, "near": None},
        "max_error_share": 1.0,
        "seed": 3,
    }
    return BucketParams.model_validate({**values, **changes})


def _sliced(problems: int, seed: int = 3) -> BucketParams:
    return _params(validation={"problems": problems, "near": None}, seed=seed)


def _verdicts() -> pl.DataFrame:
    rows = [(name, "world", LETTERS[letter]) for name, letters in SAID.items() for letter in letters]
    return pl.DataFrame(rows, schema=["problem_id", "source", "verdict"], orient="row")


def test_rates_leave_errors_out_and_count_everything_else() -> None:
    rates = check_frame(PassRates, pass_rates(_verdicts(), _params()), where="rates")
    assert set(rates["source"]) == {"world"}
    assert rates.drop("source").rows() == [
        ("p0", 4, 4, 0, 0.0, "never", True),
        ("p1", 4, 4, 1, 0.25, "hard", True),
        ("p2", 4, 4, 2, 0.5, "hard", True),
        ("p3", 4, 4, 3, 0.75, "easy", True),
        ("p4", 4, 4, 4, 1.0, "always", True),
        ("p5", 4, 3, 2, 2 / 3, "easy", True),
        ("p6", 4, 0, 0, None, None, False),
        ("p7", 4, 3, 0, 0.0, "never", True),
    ]
    assert histogram(rates, _params()) == {"never": 2, "hard": 2, "easy": 2, "always": 1, "ungraded": 1}


def test_edges_cut_the_buckets_and_belong_to_the_lower_one() -> None:
    params = _params(edges={"hard": 0.0, "medium": 0.25, "easy": 0.7}, keep=["medium"])
    rates = pass_rates(_verdicts(), params)
    assert rates["bucket"].to_list() == ["never", "hard", "medium", "easy", "always", "medium", None, "never"]
    assert rates.filter("kept")["problem_id"].to_list() == ["p2", "p5"]
    assert list(histogram(rates, params)) == ["never", "hard", "medium", "easy", "always", "ungraded"]


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"keep": ["hard", "easy"]}, ["p1", "p2", "p3", "p5"]),
        ({"keep": ["always"]}, ["p4"]),
        ({"rates": "0.25 <= rate <= 0.5"}, ["p1", "p2"]),
        ({"rates": "0.25 < rate <= 0.5"}, ["p2"]),
        ({"rates": "0.25 <= rate < 0.5"}, ["p1"]),
        ({"rates": "0 < rate < 1"}, ["p1", "p2", "p3", "p5"]),
        ({"rates": "0.5 <= rate <= 0.5"}, ["p2"]),
        ({"keep": ["easy"], "rates": "0<=rate<=.7"}, ["p5"]),
        ({"edges": {"hard": 0.0, "easy": 0.2}, "keep": ["hard"]}, []),
        ({"edges": {"hard": 0.0, "easy": 1.0}, "keep": ["easy"]}, []),
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
    verdicts = pl.DataFrame({"problem_id": names * 2, "source": "world", "verdict": ["correct", "wrong"] * 50})
    rates = pass_rates(verdicts, _params())
    order = training_order(rates, _params())["problem_id"].to_list()
    assert sorted(order) == sorted(names)
    assert order != sorted(names)
    assert order == training_order(rates, _params())["problem_id"].to_list()
    assert order != training_order(rates, _params(seed=4))["problem_id"].to_list()
    fewer = training_order(rates.filter(pl.col("problem_id") != "x7"), _params())["problem_id"].to_list()
    assert fewer == [name for name in order if name != "x7"]


def _kept(groups: list[int] | None = None) -> pl.DataFrame:
    """80 problems: 48 hard and 16 easy ones of one source, 12 hard and 4 easy ones of another."""
    strata = [("big", "hard")] * 48 + [("big", "easy")] * 16 + [("small", "hard")] * 12 + [("small", "easy")] * 4
    frame = pl.DataFrame(strata, schema=["source", "bucket"], orient="row")
    names = [f"p{i:02}" for i in range(80)]
    return frame.with_columns(pl.Series("problem_id", names), pl.Series("group", groups or list(range(80))))


def _sizes(kept: pl.DataFrame, taken: set[str]) -> list[int]:
    chosen = kept.filter(pl.col("problem_id").is_in(taken))
    return [
        chosen.filter(source=source, bucket=bucket).height for source in ("big", "small") for bucket in ("hard", "easy")
    ]


def test_a_slice_has_the_shares_of_source_and_bucket() -> None:
    kept = _kept()
    assert _sizes(kept, validation_slice(kept, _sliced(20))) == [12, 4, 3, 1]
    # 48, 16, 12 and 4 parts of 7/80: 4.2, 1.4, 1.05 and 0.35, so the one left over goes to the 1.4.
    assert _sizes(kept, validation_slice(kept, _sliced(7))) == [4, 2, 1, 0]
    assert validation_slice(kept, _sliced(0)) == set()


def test_a_slice_depends_on_the_seed_and_not_on_the_order_of_rows() -> None:
    kept = _kept()
    first = validation_slice(kept, _sliced(20))
    assert validation_slice(kept.sample(fraction=1, shuffle=True, seed=1), _sliced(20)) == first
    assert validation_slice(kept, _sliced(20, 4)) != first


def test_near_duplicates_are_taken_or_left_together() -> None:
    groups = [i // 3 for i in range(80)]
    for seed in range(10):
        taken = validation_slice(_kept(groups), _sliced(20, seed))
        inside = {groups[int(name[1:])] for name in taken}
        outside = {groups[i] for i in range(80) if f"p{i:02}" not in taken}
        assert not inside & outside
        assert 18 <= len(taken) <= 20
    assert validation_slice(_kept([0] * 80), _sliced(20)) == set()


def test_near_duplicates_of_near_duplicates_are_one_group() -> None:
    long = "the sum of all positive integers n such that n squared minus nineteen n plus ninety nine is a square"
    questions = [f"Find {long}", "How many primes are below one hundred?", f"Compute {long}", f"Compute {long} root"]
    rule = NearDuplicates(threshold=0.7, words=2)
    assert near_groups(questions, rule) == [0, 1, 0, 0]
    assert near_groups(questions, None) == [0, 1, 2, 3]
