from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_runs import random_run, run_of

from elastic.errors import DataError
from elastic.metrics.lattice import lattice_of
from elastic.metrics.pass_curves import along_paths
from elastic.metrics.planning import best_under, candidates, frontier

PLAIN = {"confidence": 0.95, "resamples": 300, "seed": 1}
# Only the whole thinking is ever right, and every draw of it says the same: more depths and draws are thrown away.
# One path in two is right, so paths are worth their cost.
PATHS_PAY = run_of(**{f"p{number}": [["ww", "ww", "cc"], ["ww", "ww", "ww"]] for number in range(12)})
# Both paths are the same, and one draw in two is right at every depth.
DRAWS_PAY = run_of(**{f"p{number}": [["ww", "ww", "cw"], ["ww", "ww", "cw"]] for number in range(12)})


def test_every_part_of_the_run_is_a_candidate_at_its_cost() -> None:
    found = candidates(random_run(5, 2, 4, 3, seed=1), "pass", shuffles=1, seed=1)
    sets = {tuple(depths) for depths in found.table["depths"].to_list()}
    assert sets == {(4,), (2, 4), (1, 2, 4), (1, 2, 3, 4), (3, 4), (2, 3, 4)}
    assert len(found.table) == 2 * 3 * len(sets)
    assert found.table["cost"].is_sorted()
    assert set(found.table.filter(pl.col("spacing") == "last")["depths"].list.len()) == {2, 3}


def test_costs_and_values_are_those_of_the_curves() -> None:
    frame = random_run(20, 4, 4, 2, seed=2)
    found = candidates(frame, "pass", shuffles=1, seed=1)
    for depths, draws in ((1, 1), (2, 2), (4, 1)):
        curve = along_paths(lattice_of(frame), depths=depths, draws=draws)
        rows = found.table.filter(spacing="even", draws=draws).filter(pl.col("depths").list.len() == depths)
        assert rows.sort("paths")["value"].to_list() == pytest.approx(curve.values.mean(axis=0))
        assert rows.sort("paths")["cost"].to_list() == pytest.approx(curve.costs)


def test_where_only_paths_pay_only_paths_are_bought() -> None:
    found = candidates(PATHS_PAY, "pass", shuffles=1, seed=1)
    best = best_under(found, 1000, **PLAIN)
    assert (best.paths, best.depths, best.draws, best.cost, best.value.mean) == (2, (3,), 1, 68.0, 1.0)
    assert frontier(found.table).select("paths", "cost", "value").rows() == [(1, 34.0, 0.5), (2, 68.0, 1.0)]
    assert best.rivals.select("paths", "difference", "overlaps").rows() == [(1, 0.5, False)]
    assert best.n_problems == 12


def test_where_only_draws_pay_only_draws_are_bought() -> None:
    best = best_under(candidates(DRAWS_PAY, "pass", shuffles=1, seed=1), 1000, **PLAIN)
    assert (best.paths, best.depths, best.draws, best.cost) == (1, (3,), 2, 38.0)


def test_a_tight_cost_leaves_the_cheapest_and_a_tighter_one_nothing() -> None:
    found = candidates(PATHS_PAY, "pass", shuffles=1, seed=1)
    best = best_under(found, 60, **PLAIN)
    assert (best.paths, best.depths, best.cost, best.rivals.height) == (1, (3,), 34.0, 0)
    with pytest.raises(DataError, match="the cheapest is 34"):
        best_under(found, 33, **PLAIN)


def test_votes_and_scores_are_planned_too() -> None:
    """Early answers agree on a wrong one; scores know the right one. So votes want the last depth, scores any."""
    frame = run_of(**{f"p{number}": [["w", "w", "c"], ["w", "w", "c"]] for number in range(12)})
    frame = frame.with_columns(
        answer=pl.when(pl.col("verdict") == "correct").then(pl.lit("7")).otherwise(pl.lit("8")),
        logprob=pl.when(pl.col("verdict") == "correct").then(-0.1).otherwise(-0.2),
    )
    votes = candidates(frame, "majority", shuffles=3, seed=1)
    by_depths = {tuple(row["depths"]): row["value"] for row in votes.table.filter(paths=2).iter_rows(named=True)}
    assert by_depths == {(3,): 1.0, (1, 3): 0.5, (2, 3): 0.5, (1, 2, 3): 0.0}
    assert best_under(votes, 1000, **PLAIN).depths == (3,)
    assert candidates(frame, "best_of", shuffles=3, seed=1).table["value"].to_list() == [1.0] * votes.table.height


def test_rivals_that_may_be_as_good_are_said() -> None:
    frame = random_run(15, 4, 4, 2, seed=3)
    best = best_under(candidates(frame, "majority", shuffles=4, seed=1), 400, **PLAIN)
    assert best.rivals["cost"].is_sorted()
    assert (best.rivals["difference"] > 0).all()
    assert best.rivals["overlaps"].to_list() == [low <= 0 for low in best.rivals["difference_low"]]
    assert best.rivals["overlaps"].any()
    assert not best.rivals["overlaps"].all()


def test_problems_without_a_value_everywhere_are_left_out_of_all_candidates() -> None:
    frame = run_of(a=[["w", "c"], ["w", "e"]], b=[["w", "c"], ["w", "w"]], c=[["c", "c"], ["c", "c"]])
    found = candidates(frame, "pass", shuffles=1, seed=1)
    assert found.values.shape == (2, len(found.table))
    assert not np.isnan(found.values).any()
    with pytest.raises(DataError, match="no problem has graded answers on every path"):
        candidates(frame.filter(problem_id="a"), "pass", shuffles=1, seed=1)
