"""The folder of an evaluation: one file a run of answers, thinking and costs, and what says what they are.

    evaluation.json            what all runs share
    answers/RUN.parquet        contract Answers
    thinking/RUN.parquet       contract Thinking
    costs/RUN.parquet          contract Costs: what a run cost here, seconds among it
    runs/RUN.json              what the run is; written last, so that a run that has it is whole
    summary.json, summary.md   one row a cell of all runs; there only while they are those of the runs
    formats/                   the same for other tools, where it was asked for

Files are written under a temporary name and renamed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from elastic.contracts.evaluation import Answers, Costs, Thinking
from elastic.contracts.evaluation_records import EvaluationRecord, Grading, RunRecord, SummaryRow
from elastic.contracts.frames import StrictFrame, read_frame, write_frame
from elastic.contracts.records import read_json, write_json
from elastic.errors import DataError
from elastic.evaluation.planning import file_stem

FRAMES: dict[str, type[StrictFrame]] = {"answers": Answers, "thinking": Thinking, "costs": Costs}
EVALUATION, RUNS, SUMMARY, MARKDOWN = "evaluation.json", "runs", "summary.json", "summary.md"
FORMATS = "formats"
_AGAIN = "delete it, and the next evaluation in this folder samples its run again"

Model = TypeVar("Model", bound=BaseModel)


class Folder:
    """An evaluation's folder, there or not yet.

    Args:
        path: where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def there(self, evaluation: EvaluationRecord, *, force: bool) -> list[RunRecord]:
        """The whole runs of this evaluation that the folder holds; none where it is free to be written.

        Args:
            evaluation: what the folder should be; grading and intervals may differ, since they sample nothing.
            force: whether another evaluation may be replaced.

        Raises:
            DataError: it holds another evaluation (and `force` is off), or anything else.
        """
        known = self._known()
        if known is None:
            return []
        if different := _differences(known, evaluation):
            if not force:
                raise DataError(
                    f"holds another evaluation, which differs in {', '.join(different)}",
                    where=str(self.path),
                    remedy="name a new folder with --out, or replace it with --force",
                )
            return []
        return self.runs()

    def _known(self) -> EvaluationRecord | None:
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        if not (self.path / EVALUATION).is_file():
            raise DataError("exists and is no evaluation", where=str(self.path), remedy="name a new folder with --out")
        return _read(EvaluationRecord, self.path / EVALUATION)

    def runs(self) -> list[RunRecord]:
        """The whole runs, by name."""
        records = [_read(RunRecord, path) for path in sorted((self.path / RUNS).glob("*.json"))]
        return sorted((record for record in records if self._whole(record)), key=lambda record: record.run)

    def _whole(self, record: RunRecord) -> bool:
        return all(self.frame_path(kind, record.run).is_file() for kind in FRAMES)

    def frame_path(self, kind: str, run: str) -> Path:
        """Where a frame of a run is."""
        return self.path / kind / f"{file_stem(run)}.parquet"

    def begin(self, evaluation: EvaluationRecord) -> None:
        """Make the folder that of `evaluation`; another evaluation in it is removed, other files stay."""
        known = self._known()
        if known is not None and _differences(known, evaluation):
            for name in (RUNS, *FRAMES, FORMATS):
                shutil.rmtree(self.path / name, ignore_errors=True)
        self._forget_summary()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"cannot be made: {error.strerror}", where=str(self.path), remedy="name another --out"
            ) from None
        write_json(self.path / EVALUATION, evaluation)

    def _forget_summary(self) -> None:
        for name in (SUMMARY, MARKDOWN):
            (self.path / name).unlink(missing_ok=True)

    def write_run(self, record: RunRecord, frames: dict[str, pl.DataFrame]) -> None:
        """Write a run, its record last.

        Raises:
            DataError: a frame breaks its contract.
        """
        self._forget_summary()
        (self.path / RUNS / f"{file_stem(record.run)}.json").unlink(missing_ok=True)
        for kind, frame in frames.items():
            write_frame(FRAMES[kind], frame, self.frame_path(kind, record.run))
        write_json(self.path / RUNS / f"{file_stem(record.run)}.json", record)

    def regrade(self, record: RunRecord, grading: Grading, answers: pl.DataFrame) -> None:
        """Replace the verdicts of a run; a kill in between leaves the old record, and it is graded again."""
        self._forget_summary()
        write_frame(Answers, answers, self.frame_path("answers", record.run))
        write_json(self.path / RUNS / f"{file_stem(record.run)}.json", record.model_copy(update={"grading": grading}))

    def read(self, kind: str, run: str) -> pl.DataFrame:
        """A frame of a run.

        Raises:
            DataError: it is missing, cut short, or breaks its contract.
        """
        path = self.frame_path(kind, run)
        try:
            return read_frame(FRAMES[kind], path)
        except DataError as error:
            raise DataError(error.what, where=str(path), remedy=_AGAIN) from None

    def answers(self, columns: list[str]) -> pl.DataFrame:
        """These columns of the answers of all runs.

        Raises:
            DataError: a file is cut short.
        """
        return pl.concat(self._columns(self.frame_path("answers", record.run), columns) for record in self.runs())

    def _columns(self, path: Path, columns: list[str]) -> pl.DataFrame:
        try:
            return pl.read_parquet(path, columns=columns).select(columns)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"not a readable parquet file: {error}", where=str(path), remedy=_AGAIN) from None

    def write_summary(self, rows: list[SummaryRow], markdown: str) -> None:
        """Write the summary, summary.json last: it says that both are there."""
        temporary = self.path / f".{MARKDOWN}.partial"
        temporary.write_text(markdown, encoding="utf-8")
        os.replace(temporary, self.path / MARKDOWN)
        write_json(self.path / SUMMARY, [row.model_dump(mode="json") for row in rows])

    def summary(self, evaluation: EvaluationRecord) -> list[SummaryRow] | None:
        """The rows; None where the runs, or how they are summed up, have changed since they were made."""
        path = self.path / SUMMARY
        if self._known() != evaluation or not path.is_file():
            return None
        return [SummaryRow.model_validate(row) for row in read_json(path)]


def _differences(known: EvaluationRecord, wanted: EvaluationRecord) -> list[str]:
    """What the two differ in of what is sampled."""
    names = ["model", "problems", "engine", "versions"]
    found = [name for name in names if getattr(known, name) != getattr(wanted, name)]
    of_protocol = type(known.protocol).model_fields
    return found + [name for name in of_protocol if getattr(known.protocol, name) != getattr(wanted.protocol, name)]


def _read(model: type[Model], path: Path) -> Model:
    try:
        return model.model_validate(read_json(path))
    except DataError as error:
        raise DataError(error.what, where=str(path), remedy="name a new folder with --out") from None
    except ValidationError as error:
        raise DataError(
            f"is no record of this version: {error}", where=str(path), remedy="name a new folder with --out"
        ) from None
