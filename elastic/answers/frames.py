"""Frames of solutions and what grading says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from elastic.answers.graders import Grader, load_grader
from elastic.answers.verdict import Gold
from elastic.contracts.policy import DEFAULT_POLICY, Policy
from elastic.errors import GraderError

_CHUNK = 2000
_JUDGED_BY = ["gold", "policy", "question", "tests"]


def gold_columns(problems: pl.DataFrame) -> pl.DataFrame:
    """`problem_id` and what a grader is given of each problem: `gold`, `policy`, `question`, `tests`."""
    return problems.select("problem_id", pl.col("answer").alias("gold"), "policy", "question", "tests")


def golds_of(frame: pl.DataFrame) -> list[Gold]:
    """One gold a row.

    Args:
        frame: with `gold` and, where they are known, `policy`, `question` and `tests`.
    """
    known = frame.select(name for name in _JUDGED_BY if name in frame.columns)
    policies = {text: Policy.from_text(text) for text in (known["policy"].unique() if "policy" in known else ())}
    return [
        Gold(row["gold"], policies.get(row.get("policy"), DEFAULT_POLICY), row.get("question"), row.get("tests"))
        for row in known.iter_rows(named=True)
    ]


def grade_frame(frame: pl.DataFrame, grader: Grader, progress: Callable[[str], None] = lambda _: None) -> pl.DataFrame:
    """`frame` with `answer`, `found_by`, `verdict`, `pass_share` and `grader`; equal rows are graded once.

    Args:
        frame: with `solution`, null where a trace never got as far as one, and the columns of `golds_of`.
        grader: gives the verdicts.
        progress: is told how far grading is.
    """
    keys = ["solution", *(name for name in _JUDGED_BY if name in frame.columns)]
    different = frame.select(keys).unique(maintain_order=True)
    grades = []
    for piece in different.iter_slices(_CHUNK):
        grades += grader.grade_many(piece["solution"].to_list(), golds_of(piece))
        progress(f"{len(grades)} of {len(different)} different solutions graded")
    said = different.with_columns(
        pl.Series("answer", [grade.answer for grade in grades], dtype=pl.String),
        pl.Series("found_by", [grade.found_by for grade in grades], dtype=pl.String),
        pl.Series("verdict", [str(grade.verdict) for grade in grades], dtype=pl.String),
        pl.Series("pass_share", [grade.pass_share for grade in grades], dtype=pl.Float64),
        grader=pl.lit(grader.label),
    )
    return frame.join(said, on=keys, how="left", nulls_equal=True, maintain_order="left")


def grade_within(
    frame: pl.DataFrame, name: str, max_error_share: float, *, where: str, key: str, progress: Callable[[str], None]
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """`grade_frame` by the grader called `name`, and the facts `grader` and `errors` of it.

    Args:
        frame: as for `grade_frame`, one row a trace.
        name: of the grader.
        max_error_share: of all rows.
        where: the stage, for the error.
        key: of params.yaml, where the share stands.
        progress: is told how far grading is.

    Raises:
        GraderError: too many errors.
    """
    with load_grader(name) as grader:
        graded = grade_frame(frame, grader, progress)
        named = {"name": grader.name, "version": grader.version}
    remedy = f"mend the grader, or allow more at {key} in params.yaml"
    return graded, {"grader": named, "errors": count_errors(graded, max_error_share, where=where, remedy=remedy)}


def count_errors(graded: pl.DataFrame, max_error_share: float, *, where: str, remedy: str) -> int:
    """How many verdicts are errors.

    Raises:
        GraderError: more than a share of all.
    """
    errors = int((graded["verdict"] == "error").sum())
    if errors > max_error_share * len(graded):
        raise GraderError(
            f"{errors} of {len(graded)} traces ended in an error of the grader {graded['grader'][0]}",
            where=where,
            remedy=remedy,
        )
    return errors
