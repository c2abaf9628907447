"""Prefixes of traces, worked out by hand. 1 is EOS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elastic.decoding.prefixes import cut_solution, cut_total
from elastic.trace import Trace

NATURAL = Trace((2,), (10, 11, 12), (20, 21, 1), "natural", "eos")
UNCLOSED = Trace((2,), (10, 11, 12, 13, 14), (), "never", "budget")
EOS_INSIDE = Trace((2,), (10, 11, 1), (), "eos", "eos")
OPENED = Trace((2,), (5, 10, 11), (20, 21, 1), "natural", "eos", opening=1)


@pytest.mark.parametrize(("solution", "ids", "finish"), [(1, (20,), "budget"), (2, (20, 21), "budget")])
def test_a_cut_solution_ends_by_its_budget(solution: int, ids: tuple[int, ...], finish: str) -> None:
    assert cut_solution(NATURAL, solution) == replace(NATURAL, solution_ids=ids, finish=finish)


def test_a_solution_that_fits_keeps_its_end() -> None:
    assert cut_solution(NATURAL, 3) == cut_solution(NATURAL, 9) == NATURAL


@pytest.mark.parametrize(
    ("trace", "total", "expected"),
    [
        (NATURAL, 2, Trace((2,), (10, 11), (), "never", "budget")),
        # All three thinking tokens are spent; the delimiter's turn would come after the limit.
        (NATURAL, 3, Trace((2,), (10, 11, 12), (), "never", "budget")),
        (NATURAL, 4, Trace((2,), (10, 11, 12), (20,), "natural", "budget")),
        (NATURAL, 6, NATURAL),
        (UNCLOSED, 4, Trace((2,), (10, 11, 12, 13), (), "never", "budget")),
        (UNCLOSED, 5, UNCLOSED),
        (EOS_INSIDE, 2, Trace((2,), (10, 11), (), "never", "budget")),
        (EOS_INSIDE, 3, EOS_INSIDE),
        # The opening delimiter is free.
        (OPENED, 1, Trace((2,), (5, 10), (), "never", "budget", opening=1)),
        (OPENED, 3, Trace((2,), (5, 10, 11), (20,), "natural", "budget", opening=1)),
    ],
)
def test_truncation_at_a_total(trace: Trace, total: int, expected: Trace) -> None:
    assert cut_total(trace, total) == expected
