"""Tables of accuracies, which all say how answers ended, and the words that findings share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from elastic.metrics.intervals import Interval, mean_interval
from elastic.metrics.problems import TOKENS
from elastic.metrics.table import figures
from lab.analysis import Column, Entry, Measured, Series
from lab.analysis_params import AnalyseParams
from lab.paired import Difference

# What stands beside every accuracy: how many problems and samples, and how answers ended.
ENDINGS = [
    Column(name="forced", unit="share"),
    Column(name="truncated", unit="share"),
    Column(name="no answer", unit="share"),
    Column(name="timeout", unit="share"),
    Column(name="error", unit="share"),
    Column(name="problems", unit="count"),
    Column(name="samples", unit="count"),
]
ACCURACY = [Column(name="accuracy", unit="share"), Column(name="tokens", unit="tokens"), *ENDINGS]


def accuracy(answers: pl.DataFrame, where: str, params: AnalyseParams) -> list[Entry]:
    """Entries of the columns ACCURACY for the answers of one cell; tokens are thinking, solution and probes.

    Args:
        answers: of the cell (elastic.contracts.evaluation.Answers).
        where: names the cell, for the error.
        params: of the interval.

    Raises:
        DataError: no answer was graded without an error.
    """
    found = figures(
        answers,
        where=where,
        **params.sampling,
        tokens=TOKENS,
    )
    probes = answers["n_probe"].sum() / len(answers)
    return [
        Measured(value=found["accuracy"], low=found["ci_low"], high=found["ci_high"]),
        found["mean_think_tokens"] + found["mean_solution_tokens"] + probes,
        *_endings(found),
    ]


def endings(answers: pl.DataFrame, where: str, params: AnalyseParams) -> list[Entry]:
    """Entries of the columns ENDINGS; arguments and errors as for `accuracy`."""
    return accuracy(answers, where, params)[2:]


def _endings(found: Mapping[str, Any]) -> list[Entry]:
    return [
        found["forced_share"],
        found["truncated_solution_share"] + found["unclosed_share"],
        *(found[f"{name}_share"] for name in ("no_answer", "timeout", "error")),
        found["n_problems"],
        found["n_samples"],
    ]


def mean(values: pl.DataFrame, params: AnalyseParams, column: str = "value", *, bounded: bool = True) -> Measured:
    """Mean over problems with its interval.

    Args:
        values: one row a problem.
        params: of the interval.
        column: of the values.
        bounded: whether they are shares.
    """
    found = mean_interval(
        values[column].to_numpy(),
        **params.sampling,
        bounds=(0.0, 1.0) if bounded else None,
    )
    return entry(found)


def entry(found: Interval) -> Measured:
    """An interval as an entry of a table."""
    return Measured(value=found.mean, low=found.low, high=found.high)


def series(colour: str, x: Iterable[float], points: Iterable[Measured], style: str = "") -> Series:
    """A curve with intervals."""
    rows = list(points)
    return Series(
        colour=colour,
        style=style,
        x=list(x),
        y=[row.value for row in rows],
        low=[row.value if row.low is None else row.low for row in rows],
        high=[row.value if row.high is None else row.high for row in rows],
    )


def listed(names: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *first, last = list(names)
    return f"{', '.join(first)} and {last}" if first else last


def verdicts(rows: Sequence[Difference]) -> str:
    """How many differences hold: "better in 3 and worse in 1 of 7", "none of 7 differences holds"."""
    better, worse = sum(row.better for row in rows), sum(row.worse for row in rows)
    if not better and not worse:
        return f"none of {len(rows)} differences holds" if len(rows) > 1 else "the difference does not hold"
    parts = [f"better in {better}" if better else "", f"worse in {worse}" if worse else ""]
    return f"{' and '.join(filter(None, parts))} of {len(rows)}"
