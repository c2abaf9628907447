from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elastic.adaptive.allocate import allocate, hull
from elastic.errors import BudgetError


def best_by_trying_all(values: np.ndarray, costs: np.ndarray, allowance: float) -> float:
    rows = range(len(values))
    return max(
        sum(values[row, option] for row, option in zip(rows, choice, strict=True))
        for choice in product(range(values.shape[1]), repeat=len(values))
        if sum(costs[row, option] for row, option in zip(rows, choice, strict=True)) <= allowance
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_best_choice_lies_within_the_gap(seed: int) -> None:
    draw = np.random.default_rng(seed)
    values, costs = draw.random((5, 4)), draw.integers(1, 40, (5, 4)).astype(float)
    allowance = float(draw.uniform(costs.min(axis=1).sum(), costs.max(axis=1).sum()))
    found, best = allocate(values, costs, allowance), best_by_trying_all(values, costs, allowance)
    rows = np.arange(5)
    assert found.value == pytest.approx(values[rows, found.choice].sum())
    assert found.cost == pytest.approx(costs[rows, found.choice].sum())
    assert found.cost <= allowance
    assert found.value <= best + 1e-12
    assert best <= found.value + found.gap + 1e-12


def test_most_choices_of_few_problems_are_the_best() -> None:
    hit = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        values, costs = draw.random((5, 4)), draw.integers(1, 40, (5, 4)).astype(float)
        allowance = float(draw.uniform(costs.min(axis=1).sum(), costs.max(axis=1).sum()))
        hit += allocate(values, costs, allowance).value > best_by_trying_all(values, costs, allowance) - 1e-9
    assert hit >= 25


def test_a_known_choice() -> None:
    # Steps by slope: row 1 to 20 (0.09 a token), row 0 to 20 (0.03), row 1 to 40 (0.0025), row 0 to 40 (0.001).
    values = np.array([[0.1, 0.4, 0.42], [0.0, 0.9, 0.95]])
    costs = np.array([[10.0, 20.0, 40.0], [10.0, 20.0, 40.0]])
    assert allocate(values, costs, 30).choice.tolist() == [0, 1]
    assert allocate(values, costs, 40).choice.tolist() == [1, 1]
    assert allocate(values, costs, 60).choice.tolist() == [1, 2]
    assert allocate(values, costs, 1000).choice.tolist() == [2, 2]
    assert allocate(values, costs, 30).gap == 0
    # 5 tokens are left over, worth at most 5 x 0.03.
    assert allocate(values, costs, 35).gap == pytest.approx(0.15)


def test_what_whole_steps_leave_is_filled_off_the_hull() -> None:
    # Option 1 lies below the line from 0 to 2, but is all that 15 tokens pay for.
    found = allocate(np.array([[0.0, 0.1, 0.9]]), np.array([[10.0, 15.0, 20.0]]), 15)
    assert found.choice.tolist() == [1]
    assert found.gap == pytest.approx(0.45 - 0.1)


def test_a_budget_that_buys_nothing_is_not_given() -> None:
    assert allocate(np.array([[0.5, 0.5, 0.4]]), np.array([[10.0, 20.0, 30.0]]), 100).choice.tolist() == [0]


def test_an_allowance_below_the_cheapest_budgets_is_refused() -> None:
    with pytest.raises(BudgetError, match="below the 20"):
        allocate(np.zeros((2, 2)), np.array([[10.0, 20.0], [10.0, 20.0]]), 19)


def test_a_hull_drops_dominated_and_dented_options() -> None:
    assert hull([10, 10, 20, 30, 40], [0.1, 0.2, 0.25, 0.8, 0.8]) == [1, 3]
