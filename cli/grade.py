"""`elastic grade`: verdicts for outputs in files, from any source; and what another grader would say of old ones.

JSONL rows have `id`, `gold` and `output`, which is split at its last closing think tag (`elastic/answers/extract.py`).
A traces parquet has its phases apart already; it holds the gold answers if it was scored before. With `--regrade`, rows
that were graded once are graded again and compared (`cli/regrade.py`); the files themselves stay as they are.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ConfigDict, StrictFloat, StrictInt, StrictStr

from elastic.answers.extract import split_output
from elastic.answers.graders import Grader, load_grader
from elastic.answers.verdict import Gold, Grade
from elastic.contracts.policy import Policy
from elastic.data.files import read_rows
from elastic.data.judged import JudgedRow
from elastic.errors import DataError

if TYPE_CHECKING:
    import polars as pl


class OutputRow(JudgedRow):
    """One line to grade; what else stands in it is kept.

    Attributes:
        id: of the row, given back as it is.
        gold: the right answer; empty where tests judge.
        output: all that the model wrote.
        question: as the model was asked, where it is known.
    """

    model_config = ConfigDict(extra="allow")

    id: StrictStr | StrictInt
    gold: StrictStr | StrictInt | StrictFloat
    output: StrictStr
    question: StrictStr | None = None

    @property
    def judged_by(self) -> Gold:
        """What a grader is given of the row beside its output."""
        return Gold(str(self.gold), Policy.from_text(self.policy), self.question, self.tests)


def command(
    files: Annotated[
        list[Path],
        typer.Argument(help="JSONL rows with id, gold and output, or a scored traces parquet; several with --regrade."),
    ],
    out: Annotated[Path, typer.Option(help="The same rows with verdict, answer and found_by; or those that change.")],
    grader: Annotated[str, typer.Option(help="A file of elastic/answers: math, exact, code.")] = "math",
    regrade: Annotated[
        bool, typer.Option("--regrade", help="Show what would change in files that were graded before.")
    ] = False,
    problems: Annotated[
        list[Path] | None, typer.Option(help="Curated problems with the tests that judge the programs in traces.")
    ] = None,
) -> None:
    """Grade the outputs in a file; nothing is sampled."""
    if regrade:
        from cli.regrade import show_changes

        if out.suffix != ".jsonl":
            raise DataError("changes are JSONL rows", where=str(out), remedy=f"write to {out.with_suffix('.jsonl')}")
        with load_grader(grader) as judge:
            show_changes(files, out, judge, problems or [])
        return
    if len(files) > 1:
        raise DataError(
            f"{len(files)} files are named",
            where="elastic grade",
            remedy="grade one file at a time, or add --regrade to compare old verdicts",
        )
    [file] = files
    if file.suffix != out.suffix:
        raise DataError(
            f"the rows of a {file.suffix or 'nameless'} file come back as such a file",
            where=str(out),
            remedy=f"write to {out.with_suffix(file.suffix)}",
        )
    with load_grader(grader) as judge:
        if file.suffix == ".parquet":
            verdicts = grade_traces(file, out, judge, problems or [])
        else:
            verdicts = grade_rows(file, out, judge)
        print(f"{out}: {len(verdicts)} rows, grader {judge.label}")
    for verdict, count in sorted(Counter(verdicts).items()):
        print(f"  {verdict:10} {count}")


def write_rows(out: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSONL, whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.partial")
    temporary.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    os.replace(temporary, out)


def grade_outputs(rows: list[OutputRow], grader: Grader) -> list[Grade]:
    """One grade a row."""
    return grader.grade_many([split_output(row.output) for row in rows], [row.judged_by for row in rows])


def grade_rows(file: Path, out: Path, grader: Grader) -> list[str]:
    """Grade JSONL rows and write them to `out`, whole or not at all.

    Returns:
        One verdict a row.

    Raises:
        DataError: the file cannot be read, or a row is malformed; names its line.
    """
    rows = list(read_rows(file, OutputRow))
    grades = grade_outputs(rows, grader)
    name = grader.label
    write_rows(
        out,
        (
            {
                **row.model_dump(exclude_unset=True),
                "verdict": grade.verdict,
                "answer": grade.answer,
                "found_by": grade.found_by,
                "grader": name,
            }
            | ({} if grade.pass_share is None else {"pass_share": grade.pass_share})
            for row, grade in zip(rows, grades, strict=True)
        ),
    )
    return [grade.verdict for grade in grades]


def grade_traces(file: Path, out: Path, grader: Grader, problems: list[Path]) -> list[str]:
    """Grade a scored traces parquet again and write it to `out`.

    Returns:
        One verdict a trace.

    Raises:
        DataError: the file is no frame of scored traces, or programs come without their tests.
    """
    from elastic.contracts.frames import Scored, read_frame, write_frame

    scored = score_traces(with_tests(read_frame(Scored, file), problems, where=file), grader)
    write_frame(Scored, scored, out)
    return scored["verdict"].to_list()


def with_tests(traces: pl.DataFrame, problems: list[Path], *, where: Path) -> pl.DataFrame:
    """Scored traces with a column `tests` where `problems` have tests for some of them.

    Raises:
        DataError: a trace has neither a gold answer nor tests.
    """
    import polars as pl

    from elastic.contracts.frames import Problems, read_frame

    if problems:
        known = pl.concat(read_frame(Problems, path) for path in problems).unique("problem_id")
        traces = traces.join(known.select("problem_id", "tests"), on="problem_id", how="left", maintain_order="left")
    judged = (pl.col("gold") != "") | (pl.col("tests").is_not_null() if problems else False)
    bare = traces.filter(~judged)
    if len(bare):
        raise DataError(
            f"{len(bare)} traces have neither a gold answer nor tests, the first of problem {bare['problem_id'][0]}",
            where=str(where),
            remedy="name the problems that they were sampled for: --problems data/curated/test.parquet",
        )
    return traces


def score_traces(traces: pl.DataFrame, grader: Grader) -> pl.DataFrame:
    """Traces with what judges them as a frame Scored; one that got as far as no solution has no answer."""
    import polars as pl

    from elastic.answers.frames import grade_frame
    from elastic.contracts.frames import HAS_DELIMITER, Scored

    columns = list(Scored.to_schema().columns)
    bare = traces.drop("answer", "found_by", "verdict", "pass_share", "grader", strict=False)
    return grade_frame(bare.with_columns(solution=pl.when(HAS_DELIMITER).then("solution_text")), grader).select(columns)
