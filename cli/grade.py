"""`elastic grade`: verdicts for outputs in a file, from any source.

JSONL rows have `id`, `gold` and `output`, which is split at its last closing think tag (`elastic/answers/extract.py`).
A traces parquet has its phases apart already; it holds the gold answers if it was scored before.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr

from elastic.answers.extract import split_output
from elastic.answers.graders import Grader, load_grader
from elastic.answers.verdict import Gold
from elastic.data.files import read_rows
from elastic.errors import DataError

if TYPE_CHECKING:
    import polars as pl


class OutputRow(BaseModel):
    """One line to grade; what else stands in it is kept.

    Attributes:
        id: of the row, given back as it is.
        gold: the right answer.
        output: all that the model wrote.
        question: as the model was asked, where it is known.
    """

    model_config = ConfigDict(extra="allow")

    id: StrictStr | StrictInt
    gold: StrictStr | StrictInt | StrictFloat
    output: StrictStr
    question: StrictStr | None = None


def command(
    file: Annotated[Path, typer.Argument(help="JSONL rows with id, gold and output, or a scored traces parquet.")],
    out: Annotated[Path, typer.Option(help="The same rows with verdict, answer and found_by.")],
    grader: Annotated[str, typer.Option(help="math or exact.")] = "math",
) -> None:
    """Grade the outputs in a file; nothing is sampled."""
    if file.suffix != out.suffix:
        raise DataError(
            f"the rows of a {file.suffix or 'nameless'} file come back as such a file",
            where=str(out),
            remedy=f"write to {out.with_suffix(file.suffix)}",
        )
    grade = grade_traces if file.suffix == ".parquet" else grade_rows
    with load_grader(grader) as judge:
        verdicts = grade(file, out, judge)
        print(f"{out}: {len(verdicts)} rows, grader {judge.name} {judge.version}")
    for verdict, count in sorted(Counter(verdicts).items()):
        print(f"  {verdict:10} {count}")


def grade_rows(file: Path, out: Path, grader: Grader) -> list[str]:
    """Grade JSONL rows and write them to `out`, whole or not at all.

    Returns:
        One verdict a row.

    Raises:
        DataError: the file cannot be read, or a row is malformed; names its line.
    """
    rows = list(read_rows(file, OutputRow))
    golds = [Gold(str(row.gold), question=row.question) for row in rows]
    grades = grader.grade_many([split_output(row.output) for row in rows], golds)
    name = f"{grader.name} {grader.version}"
    lines = [
        {
            **row.model_dump(exclude_unset=True),
            "verdict": grade.verdict,
            "answer": grade.answer,
            "found_by": grade.found_by,
            "grader": name,
        }
        for row, grade in zip(rows, grades, strict=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.partial")
    temporary.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
    os.replace(temporary, out)
    return [grade.verdict for grade in grades]


def grade_traces(file: Path, out: Path, grader: Grader) -> list[str]:
    """Grade a scored traces parquet again and write it to `out`.

    Returns:
        One verdict a trace.

    Raises:
        DataError: the file is no frame of scored traces.
    """
    from elastic.contracts.frames import Scored, read_frame, write_frame

    scored = score_traces(read_frame(Scored, file), grader)
    write_frame(Scored, scored, out)
    return scored["verdict"].to_list()


def score_traces(traces: pl.DataFrame, grader: Grader) -> pl.DataFrame:
    """Traces with what judges them as a frame Scored; one that got as far as no solution has no answer."""
    import polars as pl

    from elastic.answers.frames import grade_frame
    from elastic.contracts.frames import HAS_DELIMITER, Scored

    columns = list(Scored.to_schema().columns)
    bare = traces.drop("answer", "found_by", "verdict", "pass_share", "grader", strict=False)
    return grade_frame(bare.with_columns(solution=pl.when(HAS_DELIMITER).then("solution_text")), grader).select(columns)
