"""Behaviours on texts counted by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hand_made_answers import answers

from elastic.contracts.behaviours import Behaviours, KeywordSet, read_behaviours
from elastic.contracts.params.common import read_params
from elastic.errors import DataError
from elastic.metrics.behaviours import behaviour_changes, behaviour_rates, count_behaviours

SETTINGS = {"confidence": 0.95, "resamples": 200, "seed": 1}
ROOT = Path(__file__).parents[2]
FILE = ROOT / "data/behaviours.yaml"
HAND = KeywordSet(
    about="a test",
    families={"verification": ("check", "let me check", "check:"), "backtracking": ("wait", "let me", "hold on")},
)


def counts(text: str, keywords: KeywordSet = HAND) -> dict[str, int]:
    return count_behaviours(pl.Series([text]), keywords).row(0, named=True)


def test_a_text_counted_by_hand() -> None:
    """E.g. exploration: perhaps, let's try; verification: check, double-check, is this right."""
    text = (
        "First, suppose x = 2. Wait, that is a typo. Actually, I check it: fine, but\n"
        "let me double-check. Is this   right? Perhaps. Therefore, and thus, x = 2; once more: 2. Let’s try 3."
    )
    assert counts(text, read_behaviours("english", FILE)) == {
        "repetition": 1,
        "set-up": 1,
        "exploration": 2,
        "verification": 3,
        "conclusion": 2,
        "backtracking": 2,
        "planning": 1,
    }


def test_only_whole_words_count_in_any_case() -> None:
    assert counts("CHECK check, recheck checking uncheck_ check_ Check.")["verification"] == 3
    assert counts("await waiting wait2 wait")["backtracking"] == 1


def test_overlapping_keywords_count_once_and_the_longest_wins() -> None:
    assert counts("let me check") == {"verification": 1, "backtracking": 0}
    assert counts("let me wait") == {"verification": 0, "backtracking": 2}
    assert counts("check: check:check") == {"verification": 3, "backtracking": 0}


def test_special_characters_in_keywords_are_plain_text() -> None:
    keywords = KeywordSet(about="a test", families={"boxing": ("\\boxed{", "a.c", "(?)")})
    assert counts("\\boxed{4} abc a.c (?) x(?)x", keywords) == {"boxing": 4}


def test_texts_without_a_keyword_have_zero() -> None:
    found = count_behaviours(pl.Series(["", "nothing here", "wait"]), HAND)
    assert found.to_dict(as_series=False) == {"verification": [0, 0, 0], "backtracking": [0, 0, 1]}


def test_the_laptop_world_s_words() -> None:
    laptop = read_behaviours("laptop", FILE)
    text = " so B4+3=7 then C7-7=0 check: B4+3=7 now C7-7=0 check: B7 C0\\boxed{0}"
    assert counts(text, laptop) == {"verification": 2, "filler": 3}


RESPONSES = answers(
    {"problem_id": "a", "think_text": "wait wait", "solution_text": "check", "n_think": 90, "n_solution": 10},
    {"problem_id": "a", "think_text": "", "solution_text": "wait", "n_think": 40, "n_solution": 10},
    {"problem_id": "a", "think_text": "wait " * 50, "n_think": 60, "verdict": "error"},
    {"problem_id": "b", "think_text": "wait", "n_think": 49, "n_solution": 1, "verdict": "wrong"},
)


def test_rates_per_response_and_per_thousand_tokens() -> None:
    """Backtracking: a has 3 in 2 responses, b 1 in 1; 4 in 200 tokens. Verification: 1 in 2, none; 1 in 200."""
    verification, backtracking = behaviour_rates(RESPONSES, HAND, **SETTINGS)
    assert (verification.family, backtracking.family) == ("verification", "backtracking")
    assert backtracking.per_response.mean == pytest.approx((1.5 + 1) / 2)
    assert backtracking.per_1000_tokens == pytest.approx((20, 20, 20))
    assert verification.per_response.mean == pytest.approx(0.25)
    assert verification.per_1000_tokens == pytest.approx((5, 0, 1000 / 150))
    assert (verification.n_problems, verification.n_responses) == (2, 3)


def test_changes_are_paired_by_problem() -> None:
    """Backtracking of a from 1.5 to 0, of b from 1 to 1: 4 in 200 tokens before, 1 in 60 after; c is in one only."""
    after = answers(
        {"problem_id": "a", "solution_text": "check", "n_think": 9},
        {"problem_id": "b", "think_text": "wait", "n_think": 49},
        {"problem_id": "c", "think_text": "wait", "n_think": 49},
    )
    verification, backtracking = behaviour_changes(RESPONSES, after, HAND, **SETTINGS)
    assert (backtracking.before, backtracking.after, backtracking.n_problems) == (1.25, 0.5, 2)
    assert backtracking.per_response.mean == pytest.approx(-0.75)
    assert backtracking.per_1000_tokens.mean == pytest.approx(1000 / 60 - 20)
    assert verification.per_response.mean == pytest.approx((0.5 + 0) / 2)
    same = behaviour_changes(RESPONSES, RESPONSES, HAND, **SETTINGS)
    assert all(change.per_1000_tokens == (0, 0, 0) == change.per_response for change in same)
    with pytest.raises(DataError, match="share no graded problem"):
        behaviour_changes(RESPONSES, after.filter(problem_id="c"), HAND, **SETTINGS)


def test_a_file_that_breaks_its_contract_is_refused(tmp_path: Path) -> None:
    assert Behaviours.model_validate(read_params(FILE)).version >= 1
    with pytest.raises(DataError, match=r"no set 'french'.*\n.*english, laptop"):
        read_behaviours("french", FILE)
    with pytest.raises(DataError, match="no such file"):
        read_behaviours("english", tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    families = "{planning: [first, Plan], set-up: [plan]}"
    bad.write_text(f"version: 1\nsets: {{mine: {{about: mine, families: {families}}}}}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"sets\.mine: 'plan' stands in set-up and in planning"):
        read_behaviours("mine", bad)
