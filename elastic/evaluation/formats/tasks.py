"""An evaluation as other tools see one: a task for every cell of its summary, with its problems and answers.

Neither tool has a budget: one benchmark under two budgets is two tasks there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from elastic.contracts.evaluation import CELL
from elastic.contracts.evaluation_records import EvaluationRecord, SummaryRow
from elastic.contracts.records import read_record
from elastic.errors import DataError
from elastic.evaluation.folder import EVALUATION, Folder
from elastic.metrics.accuracy import problem_accuracies

_ORDER = ["problem_id", "sample", "depth", "draw"]


@dataclass(frozen=True)
class Asked:
    """A problem of a task and what was answered.

    Attributes:
        problem_id, gold: of the problem.
        question: empty where the licence keeps it out of what is written.
        policy: JSON of a Policy, or None.
        texts, token_ids, verdicts, answers: of the solutions, in the order of samples, depths and draws.
        accuracy: share of correct ones; None where every one ended in an error of the grader.
    """

    problem_id: str
    question: str
    gold: str
    policy: str | None
    texts: list[str]
    token_ids: list[list[int]]
    verdicts: list[str]
    answers: list[str]
    accuracy: float | None


@dataclass(frozen=True)
class Task:
    """A cell of an evaluation.

    Attributes:
        name: of letters, digits and underscores.
        row: of the summary.
        problems: sorted by id.
        standard_error: of the mean accuracy over problems; None for a single problem.
    """

    name: str
    row: SummaryRow
    problems: list[Asked]
    standard_error: float | None


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation's folder holds."""

    record: EvaluationRecord
    tasks: list[Task]


def read_evaluation(folder: Path) -> Evaluation:
    """Read an evaluation's folder.

    Raises:
        DataError: it is no evaluation, is not whole, or a file of it is unreadable.
    """
    known = Folder(folder)
    record = read_record(EvaluationRecord, folder / EVALUATION)
    rows = known.summary(record)
    if rows is None:
        raise DataError(
            "has no summary of its runs", where=str(folder), remedy="run `elastic eval` again, which ends it"
        )
    frames = [known.read("answers", run.run) for run in known.runs()]
    cells = pl.concat(frames).sort(_ORDER).partition_by(CELL, as_dict=True)
    return Evaluation(record, [_task(row, cells) for row in rows])


def _name(row: SummaryRow) -> str:
    budget = [] if row.solution is None else [row.solution] if row.think is None else [row.think, row.solution]
    parts = [row.benchmark, row.run, row.method, row.setting, *budget, *([f"up to {row.limit}"] if row.limit else [])]
    words = re.sub(r"\W+", "_", "_".join(str(part) for part in parts if part != ""), flags=re.ASCII)
    return words.strip("_")


def _task(row: SummaryRow, cells: Mapping[tuple[Any, ...], pl.DataFrame]) -> Task:
    cell = cells[row.run, row.method, row.setting, row.think, row.solution, row.limit]
    accuracies = problem_accuracies(cell)
    by_problem = dict(accuracies.iter_rows())
    spread = accuracies["accuracy"].std()
    error = None if spread is None else float(spread) / len(accuracies) ** 0.5  # type: ignore[arg-type]
    problems = [_asked(rows, by_problem) for rows in cell.partition_by("problem_id", maintain_order=True)]
    return Task(_name(row), row, problems, error)


def _asked(rows: pl.DataFrame, accuracies: Mapping[str, float]) -> Asked:
    head = rows.row(0, named=True)
    return Asked(
        problem_id=head["problem_id"],
        question=head["question"] or "",
        gold=head["gold"],
        policy=head["policy"],
        texts=rows["solution_text"].to_list(),
        token_ids=rows["solution_ids"].to_list(),
        verdicts=rows["verdict"].to_list(),
        answers=rows["answer"].fill_null("").to_list(),
        accuracy=accuracies.get(head["problem_id"]),
    )


def stamp(when: datetime) -> str:
    """A moment as both tools write it into names of files."""
    return when.isoformat().replace(":", "-")


def replace_text(path: Path, text: str) -> Path:
    """Write a file under a temporary name, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return path
