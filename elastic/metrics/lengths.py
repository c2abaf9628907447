"""How long answers are, given correct and given wrong, in every cell; and what k samples buy at every budget.

The Art of Efficient Reasoning (arXiv 2602.20945) reads the distribution of lengths apart by verdict (a model can be
short by being wrong) and reports Mean@8 and Pass@8 at budgets of 2K to 32K. Lengths are thinking and solution tokens of
an answer with the probes before it. An answer without a box that its budget cut has a verdict of its own, so that it is
not taken for a long wrong one. Quantiles are over answers, their intervals over problems: all answers of a problem are
drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from elastic.contracts.evaluation import CELL
from elastic.contracts.frames import VERDICTS
from elastic.errors import DataError
from elastic.metrics.intervals import mean_interval
from elastic.metrics.pass_at_k import mean_at_k, pass_at_k
from elastic.metrics.problems import TOKENS, graded, problem_means
from elastic.metrics.resampling import percentile_interval, problem_draws, ratio_interval

_GROUP = [*CELL, "verdict"]
_BATCH_CELLS = 2_000_000


def _groups(answers: pl.DataFrame) -> list[pl.DataFrame]:
    """Graded answers by cell and verdict: cells in the order of their values, verdicts in the order of the contract."""
    known = pl.Enum([verdict for verdict in VERDICTS if verdict != "error"])
    frame = graded(answers).with_columns(pl.col("verdict").cast(known), tokens=TOKENS)
    return frame.sort(*_GROUP, "problem_id").partition_by(_GROUP, maintain_order=True)


def _quantiles(tokens: np.ndarray, members: np.ndarray, draws: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Quantiles of every resample, shape (resamples, shares); nan where no problem with an answer was drawn."""
    lengths, places = np.unique(tokens, return_inverse=True)
    answers = np.zeros((draws.shape[1], len(lengths)))
    np.add.at(answers, (members, places), 1)
    found = []
    for drawn in np.array_split(draws, max(1, draws.shape[0] * len(lengths) // _BATCH_CELLS)):
        below = np.cumsum(drawn @ answers, axis=1)
        # A hair below, because a share of a whole number of answers need not be whole.
        wanted = np.maximum(np.multiply.outer(below[:, -1], shares) - 1e-9, 0)
        reached = [np.argmax((below >= column[:, None]) & (below > 0), axis=1) for column in wanted.T]
        values = lengths[np.stack(reached, axis=1)].astype(float)
        values[below[:, -1] == 0] = np.nan
        found.append(values)
    return np.concatenate(found)


def length_quantiles(
    answers: pl.DataFrame, shares: Sequence[float], *, confidence: float, resamples: int, seed: int
) -> pl.DataFrame:
    """Mean and quantiles of the length of answers, by cell and verdict.

    Args:
        answers: frame of elastic.contracts.evaluation.Answers.
        shares: of the quantiles, each above 0 and at most 1: the smallest length that this share of the answers does
            not exceed.
        confidence, resamples, seed: of the intervals.

    Returns:
        The columns of CELL, verdict, figure ("mean", "q50", ...), tokens, low, high, n_answers and n_problems.
    """
    rows = []
    for group in _groups(answers):
        ids, members = np.unique(group["problem_id"].to_numpy(), return_inverse=True)
        tokens = group["tokens"].to_numpy()
        draws = problem_draws(len(ids), resamples=resamples, seed=seed)
        sums, counts = np.bincount(members, tokens), np.bincount(members)
        drawn = _quantiles(tokens, members, draws, shares)
        [values] = _quantiles(tokens, members, np.ones((1, len(ids))), shares)
        figures = {"mean": ratio_interval(sums, counts, draws, confidence)} | {
            f"q{100 * share:g}": percentile_interval(float(value), drawn[:, i], confidence)
            for i, (share, value) in enumerate(zip(shares, values, strict=True))
        }
        head = group.select(_GROUP).row(0, named=True)
        rows += [
            head
            | {"figure": name, "tokens": found.mean, "low": found.low, "high": found.high}
            | {"n_answers": len(group), "n_problems": len(ids)}
            for name, found in figures.items()
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def log_edges(longest: int, per_doubling: int) -> list[int]:
    """Whole edges of bins from 1 up to the first above `longest`, `per_doubling` bins to a doubling, without repeats.

    Raises:
        DataError: there is no length of 1 or more, or no bin.
    """
    if longest < 1 or per_doubling < 1:
        raise DataError(
            f"{per_doubling} bins to a doubling up to {longest} tokens are no bins", remedy="use 1 or more of both"
        )
    edges, step = [1], 0
    while edges[-1] <= longest:
        step += 1
        edge = round(2 ** (step / per_doubling))
        edges += [edge] if edge > edges[-1] else []
    return edges


def length_histogram(answers: pl.DataFrame, edges: Sequence[int]) -> pl.DataFrame:
    """Answers by length, by cell and verdict.

    Args:
        answers: as for `length_quantiles`.
        edges: rising, from `log_edges` of the longest answer, so that all cells share their bins.

    Returns:
        The columns of CELL, verdict, low, high (the first length that is no longer in the bin), n_answers and share
        (of the answers of this cell and verdict); every bin, the empty ones too.

    Raises:
        DataError: an answer lies outside the edges.
    """
    rows = []
    for group in _groups(answers):
        tokens = group["tokens"].to_numpy()
        if tokens.min() < edges[0] or tokens.max() >= edges[-1]:
            raise DataError(
                f"answers of {tokens.min()} to {tokens.max()} tokens do not fit into bins of {edges[0]} to {edges[-1]}",
                remedy="take log_edges of the longest answer",
            )
        counts = np.bincount(np.searchsorted(edges, tokens, side="right") - 1, minlength=len(edges) - 1)
        head = group.select(_GROUP).row(0, named=True)
        rows += [
            head | {"low": low, "high": high, "n_answers": int(count), "share": count / len(tokens)}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def samples_at_budgets(answers: pl.DataFrame, k: int, *, confidence: float, resamples: int, seed: int) -> pl.DataFrame:
    """Mean@k, pass@k and the mean length of every cell: a row for every budget.

    Args:
        answers: as for `length_quantiles`, with k or more graded answers to a problem. Where there are more, Mean@k is
            over all of them, and pass@k the unbiased estimate from all of them.
        k: answers that are drawn.
        confidence, resamples, seed: of the intervals.

    Returns:
        The columns of CELL, k, figure ("mean", "pass" or "tokens"), value, low, high and n_problems; a cell in the
        order of its values.

    Raises:
        DataError: no problem of a cell has k graded answers.
    """
    rows = []
    for cell in graded(answers).sort(*CELL).partition_by(CELL, maintain_order=True):
        observed = {
            "mean": mean_at_k(cell)["value"],
            "pass": pass_at_k(cell, k)["value"],
            "tokens": problem_means(cell)["tokens"],
        }
        head = cell.select(CELL).row(0, named=True)
        for figure, values in observed.items():
            found = mean_interval(
                values.to_numpy(),
                confidence=confidence,
                resamples=resamples,
                seed=seed,
                bounds=None if figure == "tokens" else (0.0, 1.0),
            )
            rows.append(
                head
                | {"k": k, "figure": figure, "value": found.mean, "low": found.low, "high": found.high}
                | {"n_problems": len(values)}
            )
    return pl.DataFrame(rows, infer_schema_length=None)
