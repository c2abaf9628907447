"""The summary of an evaluation: one row a cell, as records and as a Markdown table.

A cell is what CELL of elastic/contracts/evaluation.py tells apart; answers of a cell differ in problem, sample, depth
and draw. Mean@k is its accuracy; pass@k and the majority vote are over all graded answers of a problem.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from elastic.answers.classes import with_classes
from elastic.contracts.evaluation import CELL
from elastic.contracts.evaluation_records import SummaryRow
from elastic.contracts.frames import METHODS
from elastic.metrics.intervals import mean_interval
from elastic.metrics.pass_at_k import pass_at_k
from elastic.metrics.problems import TOKENS, graded
from elastic.metrics.table import figures
from elastic.metrics.voting import majority

# What a row is made of: the long columns of answers need not be read for it.
COLUMNS = [
    *CELL,
    *["problem_id", "sample", "model", "solver", "n_think", "n_solution", "n_forced", "n_probe", "closed", "finish"],
    *["answer", "verdict"],
]


def summary_row(cell: pl.DataFrame, benchmark: str, *, confidence: float, resamples: int, seed: int) -> SummaryRow:
    """The row of one cell.

    Args:
        cell: COLUMNS of answers; `answer` is the class that votes are counted over (elastic.answers.classes).
        benchmark: what was asked.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: no answer was graded without an error.
    """
    head = cell.row(0, named=True)
    where = (
        f"{head['model']} on {benchmark}, {', '.join(str(head[key]) for key in CELL if head[key] not in (None, ''))}"
    )
    found = figures(cell, where=where, confidence=confidence, resamples=resamples, seed=seed, tokens=TOKENS)
    k = int(graded(cell).group_by("problem_id").len().select(pl.col("len").min()).item())
    passed, voted = (
        mean_interval(values["value"].to_numpy(), confidence=confidence, resamples=resamples, seed=seed)
        for values in (pass_at_k(cell, k), majority(cell))
    )
    return SummaryRow(
        solver=head["solver"],
        benchmark=benchmark,
        run=head["run"],
        setting=head["setting"],
        k=k,
        pass_at_k=passed.mean,
        pass_low=passed.low,
        pass_high=passed.high,
        majority=voted.mean,
        majority_low=voted.low,
        majority_high=voted.high,
        mean_forced_tokens=cell.select(pl.col("n_forced").mean()).item(),
        mean_probe_tokens=cell.select(pl.col("n_probe").mean()).item(),
        n_answers=len(cell),
        **found,
    )


def summary_table(
    answers: pl.DataFrame, benchmark: str, *, confidence: float, resamples: int, seed: int
) -> list[SummaryRow]:
    """One row a cell, ordered by run, method, setting and budget.

    Args:
        answers: COLUMNS of the answers of all runs.
        benchmark: what was asked.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: a cell has no answer that was graded without an error.
    """
    cells = with_classes(answers).partition_by(CELL, maintain_order=True)
    rows = [summary_row(cell, benchmark, confidence=confidence, resamples=resamples, seed=seed) for cell in cells]
    return sorted(rows, key=_place)


def _place(row: SummaryRow) -> tuple[str, int, str, int, int, int]:
    method = METHODS.index(row.method) if row.method in METHODS else 0
    setting = re.sub(r"\d+", lambda number: number[0].zfill(9), row.setting)
    return row.run, method, setting, row.think or 0, row.solution or 0, row.limit or 0


def budget_text(row: SummaryRow) -> str:
    """The budget of a row; a limit stands alone where thinking had no budget of its own."""
    parts = [] if row.solution is None else [str(row.solution) if row.think is None else f"{row.think}+{row.solution}"]
    return " ".join([*parts, *([f"<= {row.limit}"] if row.limit else [])])


_HEAD = [
    *["run", "method", "setting", "budget", "Mean@k", "interval", "k", "pass@k", "majority", "think", "solution"],
    *["inserted", "probes", "p50", "p95", "natural", "forced", "eos", "unclosed", "cut", "no answer", "timeout"],
    *["error", "problems", "samples"],
]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _between(mean: float, low: float, high: float) -> str:
    return f"{_percent(mean)} ({_percent(low)} to {_percent(high)})"


def _cells(row: SummaryRow) -> list[str]:
    tokens = [row.mean_think_tokens, row.mean_solution_tokens, row.mean_forced_tokens, row.mean_probe_tokens]
    shares = [
        *[row.natural_share, row.forced_share, row.eos_in_think_share, row.unclosed_share],
        *[row.truncated_solution_share, row.no_answer_share, row.timeout_share, row.error_share],
    ]
    return [
        row.run if row.solver == row.model else f"{row.run}, solved by {row.solver}",
        row.method,
        row.setting,
        budget_text(row),
        _percent(row.accuracy),
        f"{_percent(row.ci_low)} to {_percent(row.ci_high)}",
        str(row.k),
        _between(row.pass_at_k, row.pass_low, row.pass_high),
        _between(row.majority, row.majority_low, row.majority_high),
        *(f"{count:.1f}" for count in (*tokens, row.p50_tokens, row.p95_tokens)),
        *(_percent(share) for share in shares),
        str(row.n_problems),
        str(row.n_samples),
    ]


def summary_markdown(rows: Sequence[SummaryRow], *, confidence: float) -> str:
    """The rows as one Markdown table under a line that says what they are."""
    head = rows[0]
    lines = [
        f"# {head.model} on {head.benchmark}",
        "",
        f"{confidence:.0%} intervals over problems. Accuracies and shares are in percent, shares and mean tokens of "
        "all answers; pass@k and the majority vote are over the k graded answers of a problem. A budget is thinking + "
        "solution tokens.",
        "",
        f"| {' | '.join(_HEAD)} |",
        f"|{' --- |' * len(_HEAD)}",
    ]
    lines += [
        f"| {' | '.join(text.replace('|', chr(92) + '|').replace(chr(10), ' ') for text in _cells(row))} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
