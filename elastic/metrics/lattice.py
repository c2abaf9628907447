"""The answers of a fractured run as arrays: problems x thinking paths x depths x draws, shape (P, n, H, m).

Fractured Sampling (arXiv 2505.12992) answers m times from each of H prefixes of n thinking paths. Any smaller n, H and
m is a part of the same lattice, so one scored run tells what all of them would have given and cost. A strategy without
depths or draws is a lattice with H = m = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl

from elastic.contracts.evaluation import CELL
from elastic.errors import DataError
from elastic.metrics.depths import depth_count

Places = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Sizes = TypeVar("Sizes", float, np.ndarray)


@dataclass(frozen=True)
class Lattice:
    """One cell of a table, as arrays.

    Attributes:
        problems: their ids, sorted; shape (P,).
        places: of every row of the frame in the arrays, for `spread`.
        present: whether there is an answer, shape (P, n, H, m).
        graded: whether it was graded without an error.
        correct: whether its verdict is correct.
        thinking: tokens of every path's thinking, the longest that an answer was given; shape (P, n), 0 for no path.
        solution: tokens of every answer, shape (P, n, H, m), 0 for none.
    """

    problems: pl.Series
    places: Places
    present: np.ndarray
    graded: np.ndarray
    correct: np.ndarray
    thinking: np.ndarray
    solution: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """P, n, H, m."""
        problems, paths, depths, draws = self.present.shape
        return problems, paths, depths, draws

    def spread(self, values: np.ndarray, fill: float) -> np.ndarray:
        """One value a row of the frame, shape (rows,), as an array of shape (P, n, H, m) with `fill` elsewhere."""
        array = np.full(self.shape, fill, dtype=values.dtype)
        array[self.places] = values
        return array

    def tokens(self, depths: tuple[int, ...]) -> tuple[float, float]:
        """C_think and C_solution: mean tokens of a thinking path, and of an answer at one of the depths.

        All thinking counts, whatever the depths, since a prefix is a share of a length that is known only at its end.
        """
        paths = self.present.any(axis=(2, 3))
        columns = np.array(depths) - 1
        present = self.present[:, :, columns]
        if not present.any():
            return float(self.thinking.sum() / paths.sum()), 0.0
        return float(self.thinking.sum() / paths.sum()), float(self.solution[:, :, columns].sum() / present.sum())

    def cost(self, paths: Sizes, depths: tuple[int, ...], draws: Sizes) -> Sizes:
        """B = n (C_think + m H C_solution), tokens a problem: thinking paid once a path, prompts and prefill never."""
        thinking, solution = self.tokens(depths)
        return paths * (thinking + draws * len(depths) * solution)


def lattice_of(frame: pl.DataFrame) -> Lattice:
    """The lattice of one cell.

    Args:
        frame: answers (elastic.contracts.evaluation.Answers) of one run, method, setting and budget; of the columns
            that make a cell those that it has must not differ.

    Raises:
        DataError: there are no answers, several cells, or two answers at one place.
    """
    if frame.is_empty():
        raise DataError("there are no answers", remedy="look at which rows were selected")
    for column in (name for name in CELL if name in frame.columns):
        if frame[column].n_unique() > 1:
            raise DataError(
                f"the answers differ in {column}: {frame[column].unique().sort().to_list()[:4]}",
                remedy="measure each cell of a table apart",
            )
    problems = frame["problem_id"].unique().sort()
    placed = frame.select(
        problem=pl.col("problem_id").rank("dense") - 1,
        path=pl.col("sample").rank("dense").over("problem_id") - 1,
        depth=pl.col("depth").fill_null(1) - 1,
        draw=pl.col("draw"),
    )
    first, second, third, fourth = (placed[name].to_numpy().astype(np.int64) for name in placed.columns)
    places = first, second, third, fourth
    shape = len(problems), int(second.max()) + 1, depth_count(frame), int(fourth.max()) + 1
    present = np.zeros(shape, dtype=bool)
    present[places] = True
    if present.sum() != len(frame):
        twice = frame.filter(placed.is_duplicated()).row(0, named=True)
        raise DataError(
            "two answers stand at the same sample, depth and draw",
            where=f"problem {twice['problem_id']}, sample {twice['sample']}",
            remedy="measure each run and cell apart",
        )
    graded, correct = np.zeros_like(present), np.zeros_like(present)
    graded[places] = (frame["verdict"] != "error").to_numpy()
    correct[places] = (frame["verdict"] == "correct").to_numpy()
    thinking = np.zeros(shape[:2], dtype=np.int64)
    np.maximum.at(thinking, places[:2], frame["n_think"].to_numpy())
    solution = np.zeros(shape, dtype=np.int64)
    solution[places] = frame["n_solution"].to_numpy()
    return Lattice(problems, places, present, graded, correct, thinking, solution)
