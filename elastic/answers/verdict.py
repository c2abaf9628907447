"""What grading says of one answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from elastic.contracts.policy import DEFAULT_POLICY, Policy


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
class Gold:
    """What an answer is judged by.

    Attributes:
        answer: the right answer in words or figures; empty where tests judge.
        policy: what the comparison forgives.
        question: as the model was asked, where it is known: an answer that only restates it is none.
        tests: JSON of `CodeTests`, where programs are judged.
    """

    answer: str
    policy: Policy = DEFAULT_POLICY
    question: str | None = None
    tests: str | None = None


@dataclass(frozen=True)
class Grade:
    """A verdict and what it was based on.

    Attributes:
        verdict: what grading says.
        answer: the answer as it stands in the solution; None where none was found.
        found_by: name of the filter that found it.
        pass_share: share of the tests that a program passed; None where no test ran.
    """

    verdict: Verdict
    answer: str | None
    found_by: str | None
    pass_share: float | None = None
