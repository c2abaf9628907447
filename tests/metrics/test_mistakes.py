"""Every class of mistakes on traces written by hand."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hand_made_answers import answers

from elastic.data.chains import FILLERS, ChainsConfig, demonstrate, draw_chain
from elastic.errors import DataError
from elastic.metrics.chain_steps import check_chain
from elastic.metrics.loops import loops
from elastic.metrics.mistakes import MISTAKES, Checked, Response, classify, mistake_shares

SETTINGS = {"confidence": 0.95, "resamples": 200, "seed": 1}
SUM, EXTREME = "A4 B+3 C-7 D+9=?", "A4 B^3 C~7 D~2=?"


def row(thinking: str, solution: str, answer: str | None, **other: Any) -> dict[str, Any]:
    """A wrong answer to SUM, whose solution is right where nothing else is said: B7, C0, D9."""
    return {
        "verdict": "wrong" if answer else "no_answer",
        "closed": "natural",
        "finish": "eos",
        "question": SUM,
        "think_text": thinking,
        "solution_text": solution,
        "think_ids": list(range(len(thinking))),
        "solution_ids": list(range(len(solution))),
    } | other


BY_HAND = [
    ("correct", row(" B4+3=8 C8-7=1", "\\boxed{9}", "9", verdict="correct")),
    ("loop", row("", "", None, closed="never", think_ids=[1, 2, 3, 4, 5, 6] * 5)),
    ("loop", row(" B4+3=7", "", "3", closed="forced", think_ids=[7] * 12)),
    ("no box", row("", " B4+3=7 C7-7=0", None, finish="budget")),
    ("no box", row(" B4+3=8", "", None, closed="never", finish="budget")),
    ("arithmetic slip", row(" B4+3=8 C8-7=1 D1+9=10", "\\boxed{10}", "10")),
    ("arithmetic slip", row(" B4+3=8 check: C7-6=1", "\\boxed{1}", "1")),  # the first fault counts
    ("arithmetic slip", row(" B7 C1", " D1+9=10\\boxed{10}", "10")),  # terse
    ("wrong copy", row(" B4+3=7 C7-6=1 D1+9=10", "\\boxed{10}", "10")),  # the term
    ("wrong copy", row(" B4+3=7 C8-7=1 D1+9=10", "\\boxed{10}", "10")),  # the total before
    ("wrong copy", row(" B5+3=8", "\\boxed{8}", "8")),  # the first number
    ("wrong copy", row(" B4+3=7 C7-7=0 D0+9=9 E9+1=10", "\\boxed{10}", "10")),  # a term that is not there
    ("stopped early", row(" B4+3=7 C7-7=0", "\\boxed{0}", "0")),
    ("stopped early", row("", "\\boxed{5}", "5")),
    ("stopped early", row(" B4+3=7 C7", "\\boxed{7}", "7", closed="forced")),  # C7 was cut, and is no terse step
    ("wrong box", row(" B4+3=7 C7-7=0 D0+9=9 check: B4+3=7 C", "\\boxed{7}", "7", closed="forced")),
    ("other", row("", "\\boxed{9}", "9", verdict="timeout")),
]


@pytest.mark.parametrize(("mistake", "answer"), BY_HAND)
def test_traces_of_every_class(mistake: str, answer: dict[str, Any]) -> None:
    assert classify(answer, check_chain) == mistake


def test_every_class_has_a_trace() -> None:
    assert {mistake for mistake, _ in BY_HAND} == set(MISTAKES)


def checked(question: str, thinking: str, *, cut: bool = False) -> Checked:
    return check_chain(Response(question, thinking, "", cut, False))


def test_extremes_are_checked_by_their_own_operations() -> None:
    assert checked(EXTREME, " B4^3=4 C4~7=4 D4~2=2") == Checked(None, True)
    assert checked(EXTREME, " B4^3=3") == Checked("arithmetic slip", False)
    assert checked(EXTREME, " B4+3=7") == Checked("wrong copy", False)


def test_a_slip_that_is_carried_on_or_mended_is_one_fault() -> None:
    assert checked(SUM, " B4+3=8 C8-7=1 D1+9=10").fault == "arithmetic slip"
    assert checked(SUM, " B4+3=8 C7-7=0 D0+9=9") == Checked("arithmetic slip", True)
    assert checked(SUM, " D0+9=9") == Checked(None, True)  # steps may be done in the head


def test_a_terse_step_at_a_cut_may_be_half_of_a_wordy_one() -> None:
    assert checked(SUM, " B7 C7", cut=False).fault == "arithmetic slip"
    assert checked(SUM, " B7 C7", cut=True) == Checked(None, False)
    assert checked(SUM, " B4+3=7 C7-7=1", cut=True).fault == "arithmetic slip"


@pytest.mark.parametrize("family", ["sums", "extremes"])
def test_what_the_world_demonstrates_has_no_fault_and_no_loop(family: Any) -> None:
    rng, config = Random(3), ChainsConfig(family=family)
    for _ in range(60):
        chain = draw_chain(rng, config)
        thinking, solution = demonstrate(chain, rng, config)
        found = check_chain(Response(chain.question, thinking, solution, False, False))
        assert found == Checked(None, True), (chain.question, thinking, solution)
        assert not loops([ord(letter) for letter in thinking.replace(" ", "")])


def test_a_loop_fills_the_end_of_a_phase() -> None:
    rng = np.random.default_rng(1)
    fresh = list(rng.integers(100, 200, 300))
    assert not loops(fresh)
    assert not loops(fresh[:6] * 3)
    assert loops(fresh[:6] * 4)
    assert loops(fresh + fresh[:20] * 6)
    assert not loops(fresh[:20] * 6 + list(rng.integers(200, 300, 300)))  # it got out again
    assert not loops([5, 5, 5])
    assert not loops([])


def test_a_loop_with_a_word_changed_now_and_then_is_one() -> None:
    rng = Random(2)
    steps = [["B", "4", "+", "3", "=", "7"], ["C", "7", "-", "6", "=", "1"], ["D", "1", "+", "8", "=", "9"]]
    words: list[str] = []
    for _ in range(6):
        for step in steps:
            words += [rng.choice(FILLERS)] if rng.random() < 0.3 else []
            words += step
        words.append("check:")
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    assert loops([number[word] for word in words])


def test_shares_are_over_problems_and_add_up() -> None:
    """a: one of two answers right, one a slip; b: one stopped early; c has an error only."""
    slip, early, right = BY_HAND[5][1], BY_HAND[12][1], BY_HAND[0][1]
    frame = answers(
        {"problem_id": "a", **right},
        {"problem_id": "a", **slip},
        {"problem_id": "b", **early},
        {"problem_id": "c", **slip, "verdict": "error"},
        {"problem_id": "a", **early, "think_budget": 16},
    )
    found = mistake_shares(frame, check_chain, **SETTINGS)
    assert found["mistake"].to_list() == list(MISTAKES) * 2
    narrow = found.filter(think_budget=8)
    assert narrow["share"].to_list() == [0.25, 0, 0, 0.25, 0, 0.5, 0, 0]
    assert narrow["n_answers"].to_list() == [1, 0, 0, 1, 0, 1, 0, 0]
    assert narrow["n_problems"].to_list() == [2] * 8
    assert found.filter(think_budget=16, mistake="stopped early")["share"].to_list() == [1.0]
    assert found.group_by("think_budget").agg(pl.col("share").sum())["share"].to_list() == [1.0, 1.0]
    assert (found["low"] <= found["share"]).all()
    assert (found["share"] <= found["high"]).all()


def test_without_a_checker_steps_are_not_judged_and_a_foreign_question_is_refused() -> None:
    slip = BY_HAND[5][1]
    assert classify(slip, None) == "other"
    with pytest.raises(DataError, match="is no chain"):
        classify(slip | {"question": "What is 4 + 3?"}, check_chain)
    with pytest.raises(DataError, match="without its question"):
        classify(slip | {"question": None}, check_chain)
