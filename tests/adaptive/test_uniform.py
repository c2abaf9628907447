from __future__ import annotations

import numpy as np
import pytest

from elastic.adaptive.uniform import BLIND, UNIFORM, blind_shares
from elastic.errors import BudgetError

# The second budget lies below the line from the first to the third, the last buys nothing.
VALUES, COSTS = np.array([0.1, 0.2, 0.9, 0.9]), np.array([20.0, 30.0, 40.0, 60.0])


@pytest.mark.parametrize("policy", [UNIFORM, BLIND])
@pytest.mark.parametrize("allowance", [20, 26, 33, 40])
def test_the_allowance_is_spent_exactly(policy: str, allowance: float) -> None:
    shares = blind_shares(VALUES, COSTS, allowance, policy)
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    assert shares @ COSTS == pytest.approx(allowance)


def test_uniform_mixes_neighbours_and_blind_mixes_the_best() -> None:
    assert blind_shares(VALUES, COSTS, 35, UNIFORM).tolist() == [0, 0.5, 0.5, 0]
    assert blind_shares(VALUES, COSTS, 30, UNIFORM).tolist() == [0, 1, 0, 0]
    assert blind_shares(VALUES, COSTS, 30, BLIND).tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("policy", [UNIFORM, BLIND])
def test_a_budget_that_buys_nothing_is_not_given(policy: str) -> None:
    assert blind_shares(VALUES, COSTS, 60, policy).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("policy", [UNIFORM, BLIND])
def test_an_allowance_below_the_cheapest_budget_is_refused(policy: str) -> None:
    with pytest.raises(BudgetError, match="below the cheapest"):
        blind_shares(VALUES, COSTS, 19, policy)
