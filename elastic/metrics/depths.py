"""Which depths of a fractured run count, and how much (Fractured Sampling, arXiv 2505.12992).

A run answers from H prefixes of every thinking trace; depth t holds the first t/H of it and depth H all of it. Depths
are numbered from 1, as in the column `depth` of Answers.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from elastic.errors import DataError


def depth_count(frame: pl.DataFrame) -> int:
    """H, the deepest of the column depth; 1 where a strategy has no depths."""
    deepest = frame["depth"].max()
    return int(deepest) if isinstance(deepest, int) else 1


def _check(depths: int, count: int) -> None:
    if not 1 <= count <= depths:
        raise DataError(f"{count} of {depths} depths cannot be taken", remedy=f"ask for 1 to {depths}")


def evenly_spaced(depths: int, count: int) -> tuple[int, ...]:
    """`count` of the depths 1 to `depths` at even distances, always with the last; the published code's rounding.

    From the last depth down to floor(H / k), each rounded down (evaluations/passk_single_dim.py of the code).

    Raises:
        DataError: there are not that many.
    """
    _check(depths, count)
    return tuple(int(place) + 1 for place in np.linspace(depths - 1, depths // count - 1, count, dtype=int)[::-1])


def last_depths(depths: int, count: int) -> tuple[int, ...]:
    """The `count` deepest of the depths 1 to `depths`; "H = -4" of the paper is the last four.

    Raises:
        DataError: there are not that many.
    """
    _check(depths, count)
    return tuple(range(depths - count + 1, depths + 1))


def linear_weights(depths: int) -> np.ndarray:
    """Weights w_t = 2t / (H (H + 1)) of the depths 1 to H, shape (H,), adding up to 1."""
    return 2 * np.arange(1, depths + 1) / (depths * (depths + 1))


def at_depths(frame: pl.DataFrame, chosen: Collection[int]) -> pl.DataFrame:
    """The answers at the chosen depths."""
    return frame.filter(pl.col("depth").is_in(list(chosen)))
