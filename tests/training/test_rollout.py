"""What training sees of a trace."""

from __future__ import annotations

import pytest

from elastic.trace import Closed, Trace
from elastic.training.rollout import training_row

CLOSE = 9


def trace(closed: Closed, think: tuple[int, ...] = (1, 2), solution: tuple[int, ...] = (3, 4)) -> Trace:
    return Trace((7,), think, solution, closed, "budget")


def test_the_forced_delimiter_alone_is_masked() -> None:
    row = training_row(trace("forced"), CLOSE, faithful=False)
    assert row.completion_ids == [1, 2, CLOSE, 3, 4]
    assert row.loss_mask == [1, 1, 0, 1, 1]


def test_the_delimiter_of_an_empty_thinking_is_masked() -> None:
    row = training_row(trace("forced", think=()), CLOSE, faithful=False)
    assert (row.completion_ids, row.loss_mask) == ([CLOSE, 3, 4], [0, 1, 1])


def test_a_delimiter_that_the_model_wrote_stays_in_the_loss() -> None:
    assert training_row(trace("natural"), CLOSE, faithful=False).loss_mask == [1, 1, 1, 1, 1]


def test_faithful_keeps_the_forced_delimiter_in_the_loss() -> None:
    assert training_row(trace("forced"), CLOSE, faithful=True).loss_mask == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("faithful", [False, True])
def test_an_eos_inside_thinking_ends_the_row(faithful: bool) -> None:
    row = training_row(trace("eos", think=(1, 0), solution=()), CLOSE, faithful=faithful)
    assert (row.completion_ids, row.loss_mask) == ([1, 0], [1, 1])
