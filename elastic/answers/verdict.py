"""What grading says of one answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """One of five.

    A timeout (of time or memory) was caused by the answer and counts as not correct. An error is a fault of ours:
    it is left out of statistics and of training groups, and counted.
    """

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True)
class Grade:
    """A verdict and what it was based on.

    Attributes:
        verdict: what grading says.
        answer: the answer as it stands in the solution; None where none was found.
        found_by: name of the filter that found it.
    """

    verdict: Verdict
    answer: str | None
    found_by: str | None
