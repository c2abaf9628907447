"""The cut: known splits for questions whose hashes were looked at, and what adding rows may change."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import polars as pl
import pytest
from filled_frames import filled

from elastic.contracts.frames import SPLITS, Collected, Problems, Rejected, check_frame
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.sources import NearDuplicates
from elastic.data.duplicates import mark_disagreement
from elastic.data.ledger import open_ledger, problems_of, rejected_of
from elastic.data.splits import cut_splits
from elastic.errors import DataError

PARAMS = {
    "held_out_share": 0.5,
    "training_share": 0.5,
    "validation": 2,
    "test": 2,
    "training": 50,
    "teaching": 50,
}


def _hash(question: str) -> str:
    return sha256(question.encode()).hexdigest()[:16]


def _region(question: str) -> str:
    """Under PARAMS: first digit 0-7 is held out (odd last digit: validation), 8-b training, c-f teaching."""
    first, last = _hash(question)[0], _hash(question)[-1]
    if first in "01234567":
        return "validation" if last in "13579bdf" else "test"
    return "training" if first in "89ab" else "teaching"


def _questions(region: str, number: int) -> list[str]:
    """The first questions of the pool in a region, in the order of their hashes."""
    return sorted((row["question"] for row in POOL if _region(row["question"]) == region), key=_hash)[:number]


def _row(
    question: str, answer: str = "1", *, source: str = "world", shown: bool = True, **values: Any
) -> dict[str, Any]:
    role = "training" if source == "mine" else "any"
    shows = {"thinking": "t", "solution": "s"} if shown else {"thinking": None, "solution": None}
    return {"source": source, "role": role, "question": question, "answer": answer, **shows, **values}


def _same(claims: pl.DataFrame) -> list[bool]:
    return [float(one) == float(other) for one, other in claims.select("answer", "reference").iter_rows()]


def _cut(rows: list[dict[str, Any]], rules: dict[str, NearDuplicates] | None = None, **changes: Any) -> pl.DataFrame:
    rules = rules or {}
    ledger = mark_disagreement(open_ledger(filled(Collected, rows), worded=rules), _same)
    cut = cut_splits(ledger, CurateParams(**{**PARAMS, **changes}), rules)
    assert cut.select((pl.col("split").is_null() != pl.col("reason").is_null()).all()).item(), "one decision a row"
    for split in SPLITS:
        check_frame(Problems, problems_of(cut, split), where=split, empty=True)
    check_frame(Rejected, rejected_of(cut), where="rejected", empty=True)
    return cut


def _splits(cut: pl.DataFrame) -> dict[str, list[str]]:
    return {split: problems_of(cut, split)["question"].to_list() for split in SPLITS}


def _why(cut: pl.DataFrame, source: str = "world") -> dict[str, str]:
    gone = cut.filter(pl.col("source") == source).drop_nulls("reason")
    return dict(gone.select("question", "reason").iter_rows())


POOL = [_row(f"q{i}") for i in range(120)]


def test_regions_and_limits_cut_as_worked_out_by_hand() -> None:
    cut = _cut(POOL, training=5, teaching=7)
    expected = {region: _questions(region, len(POOL)) for region in SPLITS}
    assert _splits(cut) == {
        "teaching": expected["teaching"][:7],
        "training": expected["training"][:5],
        "validation": expected["validation"][:2],
        "test": expected["test"][:2],
    }
    undrawn = expected["validation"][2:] + expected["test"][2:]
    assert _why(cut) == {
        **dict.fromkeys(undrawn, "held out, not drawn"),
        **dict.fromkeys(expected["training"][5:], "over the limit of training"),
        **dict.fromkeys(expected["teaching"][7:], "over the limit of teaching"),
    }


def test_added_rows_move_no_problem_to_another_split() -> None:
    small = _cut(POOL[::3], training=10, teaching=10).select("question", "split")
    large = _cut(list(reversed(POOL)), training=10, teaching=10).select("question", "split")
    both = small.join(large, on="question").drop_nulls()
    assert len(both) > 5
    assert (both["split"] == both["split_right"]).all()
    met = small.join(large, on="question").filter(pl.col("split") != pl.col("split_right"))
    assert met.is_empty()


def test_more_wanted_test_problems_leave_validation_alone() -> None:
    few, many = _splits(_cut(POOL)), _splits(_cut(POOL, test=9))
    assert few["validation"] == many["validation"]
    assert few["test"] == many["test"][:2]


def test_a_copy_stays_with_its_first_source() -> None:
    question = _questions("training", 1)[0]
    cut = _cut([*POOL, _row(f"  {question.upper()} ", source="other")])
    assert _why(cut, "other") == {f"  {question.upper()} ": "duplicate"}
    assert cut.filter(source="other")["detail"].item() == "kept from world"


@pytest.mark.parametrize("region", SPLITS)
def test_copies_that_disagree_are_all_rejected(region: str) -> None:
    question = _questions(region, 1)[0]
    cut = _cut([*POOL, _row(question, "2", source="other")])
    assert _why(cut)[question] == _why(cut, "other")[question] == "conflicting answers"
    assert cut.filter(source="other")["detail"].item() == "world: 1; other: 2"
    assert not any(question in kept for kept in _splits(cut).values())


def test_equal_values_in_two_spellings_are_no_disagreement() -> None:
    question = _questions("training", 1)[0]
    cut = _cut([*POOL, _row(question, "1e0", source="other")])
    assert _why(cut, "other") == {question: "duplicate"}


def test_a_teaching_row_needs_a_whole_demonstration() -> None:
    one, other = _questions("teaching", 2)
    asked = _questions("training", 1)[0]
    rows = [row for row in POOL if row["question"] not in (one, other, asked)]
    cut = _cut([*rows, _row(one, shown=False), _row(other, solution=None), _row(asked, shown=False)])
    assert {one, other} <= {question for question, why in _why(cut).items() if why == "no demonstration"}
    assert asked in _splits(cut)["training"]


@pytest.mark.parametrize("split", ["validation", "test"])
@pytest.mark.parametrize("answer", ["1", "2"])
def test_a_row_for_training_that_stands_in_an_evaluation_set_is_turned_away(split: str, answer: str) -> None:
    question = _questions(split, 1)[0]
    for rows in ([*POOL, _row(question, answer, source="mine")], [_row(question, answer, source="mine"), *POOL]):
        cut = _cut(rows)
        assert _why(cut, "mine") == {question: f"stands in {split}"}
        assert cut.filter(source="mine")["detail"].item() == f"{split} {_hash(question)} of world (answer 1)"
        assert _splits(cut)[split] == _splits(_cut(POOL))[split]


def test_a_new_problem_with_a_held_out_hash_trains_and_enters_no_evaluation_set() -> None:
    new = min((f"new{i}" for i in range(2000) if _region(f"new{i}") == "test"), key=_hash)
    assert _hash(new) < _hash(_questions("test", 1)[0])
    cut = _cut([*POOL, _row(new, source="mine")])
    assert new in _splits(cut)["training"]
    assert _splits(cut)["test"] == _splits(_cut(POOL))["test"]
    taken = _cut([*POOL, _row(new, source="mine"), _row(new)])
    assert _why(taken, "mine") == {new: "stands in test"}


def test_an_undrawn_held_out_problem_trains_only_as_the_copy_of_a_source_for_training() -> None:
    question = _questions("test", len(POOL))[-1]
    cut = _cut([*POOL, _row(question, source="mine")])
    assert _why(cut)[question] == "held out, not drawn"
    assert problems_of(cut, "training").filter(source="mine")["question"].to_list() == [question]


def test_rows_for_training_come_first_under_the_limit() -> None:
    asked = [_row(f"new{i}", source="mine", shown=False) for i in range(4)]
    copied = _questions("training", 5)[-1]
    asked.append(_row(copied, source="mine"))
    cut = _cut([*POOL, *asked], training=5)
    assert set(_splits(cut)["training"]) == {*(f"new{i}" for i in range(4)), copied}
    assert _why(cut, "mine") == {copied: "duplicate"}
    assert cut.filter(pl.col("question") == copied, source="world")["split"].item() == "training"


def test_rows_for_training_change_neither_teaching_nor_the_evaluation_sets() -> None:
    copies = [_row(row["question"], source="mine", shown=False) for row in POOL]
    before, after = _splits(_cut(POOL, training=200)), _splits(_cut([*POOL, *copies], training=200))
    for split in ("teaching", "validation", "test"):
        assert before[split] == after[split]
    assert set(before["training"]) < set(after["training"])


def test_an_earlier_source_for_training_keeps_its_problem_from_teaching() -> None:
    question = _questions("teaching", 1)[0]
    cut = _cut([_row(question, source="mine"), *POOL])
    assert question in _splits(cut)["training"]
    assert question not in _splits(cut)["teaching"]
    assert _why(cut)[question] == "duplicate"


def test_the_order_of_rows_within_a_source_changes_nothing() -> None:
    assert _splits(_cut(POOL)) == _splits(_cut(list(reversed(POOL))))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"test": 200}, r"curate\.test: test needs 200 problems, but its half of the held-out ones has only \d+"),
        ({"validation": 200}, r"curate\.validation: validation needs 200"),
        ({"validation": 0}, r"curate\.validation: no problem is left"),
        ({"training_share": 1.0}, r"curate\.teaching: no problem is left"),
        ({"training_share": 0.0}, r"curate\.training: no problem is left"),
    ],
)
def test_a_shortage_is_an_error_that_names_it_and_the_remedy(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(DataError, match=named) as caught:
        _cut(POOL, **changes)
    assert "Remedy: " in str(caught.value)


def test_no_teaching_is_wanted_when_the_base_is_pinned() -> None:
    cut = _cut(POOL, teaching=0)
    assert _splits(cut)["teaching"] == []


NEAR = NearDuplicates(threshold=0.6, words=2)
BENCHMARKS = {"quiz": "test", "exam": "test", "mock": "validation"}
OWN = {"validation": 0, "test": 0}


def _bench(source: str, *questions: str, answer: str = "1") -> list[dict[str, Any]]:
    role = BENCHMARKS[source]
    return [_row(question, answer, source=source, shown=False) | {"role": role} for question in questions]


def test_benchmarks_go_whole_into_their_split_each_by_its_source() -> None:
    rows = [*_bench("quiz", "a", "b", "c"), *_bench("exam", "d"), *_bench("mock", "e", "f"), *POOL]
    cut = _cut(rows, **OWN)
    assert set(_splits(cut)["test"]) == {"a", "b", "c", "d"}
    assert set(_splits(cut)["validation"]) == {"e", "f"}
    assert not {"held out, not drawn"} - set(_why(cut).values())
    drawn = _cut(rows)
    assert set(_splits(drawn)["test"]) == {"a", "b", "c", "d", *_questions("test", 2)}


def test_of_two_benchmarks_test_keeps_a_problem_and_then_the_first_source() -> None:
    cut = _cut([*_bench("mock", "A", "only"), *_bench("quiz", "a", "b"), *_bench("exam", "B", "c"), *POOL], **OWN)
    assert set(_splits(cut)["test"]) == {"a", "b", "c"}
    assert _splits(cut)["validation"] == ["only"]
    assert {source: _why(cut, source) for source in ("mock", "exam")} == {
        "mock": {"A": "duplicate"},
        "exam": {"B": "duplicate"},
    }
    assert cut.filter(source="mock", question="A")["detail"].item() == "kept from quiz"


@pytest.mark.parametrize("answer", ["1", "2"])
def test_what_evaluates_does_not_train_whatever_its_copies_say(answer: str) -> None:
    mine = [_row(question, answer, source="mine") for question in ("a", "e", "new")]
    world = [_row(question, answer) for question in ("a", "e")]
    cut = _cut([*mine, *world, *_bench("quiz", "a"), *_bench("mock", "e"), *POOL], **OWN)
    assert _splits(cut)["test"] == ["a"]
    assert _splits(cut)["validation"] == ["e"]
    assert _why(cut, "mine") == {"a": "stands in test", "e": "stands in validation"}
    assert {question: _why(cut)[question] for question in ("a", "e")} == {"a": "duplicate", "e": "duplicate"}


def test_benchmarks_that_disagree_lose_the_problem() -> None:
    cut = _cut([*_bench("quiz", "a", "b"), *_bench("exam", "a", answer="2"), *_bench("mock", "e"), *POOL], **OWN)
    assert _splits(cut)["test"] == ["b"]
    assert _why(cut, "quiz") == _why(cut, "exam") == {"a": "conflicting answers"}


def test_a_drawn_set_has_the_shares_of_sources_and_levels_of_its_pool() -> None:
    """12 : 6 : 3 held-out problems and a set of 8 are 4.57, 2.29 and 1.14: rounded down 4, 2, 1, and one more."""
    strata = {("world", "1"): 12, ("world", "2"): 6, ("other", None): 3}
    pool = iter(_questions("test", 21))
    rows = [
        _row(next(pool), source=source, level=level) for (source, level), count in strata.items() for _ in range(count)
    ]
    rest = [row for row in POOL if _region(row["question"]) != "test"]
    cut = _cut([*rows, *rest], test=8)
    drawn = problems_of(cut, "test").select("source", "level", "question")
    for (source, level), count in zip(strata, (5, 2, 1), strict=True):
        own = sorted((r["question"] for r in rows if (r["source"], r["level"]) == (source, level)), key=_hash)
        met = drawn.filter(pl.col("source") == source, pl.col("level").eq_missing(pl.lit(level)))
        assert met["question"].to_list() == own[:count]


def test_a_validation_set_can_be_held_out_of_training_sources() -> None:
    asked = [_row(f"new{i}", source="mine", shown=False) for i in range(60)]
    half = sorted((row["question"] for row in asked if _region(row["question"]) == "validation"), key=_hash)
    cut = _cut([*POOL, *asked], validation=5, validation_from="training", training=200)
    assert _splits(cut)["validation"] == half[:5]
    assert _why(cut, "mine") == dict.fromkeys(half[5:], "held out, not drawn")
    assert len(problems_of(cut, "training").filter(source="mine")) == 60 - len(half)
    assert set(_questions("validation", len(POOL))) <= {q for q, why in _why(cut).items() if why.startswith("held")}


def _sentence(number: int, last: str) -> str:
    """Seven words that stand in no other sentence, and one more."""
    return " ".join(f"{chr(97 + number // 26)}{chr(97 + number % 26)}{letter}" for letter in "abcdefg") + " " + last


@pytest.mark.parametrize(("threshold", "near"), [(0.75, True), (0.76, False)])
def test_of_near_duplicates_one_stays_and_the_larger_threshold_decides(threshold: float, near: bool) -> None:
    """Of seven runs of two words six are shared, so eight differ in all: 0.75."""
    rows = [_row(_sentence(i, "day"), source="one") for i in range(60)]
    copies = [_row(_sentence(i, "hour"), source="other") for i in range(60)]
    rules = {"one": NEAR, "other": NearDuplicates(threshold=threshold, words=2)}
    cut = _cut([*rows, *copies], rules)
    gone = {question for question, why in _why(cut, "other").items() if why == "near duplicate"}
    assert gone == ({row["question"] for row in copies} if near else set())
    assert "near duplicate" not in _why(cut, "one").values()
    if near:
        assert _splits(cut) == _splits(_cut(rows, rules))
        assert cut.filter(source="other")["detail"].str.contains(r"^0\.75 of [0-9a-f]{16} of one$").all()
    assert "near duplicate" not in _why(_cut([*rows, *copies], {"one": NEAR}), "other").values()


def test_problems_of_equal_wording_are_copies_between_sources_that_compare_wording() -> None:
    question = _questions("training", 1)[0]
    spelt = rf"$\text{{{question[0]}}}\,{{{question[1:]}}}$"
    rules = {"world": NEAR, "other": NEAR}
    assert _why(_cut([*POOL, _row(spelt, source="other")], rules), "other") == {spelt: "duplicate"}
    assert _why(_cut([*POOL, _row(spelt, "2", source="other")], rules), "other") == {spelt: "conflicting answers"}
    for known in ({}, {"other": NEAR}):
        assert "duplicate" not in _why(_cut([*POOL, _row(spelt, source="other")], known), "other").values()


def test_a_source_for_teaching_teaches_outside_its_held_out_points_and_never_trains_or_evaluates() -> None:
    other = [{**row, "source": "family", "role": "teaching", "question": row["question"] + " family"} for row in POOL]
    cut = _cut([*POOL, *other])
    family = cut.filter(source="family")
    held_out = {row["question"] for row in other if _region(row["question"]) in ("validation", "test")}
    assert set(family.filter(pl.col("split").is_not_null())["split"]) == {"teaching"}
    assert set(family.filter(reason="held out, not drawn")["question"]) == held_out
    assert not held_out & set(cut.filter(pl.col("split").is_not_null())["question"])


def test_a_source_for_teaching_moves_no_problem_of_the_other_sets() -> None:
    other = [{**row, "source": "family", "role": "teaching", "question": row["question"] + " family"} for row in POOL]
    alone, together = _splits(_cut(POOL)), _splits(_cut([*POOL, *other]))
    assert [alone[name] for name in ("validation", "test", "training")] == [
        together[name] for name in ("validation", "test", "training")
    ]
