from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from made_runs import random_run, run_of

from elastic.metrics.best_of import best_of
from elastic.metrics.depths import at_depths
from elastic.metrics.lattice import lattice_of
from elastic.metrics.subsampling import expected_best_of, expected_majority
from elastic.metrics.voting import majority

ORDERS = 500
SETS = [(3,), (1, 3), (2, 3), (1, 2, 3)]


def expected(frame: pl.DataFrame, kind: str, *, shuffles: int) -> np.ndarray:
    lattice = lattice_of(frame)
    if kind == "majority":
        return expected_majority(lattice, frame, SETS, shuffles=shuffles, seed=1)
    return expected_best_of(lattice, frame, SETS, score="logprob", shuffles=shuffles, seed=1)


MEASURES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {"majority": majority, "best_of": best_of}


@pytest.mark.parametrize("kind", MEASURES)
def test_the_whole_lattice_gives_the_measure_itself(kind: str) -> None:
    frame = random_run(40, 3, 3, 2, seed=2, errors=0.02).sample(fraction=1, shuffle=True, seed=3)
    values = expected(frame, kind, shuffles=2)
    for place, depths in enumerate(SETS):
        known = ~np.isnan(values[:, 2, place, 1])
        wanted = MEASURES[kind](at_depths(frame, depths))["value"].to_numpy()
        assert values[known, 2, place, 1] == pytest.approx(wanted[known])
    assert known.all()


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize(("paths", "place", "draws"), [(1, 0, 1), (2, 0, 2), (2, 1, 1), (1, 3, 1)])
def test_parts_give_the_mean_over_all_subsets(kind: str, paths: int, place: int, draws: int) -> None:
    frame = random_run(3, 3, 3, 2, seed=4, answers=3)
    values = expected(frame, kind, shuffles=ORDERS)[:, paths - 1, place, draws - 1]
    rows = {row: number for number, row in enumerate(frame.select("sample", "depth", "draw").head(18).rows())}
    sums, count = np.zeros(3), 0
    for chosen in combinations(range(3), paths):
        spots = list(product(chosen, SETS[place]))
        for picks in product(combinations(range(2), draws), repeat=len(spots)):
            taken = [rows[i, d, j] for (i, d), pick in zip(spots, picks, strict=True) for j in pick]
            part = frame[[18 * problem + row for problem in range(3) for row in taken]]
            sums += MEASURES[kind](part)["value"].to_numpy()
            count += 1
    # Three standard errors, at most, of a mean of values between 0 and 1.
    assert values == pytest.approx(sums / count, abs=3 * 0.5 / ORDERS**0.5)


def test_ungraded_answers_are_taken_last_and_paths_of_them_are_none() -> None:
    frame = run_of(a=[["ww", "ww", "ec"], ["ww", "ww", "ee"]], b=[["ww", "ww", "ww"], ["cc", "cc", "cn"]])
    frame = frame.with_columns(logprob=pl.lit(-1.0))
    for kind in MEASURES:
        values = expected(frame, kind, shuffles=4)
        assert values[0, :, 0, 0] == pytest.approx([1.0, np.nan], nan_ok=True)
    votes = expected(frame, "majority", shuffles=4)
    assert votes[1, 1, 3, 1] == 0.0  # "w" six times, "7" five
    assert votes[1, 1, 0, 1] == 0.0  # at the last depth "w" twice, "7" once


def test_equal_seeds_give_equal_values_however_many_orders_are_counted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = random_run(6, 3, 3, 2, seed=5)
    together = expected(frame, "majority", shuffles=5)
    monkeypatch.setattr("elastic.metrics.subsampling._CELLS", 1)
    assert expected(frame, "majority", shuffles=5) == pytest.approx(together)
