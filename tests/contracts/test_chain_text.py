"""The text of chains, read back."""

from __future__ import annotations

import pytest

from elastic.contracts.chains import Chain, Step, read_steps
from elastic.errors import DataError


@pytest.mark.parametrize("chain", [Chain(4, ("+3", "-7")), Chain(12, ("^3", "~17", "~2")), Chain(0, ("+1",) * 9)])
def test_a_question_is_read_as_it_was_written(chain: Chain) -> None:
    assert Chain.read(chain.question) == chain
    assert Chain.read(chain.question.replace(" ", "")) == chain


@pytest.mark.parametrize(
    "question", ["1+1=?", "A4=?", "A4 B+3", "A4 C+3=?", "B4 C+3=?", "A4 B*3=?", "A4 B+3 C-7=? why"]
)
def test_what_is_no_chain_is_refused(question: str) -> None:
    with pytest.raises(DataError, match="is no chain"):
        Chain.read(question)


def test_steps_by_label() -> None:
    assert Chain.read("A4 B+3 C~5=?").by_label == {"B": (4, "+3", 7), "C": (7, "~5", 5)}


def test_steps_are_read_wordy_and_terse_and_cut_ones_are_not() -> None:
    assert list(read_steps(" B4+3=7 so C5 check: D7^12=12 E3- F4~ G8+1= \\boxed{12}")) == [
        Step("B", 4, "+3", 7, 7),
        Step("C", None, None, 5, 13),
        Step("D", 7, "^12", 12, 29),
    ]
    assert list(read_steps("A4 check: \\boxed{4}")) == []
