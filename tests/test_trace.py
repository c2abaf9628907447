"""The counting rule, on traces worked out by hand."""

from __future__ import annotations

import pytest

from elastic.budget import Budget
from elastic.errors import BudgetError
from elastic.trace import Trace, split_completion

OPEN, CLOSE, EOS = 4, 5, 1
EOS_IDS = frozenset({EOS})


def split(ids: list[int]) -> Trace:
    return split_completion((7,), ids, open_id=OPEN, close_id=CLOSE, eos_ids=EOS_IDS)


def test_delimiters_are_free_and_a_final_eos_counts() -> None:
    trace = split([OPEN, 8, 9, CLOSE, 6, EOS])
    assert (trace.closed, trace.finish) == ("natural", "eos")
    assert (trace.n_think, trace.n_solution, trace.n_forced) == (2, 2, 0)
    # two thinking, two solution, and the two delimiters that the model wrote itself
    assert trace.n_sampled == 6


def test_an_inserted_delimiter_is_forced_and_not_sampled() -> None:
    trace = Trace((7,), (8, 9), (6, EOS), "forced", "eos")
    assert (trace.n_forced, trace.n_sampled) == (1, 4)
    assert trace.completion_ids(CLOSE) == [8, 9, CLOSE, 6, EOS]


def test_an_eos_inside_thinking_is_a_thinking_token_and_ends_the_trace() -> None:
    trace = split([8, EOS])
    assert (trace.closed, trace.n_think, trace.n_solution, trace.has_delimiter) == ("eos", 2, 0, False)
    assert trace.completion_ids(CLOSE) == [8, EOS]


def test_thinking_that_runs_out_never_closed() -> None:
    trace = split([8, 9, 8])
    assert (trace.closed, trace.finish, trace.truncated_solution) == ("never", "budget", False)


def test_only_the_first_delimiter_splits() -> None:
    assert split([8, CLOSE, 9, CLOSE, EOS]).solution_ids == (9, CLOSE, EOS)


def test_a_solution_cut_by_its_budget_is_truncated() -> None:
    assert split([8, CLOSE, 9]).truncated_solution
    assert not split([8, CLOSE, EOS]).truncated_solution


def test_a_broken_budget_is_an_error_and_no_data_point() -> None:
    trace = Trace((7,), (8, 9), (6, EOS), "forced", "eos")
    trace.check(Budget(2, 2))
    for budget in (Budget(1, 2), Budget(2, 1)):
        with pytest.raises(BudgetError, match="2 thinking and 2 solution"):
            trace.check(budget)
