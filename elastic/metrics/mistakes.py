"""What went wrong in an answer, where its steps can be checked.

Every graded answer is in exactly one class, the first of these that holds:

1. correct: its verdict.
2. loop: its budget cut a phase that went round in circles (`elastic/metrics/loops.py`).
3. no box: no answer was found.
4. arithmetic slip or wrong copy, whichever its first faulty step is. A slip has the right inputs and the wrong result;
   a wrong copy has inputs that are neither the question's nor the result before it. What follows from a faulty step is
   not held against it.
5. stopped early: every step is right, but the last one that the question needs is not there.
6. wrong box: every step is right and the last one is there, but another number is boxed: that of an earlier step, say,
   where thinking was cut while it checked itself.
7. other: a timeout, or no checker.

What a step is belongs to a domain, which brings a `StepChecker`; `elastic/metrics/chain_steps.py` is that of the laptop
world. Without one, 4 to 6 cannot be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import polars as pl

from elastic.contracts.evaluation import CELL
from elastic.errors import DataError
from elastic.metrics.intervals import mean_interval
from elastic.metrics.loops import loops
from elastic.metrics.problems import graded

Fault = Literal["arithmetic slip", "wrong copy"]
Mistake = Literal["correct", "loop", "no box", Fault, "stopped early", "wrong box", "other"]
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)


@dataclass(frozen=True, slots=True)
class Response:
    """What a step checker reads.

    Attributes:
        question: as the model was asked.
        thinking, solution: the text of the phases.
        thinking_cut, solution_cut: whether a budget cut the phase, so that its last step may be half of one.
    """

    question: str
    thinking: str
    solution: str
    thinking_cut: bool
    solution_cut: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What a step checker found.

    Attributes:
        fault: of the first faulty step, None where every step is right.
        finished: whether the last step that the question needs is there.
    """

    fault: Fault | None
    finished: bool


class StepChecker(Protocol):
    """Checks the steps of one domain."""

    def __call__(self, response: Response) -> Checked:
        """Check the steps of a response.

        Raises:
            DataError: the question is not of this domain.
        """


def classify(answer: dict[str, Any], checker: StepChecker | None) -> Mistake:
    """The class of one graded answer.

    Args:
        answer: columns verdict, closed, finish, question, solution_ids and solution_text of
            elastic.contracts.evaluation.Answers, with think_ids and think_text from `with_thinking`.
        checker: of the answer's domain, None where there is none.

    Raises:
        DataError: its question is not of the checker's domain.
    """
    if answer["verdict"] == "correct":
        return "correct"
    thinking_cut = answer["closed"] in ("forced", "never")
    solution_cut = answer["finish"] == "budget" and bool(answer["solution_ids"])
    if (thinking_cut and loops(answer["think_ids"])) or (solution_cut and loops(answer["solution_ids"])):
        return "loop"
    if answer["verdict"] == "no_answer":
        return "no box"
    if checker is None or answer["verdict"] == "timeout":
        return "other"
    if answer["question"] is None:
        raise DataError(
            "an answer without its question cannot be checked", where="mistakes", remedy="grade it with its question"
        )
    found = checker(
        Response(
            answer["question"],
            answer["think_text"],
            answer["solution_text"],
            thinking_cut,
            solution_cut,
        )
    )
    return found.fault or ("wrong box" if found.finished else "stopped early")


def mistake_shares(
    answers: pl.DataFrame, checker: StepChecker | None, *, confidence: float, resamples: int, seed: int
) -> pl.DataFrame:
    """The share of every class, by cell.

    Args:
        answers: frame of elastic.contracts.evaluation.Answers with the columns of `with_thinking`.
        checker: of their domain, None where there is none.
        confidence, resamples, seed: of the intervals.

    Returns:
        The columns of CELL, mistake (in the order of MISTAKES), share (mean over problems), low, high, n_answers (of
        the class) and n_problems (of the cell). The shares of a cell add up to 1.

    Raises:
        DataError: a question is not of the checker's domain.
    """
    frame = graded(answers)
    named = ["verdict", "closed", "finish", "question", "solution_ids", "solution_text", "think_ids"]
    classes = [classify(row, checker) for row in frame.select(*named, "think_text").iter_rows(named=True)]
    frame = frame.select(*CELL, "problem_id", mistake=pl.Series(classes, dtype=pl.String))
    rows = []
    for cell in frame.sort(*CELL, "problem_id").partition_by(CELL, maintain_order=True):
        head = cell.select(CELL).row(0, named=True)
        for mistake in MISTAKES:
            here = cell.group_by("problem_id", maintain_order=True).agg(
                share=(pl.col("mistake") == mistake).mean(), answers=(pl.col("mistake") == mistake).sum()
            )
            found = mean_interval(here["share"].to_numpy(), confidence=confidence, resamples=resamples, seed=seed)
            rows.append(
                head
                | {"mistake": mistake, "share": found.mean, "low": found.low, "high": found.high}
                | {"n_answers": int(here["answers"].sum()), "n_problems": len(here)}
            )
    return pl.DataFrame(rows, infer_schema_length=None)
