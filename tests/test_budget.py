"""The grammar and limits of budgets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic.budget import Budget
from elastic.errors import BudgetError


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("24+20", Budget(24, 20)),
        ("0+1", Budget(0, 1)),
        (" 8 + 16 ", Budget(8, 16)),
        ("1K+1K", Budget(1024, 1024)),
        ("0.5K+1k", Budget(512, 1024)),
    ],
)
def test_budgets_are_read_as_written(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget


@pytest.mark.parametrize("text", ["", "24", "24+", "+20", "24+20+8", "a+b", "-1+20", "1M+1K", "0.3+1", "24 20"])
def test_what_is_no_budget_is_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(BudgetError, match="Remedy"):
        Budget.parse(text)


def test_a_solution_needs_room_and_thinking_may_have_none() -> None:
    assert Budget(0, 1).total == 1
    with pytest.raises(BudgetError, match="no room"):
        Budget(8, 0)
    with pytest.raises(BudgetError, match="below 0"):
        Budget(-1, 8)


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_writing_and_reading_a_budget_gives_it_back(think: int, solution: int) -> None:
    assert Budget.parse(str(Budget(think, solution))) == Budget(think, solution)
