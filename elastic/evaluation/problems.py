"""What an evaluation asks: the problems of a file or of a benchmark, each with its user turn and what judges it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import ConfigDict, Field, StrictInt, StrictStr, ValidationInfo, field_validator

from elastic.contracts.benchmark import Benchmark
from elastic.contracts.frames import Problems as Curated
from elastic.contracts.frames import read_frame
from elastic.data.benchmarks import benchmark_problems, forbids_plain_text
from elastic.data.files import Answer, Filled, read_rows
from elastic.data.judged import JudgedRow
from elastic.errors import DataError
from elastic.prompts import user_turn

QUESTION = "{question}"
COLUMNS = ["problem_id", "prompt", "question", "answer", "policy", "tests"]


@dataclass(frozen=True)
class Problems:
    """What is asked.

    Attributes:
        name: of the set.
        frame: COLUMNS, all texts; `prompt` is the user turn, policy and tests are null where there are none.
        show_questions: whether questions may stand beside the answers; a licence can forbid it.
    """

    name: str
    frame: pl.DataFrame
    show_questions: bool = True


class EvalProblem(JudgedRow):
    """One line of a problem file; other fields are left alone.

    Attributes:
        id: of the problem; its place in the file by default.
        question: as the model is asked.
        answer: the gold answer; it can be left out where there are tests.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: StrictStr | StrictInt | None = None
    question: Filled
    answer: Annotated[Answer | None, Field(validate_default=True)] = None

    @field_validator("answer", mode="before")
    @classmethod
    def _judged(cls, value: Any, info: ValidationInfo) -> Any:
        if value not in (None, ""):
            return value
        if not info.data.get("tests"):
            raise ValueError("is missing, and there are no tests in its place")
        return None


def problems_in(file: Path, template: str) -> Problems:
    """The problems of a JSONL file, or of a parquet file of the contract Problems, in the file's order.

    Args:
        file: its name without the suffix names the set.
        template: the user turn, with QUESTION where the question goes.

    Raises:
        DataError: there is no such file, a row is malformed, an id stands twice, there are no rows, or the template
            asks nothing.
    """
    if not file.is_file():
        raise DataError("there is no such file", where=str(file), remedy="name the file of the problems")
    if file.suffix == ".parquet":
        frame = read_frame(Curated, file)
    else:
        rows = list(read_rows(file, EvalProblem))
        if not rows:
            raise DataError("holds no problems", where=str(file), remedy="write one JSON object on each line")
        names = [str(place if row.id is None else row.id) for place, row in enumerate(rows, start=1)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise DataError(f"the id {twice!r} stands twice", where=str(file), remedy="give every problem its own id")
        plain = [row.model_dump(exclude={"id"}) | {"problem_id": name} for name, row in zip(names, rows, strict=True)]
        schema = dict.fromkeys(["problem_id", *COLUMNS[2:]], pl.String)
        frame = pl.DataFrame(plain, schema=schema).with_columns(pl.col("answer").fill_null(""))
    return Problems(file.stem, _asked(frame, template))


def problems_of(benchmark: Benchmark, template: str | None = None) -> Problems:
    """The problems of a benchmark.

    Args:
        benchmark: from `load_benchmark`.
        template: the user turn in the place of the benchmark's, with QUESTION where the question goes.

    Raises:
        DataError: the benchmark does not give its problems, or the template asks nothing.
    """
    frame = benchmark_problems(benchmark)
    asked = frame.select(COLUMNS) if template is None else _asked(frame, template)
    return Problems(benchmark.label, asked, show_questions=not forbids_plain_text(benchmark))


def _asked(frame: pl.DataFrame, template: str) -> pl.DataFrame:
    if QUESTION not in template:
        raise DataError(f"holds no {QUESTION}", where="the template", remedy="write where the question goes")
    prompts = [user_turn(template, question) for question in frame["question"]]
    return frame.with_columns(prompt=pl.Series(prompts, dtype=pl.String)).select(COLUMNS)
