from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_runs import random_run, run_of

from elastic.errors import DataError
from elastic.metrics.lattice import lattice_of


def test_answers_stand_where_they_belong_whatever_the_order_of_the_rows() -> None:
    frame = run_of(a=[["cw", "wc"], ["ww", "ce"]], b=[["nw", "wt"], ["cc", "cc"]])
    lattice = lattice_of(frame.sample(fraction=1, shuffle=True, seed=1))
    assert lattice.problems.to_list() == ["a", "b"]
    assert lattice.correct[0].astype(int).tolist() == [[[1, 0], [0, 1]], [[0, 0], [1, 0]]]
    assert lattice.present.all()
    assert np.argwhere(~lattice.graded).tolist() == [[0, 1, 1, 1]]
    assert lattice.thinking.tolist() == [[20, 20], [20, 20]]


def test_missing_paths_depths_and_draws_are_absent() -> None:
    lattice = lattice_of(run_of(a=[["c", "w"]], b=[["w", "cc"], ["w"]]))
    assert lattice.shape == (2, 2, 2, 2)
    assert lattice.present.sum() == 6
    assert lattice.thinking.tolist() == [[20, 0], [20, 10]]
    assert lattice.tokens((2,)) == (pytest.approx(50 / 3), 4)


def test_a_strategy_without_depths_is_a_lattice_too() -> None:
    frame = run_of(a=[["c"], ["w"]]).with_columns(depth=pl.lit(None, dtype=pl.Int64), sample=pl.Series([3, 8]))
    lattice = lattice_of(frame)
    assert lattice.shape == (1, 2, 1, 1)
    assert lattice.correct.ravel().tolist() == [True, False]


def test_the_cost_by_hand() -> None:
    """B = n (C_think + m H C_solution) = 3 (20 + 2 * 2 * 4); the last depth alone: 1 (20 + 1 * 4)."""
    lattice = lattice_of(run_of(a=[["cw", "ww"]] * 3))
    assert lattice.cost(3, (1, 2), 2) == 3 * (20 + 16)
    assert lattice.cost(1, (2,), 1) == 24
    longer = run_of(a=[["cw", "ww"]]).with_columns(n_solution=pl.Series([1, 3, 6, 8]))
    assert lattice_of(longer).cost(2, (1,), 1) == 2 * (20 + 2)
    assert lattice_of(longer).cost(2, (1, 2), 2) == 2 * (20 + 18)


def test_values_are_spread_with_the_answers() -> None:
    frame = random_run(3, 2, 4, 2, seed=1).sample(fraction=1, shuffle=True, seed=2)
    lattice = lattice_of(frame)
    assert np.array_equal(lattice.spread((frame["verdict"] == "correct").to_numpy(), False), lattice.correct)


def test_two_cells_at_once_are_refused() -> None:
    frame = run_of(a=[["c"]])
    with pytest.raises(DataError, match="two answers stand at the same sample"):
        lattice_of(pl.concat([frame, frame]))
    with pytest.raises(DataError, match=r"differ in solution_budget: \[8, 9\]"):
        lattice_of(pl.concat([frame.with_columns(solution_budget=pl.lit(s)) for s in (8, 9)]))
    with pytest.raises(DataError, match="no answers"):
        lattice_of(frame.clear())
