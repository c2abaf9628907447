from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from made_runs import random_run, run_of

from elastic.errors import DataError
from elastic.metrics.depths import evenly_spaced
from elastic.metrics.lattice import lattice_of
from elastic.metrics.pass_at_k import pass_at_k
from elastic.metrics.pass_curves import (
    along_depths,
    along_draws,
    along_paths,
    at_cost,
    curve_table,
    equal_cost,
    over_paths,
)

PLAIN = {"confidence": 0.95, "resamples": 500, "seed": 1}


def enumerated(correct: np.ndarray, paths: int, depths: tuple[int, ...], draws: int) -> float:
    """Mean over all subsets of paths and, at every path and depth apart, of draws; correct has shape (n, H, m)."""
    n, _, m = correct.shape
    hits = []
    for chosen in combinations(range(n), paths):
        places = list(product(chosen, depths))
        for picks in product(combinations(range(m), draws), repeat=len(places)):
            hits.append(any(correct[i, d - 1, list(pick)].any() for (i, d), pick in zip(places, picks, strict=True)))
    return float(np.mean(hits))


@pytest.mark.parametrize(("depths", "draws"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)])
def test_joint_form_is_the_mean_over_all_subsets(depths: int, draws: int) -> None:
    lattice = lattice_of(random_run(4, 3, 3, 3, seed=depths + 10 * draws))
    curve = along_paths(lattice, depths=depths, draws=draws)
    chosen = evenly_spaced(3, depths)
    for place, paths in enumerate((1, 2, 3)):
        if draws == 2 and depths == 2 and paths == 3:
            continue  # 729 * 3 subsets a problem: the others suffice.
        wanted = [enumerated(correct, paths, chosen, draws) for correct in lattice.correct]
        assert curve.values[:, place] == pytest.approx(wanted)


def test_along_depths_and_draws_are_means_over_paths() -> None:
    lattice = lattice_of(random_run(3, 2, 4, 3, seed=7))
    down, more = along_depths(lattice), along_draws(lattice)
    for k in (1, 2, 3, 4):
        wanted = [enumerated(correct, 1, evenly_spaced(4, k), 1) for correct in lattice.correct]
        assert down.values[:, k - 1] == pytest.approx(wanted)
    for k in (1, 2, 3):
        wanted = [enumerated(correct, 1, (4,), k) for correct in lattice.correct]
        assert more.values[:, k - 1] == pytest.approx(wanted)
    assert down.sizes == [(1, 1, 1), (1, 2, 1), (1, 3, 1), (1, 4, 1)]
    assert more.sizes == [(1, 1, 1), (1, 1, 2), (1, 1, 3)]


def test_along_whole_paths_with_one_draw_it_is_pass_at_k() -> None:
    frame = random_run(20, 6, 3, 1, seed=3, errors=0.1)
    whole = frame.filter(pl.col("depth") == 3)
    curve = along_paths(lattice_of(frame))
    for k in (1, 4, 6):
        known = ~np.isnan(curve.values[:, k - 1])
        wanted = pass_at_k(whole, k)
        assert curve.problems.filter(pl.Series(known)).to_list() == wanted["problem_id"].to_list()
        assert curve.values[known, k - 1] == pytest.approx(wanted["value"].to_numpy())


def test_paths_without_graded_answers_are_no_paths() -> None:
    values = over_paths(np.array([[1.0, np.nan, 0.0], [np.nan, np.nan, 0.5]]))
    assert values == pytest.approx(np.array([[0.5, 1.0, np.nan], [0.5, np.nan, np.nan]]), nan_ok=True)
    lattice = lattice_of(run_of(a=[["ec"], ["ee"], ["ww"]]))
    assert along_paths(lattice, draws=2).values[0] == pytest.approx([0.5, 1.0, np.nan], nan_ok=True)


def test_the_table_lists_sizes_costs_and_intervals() -> None:
    lattice = lattice_of(run_of(a=[["wc", "cc"], ["ww", "ww"]], b=[["ww", "ww"], ["ww", "wc"]]))
    table = curve_table([along_paths(lattice, depths=2, draws=2), along_draws(lattice)], **PLAIN)
    assert table.drop("low", "high").rows() == [
        ("n, H=2, m=2", 1, 2, 2, 20.0 + 16, 0.5, 2),
        ("n, H=2, m=2", 2, 2, 2, 2 * 36.0, 1.0, 2),
        ("m", 1, 1, 1, 24.0, 0.375, 2),
        ("m", 1, 1, 2, 28.0, 0.5, 2),
    ]
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()


def test_between_two_costs_values_lie_on_a_line_over_the_logarithm() -> None:
    lattice = lattice_of(run_of(a=[["c"], ["w"]], b=[["w"], ["w"]]))
    curve = along_paths(lattice)
    assert curve.costs.tolist() == [14, 28]
    assert at_cost(curve, 14) == pytest.approx([0.5, 0])
    assert at_cost(curve, 14 * 2**0.5) == pytest.approx([0.75, 0])
    assert at_cost(curve, 28) == pytest.approx([1, 0])
    with pytest.raises(DataError, match="lies outside 14 to 28"):
        at_cost(curve, 29)


def test_equal_cost_pairs_the_curves_by_problem() -> None:
    lattice = lattice_of(random_run(60, 8, 4, 2, seed=5))
    curves = [along_paths(lattice), along_paths(lattice, depths=4, draws=2)]
    found = equal_cost(curves, 400, **PLAIN)
    plain, joint = at_cost(curves[0], 400), at_cost(curves[1], 400)
    assert found["value"].to_list() == pytest.approx([plain.mean(), joint.mean()])
    assert found["difference"].to_list() == [None, pytest.approx((joint - plain).mean())]
    assert found["difference_low"][1] <= found["difference"][1] <= found["difference_high"][1]
    assert found["n_problems"].to_list() == [60, 60]
