"""Frames that cross a border between stages, as pandera models over polars; read and written here only.

Validation runs on collected data: a lazy frame would pass bad values in silence, so it is refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import pandera.polars as pa
import polars as pl
from pandera.errors import SchemaErrors
from polars.exceptions import PolarsError

from elastic.errors import DataError

SPLITS = ["teaching", "training", "validation", "test"]
EVALUATED_SPLITS = ["validation", "test"]
ROLES = ["any", "teaching", "training", "validation", "test"]
DOMAINS = ["math", "code"]
METHODS = ["separate", "truncate", "unconstrained"]
CLOSED = ["natural", "forced", "eos", "never"]
FINISH = ["eos", "budget"]
# Whether a trace got as far as a solution: `Trace.has_delimiter` of a row.
HAS_DELIMITER = pl.col("closed").is_in(["natural", "forced"]) | (pl.col("n_solution") > 0)
VERDICTS = ["correct", "wrong", "no_answer", "timeout", "error"]


class StrictFrame(pa.DataFrameModel):
    """Columns as written, in their order, and no others."""

    class Config:
        strict = True
        ordered = True


class Collected(StrictFrame):
    """Raw rows of every source, as they came.

    `answer` is empty where `tests` (JSON of CodeTests) judge programs. `policy` is the JSON of a Policy, null for the
    default one. `level` is the source's own difficulty, `reference` the reference program of a code problem.
    """

    source: str
    source_id: str
    role: str = pa.Field(isin=ROLES)
    licence: str
    domain: str = pa.Field(isin=DOMAINS)
    question: str
    answer: str
    policy: str = pa.Field(nullable=True)
    tests: str = pa.Field(nullable=True)
    reference: str = pa.Field(nullable=True)
    level: str = pa.Field(nullable=True)
    thinking: str = pa.Field(nullable=True)
    solution: str = pa.Field(nullable=True)


class Problems(StrictFrame):
    """One split of curated problems; `thinking` and `solution` are demonstrations, where the source has them."""

    problem_id: str = pa.Field(unique=True, str_matches=r"^[0-9a-f]{16}$")
    source: str
    source_id: str
    licence: str
    split: str = pa.Field(isin=SPLITS)
    domain: str = pa.Field(isin=DOMAINS)
    level: str = pa.Field(nullable=True)
    question: str = pa.Field(str_length={"min_value": 1})
    answer: str
    answer_original: str
    policy: str = pa.Field(nullable=True)
    tests: str = pa.Field(nullable=True)
    thinking: str = pa.Field(nullable=True)
    solution: str = pa.Field(nullable=True)

    @pa.dataframe_check
    @classmethod
    def judged_by_something(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Every problem has an answer, or tests, by its domain."""
        code = pl.col("domain") == "code"
        return data.lazyframe.select((code & pl.col("tests").is_not_null()) | (~code & (pl.col("answer") != "")))


class Rejected(StrictFrame):
    """Rows that left the data, each with its reason and what it collided with, if anything."""

    source: str
    source_id: str
    question: str
    answer: str
    reason: str = pa.Field(str_length={"min_value": 1})
    detail: str


class PassRates(StrictFrame):
    """Pass rates of training problems, unfiltered. Errors are left out of `graded`, never counted as wrong.

    `pass_rate` and `bucket` (params bucket.edges) are null where no trace was graded.
    """

    problem_id: str = pa.Field(unique=True)
    source: str
    samples: int = pa.Field(ge=2)
    graded: int = pa.Field(ge=0)
    correct: int = pa.Field(ge=0)
    pass_rate: float = pa.Field(ge=0, le=1, nullable=True)
    bucket: str = pa.Field(str_length={"min_value": 1}, nullable=True)
    kept: bool


class TrainingSet(StrictFrame):
    """What GRPO trains on, in the order of `rank`; and the slice of it that only its monitor reads."""

    rank: int = pa.Field(unique=True, ge=0)
    problem_id: str = pa.Field(unique=True)
    source: str
    question: str
    answer: str
    policy: str = pa.Field(nullable=True)
    tests: str = pa.Field(nullable=True)
    pass_rate: float = pa.Field(ge=0, le=1)
    bucket: str = pa.Field(str_length={"min_value": 1})


class Traces(StrictFrame):
    """Sampled traces. `think_budget` and `solution_budget` are null for unconstrained ones, `limit` for the others."""

    problem_id: str
    split: str
    model: str
    method: str = pa.Field(isin=METHODS)
    think_budget: int = pa.Field(ge=0, nullable=True)
    solution_budget: int = pa.Field(ge=1, nullable=True)
    limit: int = pa.Field(ge=1, nullable=True)
    sample: int = pa.Field(ge=0)
    prompt_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    think_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    solution_ids: pl.List(pl.Int64)  # type: ignore[valid-type]
    n_think: int = pa.Field(ge=0)
    n_solution: int = pa.Field(ge=0)
    closed: str = pa.Field(isin=CLOSED)
    finish: str = pa.Field(isin=FINISH)
    think_text: str
    solution_text: str

    @pa.dataframe_check
    @classmethod
    def budgets_hold(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """No phase is longer than its budget, and no unconstrained trace longer than its limit."""
        separate = pl.col("method") == "separate"
        total = pl.col("n_think") + pl.col("n_solution")
        allowed = pl.coalesce(pl.col("limit"), pl.col("think_budget") + pl.col("solution_budget"))
        thinks = pl.col("n_think") <= pl.col("think_budget")
        solves = pl.col("n_solution") <= pl.col("solution_budget")
        return data.lazyframe.select((~separate | (thinks & solves)) & (total <= allowed))


class Scored(Traces):
    """Traces with what grading said of them; `answer` is null where none was found.

    `question`, `gold` and `policy` are what the grader was given beside the solution; tests stay with the problems.
    `pass_share` is the share of the tests that a program passed; `grader` names grader and version.
    """

    question: str = pa.Field(nullable=True)
    gold: str
    policy: str = pa.Field(nullable=True)
    answer: str = pa.Field(nullable=True)
    found_by: str = pa.Field(nullable=True)
    verdict: str = pa.Field(isin=VERDICTS)
    pass_share: float = pa.Field(ge=0, le=1, nullable=True)
    grader: str


Frame = TypeVar("Frame", bound=pa.DataFrameModel)


def check_frame(
    model: type[pa.DataFrameModel], frame: pl.DataFrame, *, where: str, empty: bool = False
) -> pl.DataFrame:
    """Validate a collected frame.

    Args:
        model: its contract.
        frame: a polars DataFrame; a LazyFrame is refused.
        where: the file, for the error.
        empty: whether no rows at all are allowed.

    Raises:
        DataError: naming the file, the columns and the first bad values.
    """
    if not isinstance(frame, pl.DataFrame):
        raise DataError(
            f"a {type(frame).__name__} cannot be validated", where=where, remedy="collect it before it crosses a border"
        )
    if frame.is_empty() and not empty:
        raise DataError("holds no rows", where=where, remedy="look at what the stage before it kept and rejected")
    try:
        return model.validate(frame, lazy=True)
    except SchemaErrors as error:
        cases = error.failure_cases.head(5)
        faults = [
            f"{row['column'] or row['schema_context']}: {row['check']} (got {row['failure_case']!r})"
            for row in cases.iter_rows(named=True)
        ]
        raise DataError(
            f"breaks the contract {model.__name__}: " + "; ".join(faults),
            where=where,
            remedy="mend the stage that wrote it, or delete the file and run `dvc repro`",
        ) from None


def read_frame(model: type[pa.DataFrameModel], path: Path, *, empty: bool = False) -> pl.DataFrame:
    """Read a parquet file and validate it.

    Raises:
        DataError: the file is missing, cut short, or breaks its contract.
    """
    if not path.exists():
        raise DataError("no such file", where=str(path), remedy="run `dvc repro`, which makes it")
    try:
        frame = pl.read_parquet(path)
    except (PolarsError, OSError) as error:
        raise DataError(
            f"not a readable parquet file: {error}", where=str(path), remedy="delete it and run `dvc repro`"
        ) from None
    return check_frame(model, frame, where=str(path), empty=empty)


def write_frame(model: type[pa.DataFrameModel], frame: pl.DataFrame, path: Path, *, empty: bool = False) -> None:
    """Validate and write a parquet file under a temporary name, then rename it.

    Raises:
        DataError: the frame breaks its contract; nothing is written.
    """
    checked = check_frame(model, frame, where=str(path), empty=empty)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    checked.write_parquet(temporary, compression="zstd")
    os.replace(temporary, path)
