"""`elastic grade --regrade`: what a grader says of rows that another one, or another version of it, graded before.

Nothing is sampled and the old files stay as they are: what is printed and written is the difference, so that a better
grader is looked at before results are scored again with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import StrictStr

from cli.grade import OutputRow, grade_outputs, score_traces, with_tests, write_rows
from elastic.answers.graders import Grader
from elastic.answers.verdict import Verdict
from elastic.data.files import read_rows

_SHOWN = 10
_LONGEST = 60
_TRACE = ["problem_id", "split", "model", "method", "think_budget", "solution_budget", "limit", "sample"]


class GradedRow(OutputRow):
    """A line that `elastic grade` has written.

    Attributes:
        verdict, grader: of then.
        answer: as it was found then; null where none was.
    """

    verdict: Verdict
    grader: StrictStr
    answer: StrictStr | None = None


@dataclass(frozen=True)
class Graded:
    """One row with both verdicts.

    Attributes:
        name: what tells the row from the others of its file.
        gold: the right answer; empty where tests judge.
        old, new: verdict, answer and grader.
    """

    name: dict[str, Any]
    gold: str
    old: dict[str, Any]
    new: dict[str, Any]

    @property
    def changed(self) -> bool:
        """Whether the verdict is another one."""
        return bool(self.old["verdict"] != self.new["verdict"])


def _of_rows(file: Path, grader: Grader) -> Iterator[Graded]:
    rows = list(read_rows(file, GradedRow))
    name = grader.label
    for row, grade in zip(rows, grade_outputs(list(rows), grader), strict=True):
        old = {"verdict": str(row.verdict), "answer": row.answer, "grader": row.grader}
        new = {"verdict": str(grade.verdict), "answer": grade.answer, "grader": name}
        yield Graded({"id": row.id}, str(row.gold), old, new)


def _of_traces(file: Path, grader: Grader, problems: list[Path]) -> Iterator[Graded]:
    from elastic.contracts.frames import Scored, read_frame

    before = read_frame(Scored, file)
    after = score_traces(with_tests(before, problems, where=file), grader)
    said = ["verdict", "answer", "grader"]
    for old, new in zip(before.iter_rows(named=True), after.select(said).iter_rows(named=True), strict=True):
        yield Graded({key: old[key] for key in _TRACE}, old["gold"], {key: old[key] for key in said}, new)


def _short(text: str | None) -> str:
    if text is None:
        return "none"
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _print_changes(rows: list[Graded], grader: Grader) -> None:
    before, after = Counter(row.old["verdict"] for row in rows), Counter(row.new["verdict"] for row in rows)
    moves = Counter((row.old["verdict"], row.new["verdict"]) for row in rows)
    graders = Counter(row.old["grader"] for row in rows)
    print(f"old grader: {', '.join(f'{name} ({count:,} rows)' for name, count in sorted(graders.items()))}")
    print(f"new grader: {grader.label}")
    names = [verdict for verdict in map(str, Verdict) if before[verdict] or after[verdict]]
    print("".join(f"{text:>12}" for text in ("old \\ new", *names, "in all")))
    for old in names:
        cells = (f"{moves[old, new]:,}" for new in names)
        print("".join(f"{text:>12}" for text in (old, *cells, f"{before[old]:,}")))
    print("".join(f"{text:>12}" for text in ("in all", *(f"{after[new]:,}" for new in names), f"{len(rows):,}")))


def show_changes(files: list[Path], out: Path, grader: Grader, problems: list[Path]) -> None:
    """Grade old files again, print the difference, and write every row whose verdict changes to `out`.

    Args:
        files: graded JSONL rows or scored traces.
        out: JSONL of the rows that change.
        grader: to compare with.
        problems: frames Problems with the tests of the programs in traces.

    Raises:
        DataError: a file cannot be read, or its rows carry no verdict; names it and its line.
    """
    rows: list[Graded] = []
    changed = []
    for file in files:
        found = list(_of_traces(file, grader, problems) if file.suffix == ".parquet" else _of_rows(file, grader))
        rows += found
        changed += [
            {"file": str(file), **row.name, "gold": row.gold, "old": row.old, "new": row.new}
            for row in found
            if row.changed
        ]
    write_rows(out, changed)
    _print_changes(rows, grader)
    for row in changed[:_SHOWN]:
        name = " ".join(str(row[key]) for key in ("id", *_TRACE) if row.get(key) is not None)
        old, new = row["old"], row["new"]
        answers = [_short(old["answer"])] + ([_short(new["answer"])] if new["answer"] != old["answer"] else [])
        print(
            f"  {name}: {old['verdict']} -> {new['verdict']}, answer {' -> '.join(answers)}, gold {_short(row['gold'])}"
        )
    if len(changed) > _SHOWN:
        print(f"  and {len(changed) - _SHOWN:,} more")
    print(f"{out}: {len(changed):,} of {len(rows):,} rows change")
