"""Verdicts of an evaluation's answers: given when they are sampled, and again when grader or golds have changed."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from elastic.answers.frames import count_errors, gold_columns, grade_frame
from elastic.answers.graders import Grader
from elastic.contracts.evaluation import Answers, Solutions
from elastic.contracts.evaluation_records import Grading
from elastic.contracts.frames import HAS_DELIMITER
from elastic.evaluation.planning import digest


def grading_of(problems: pl.DataFrame, grader: Grader) -> Grading:
    """What answers to `problems` are judged by: columns problem_id, question, answer, policy and tests."""
    return Grading(grader=grader.label, golds=digest(gold_columns(problems).rows()))


def graded_answers(
    solutions: pl.DataFrame,
    problems: pl.DataFrame,
    grader: Grader,
    *,
    max_error_share: float,
    show_questions: bool,
    progress: Callable[[str], None],
) -> pl.DataFrame:
    """Solutions with their verdicts.

    Args:
        solutions: contract Solutions; answers that were graded before will do.
        problems: columns problem_id, question, answer, policy and tests.
        grader: gives the verdicts.
        max_error_share: of all answers.
        show_questions: whether questions are kept beside the answers; a licence may forbid it.
        progress: is told how far grading is.

    Returns:
        A frame of the contract Answers, in the order of `solutions`.

    Raises:
        GraderError: too many errors.
    """
    asked = solutions.select(*Solutions.to_schema().columns).with_columns(
        solution=pl.when(HAS_DELIMITER).then("solution_text")
    )
    judged = asked.join(gold_columns(problems), on="problem_id", how="left", maintain_order="left")
    graded = grade_frame(judged, grader, progress)
    count_errors(
        graded,
        max_error_share,
        where=f"run {solutions['run'][0]}",
        remedy="choose another grader, or look at its errors; what was sampled is kept",
    )
    if not show_questions:
        graded = graded.with_columns(question=pl.lit(None, pl.String))
    return graded.select(*Answers.to_schema().columns)
