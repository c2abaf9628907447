from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import linregress

from elastic.errors import DataError
from elastic.metrics.log_linear import LogLinear, fit_log_linear


def test_points_on_a_line_are_found() -> None:
    tokens = [1, math.e, math.e**2]
    assert fit_log_linear(tokens, [0.1, 0.3, 0.5]) == LogLinear(
        pytest.approx(0.1), pytest.approx(0.2), pytest.approx(1)
    )


def test_a_case_worked_out_by_hand() -> None:
    """x = 0, 1, 2 and y = 0, 1, 0.5: slope 0.25, mean 0.5, so a = 0.25; explained 0.125 of 0.5."""
    assert fit_log_linear([1, math.e, math.e**2], [0, 1, 0.5]) == LogLinear(
        pytest.approx(0.25), pytest.approx(0.25), pytest.approx(0.25)
    )


def test_equals_scipy() -> None:
    rng = np.random.default_rng(1)
    tokens, accuracies = rng.uniform(10, 200, 12), rng.random(12)
    other = linregress(np.log(tokens), accuracies)
    fit = fit_log_linear(list(tokens), list(accuracies))
    assert fit == LogLinear(pytest.approx(other.intercept), pytest.approx(other.slope), pytest.approx(other.rvalue**2))


def test_accuracy_that_does_not_vary_is_not_explained() -> None:
    assert fit_log_linear([10, 20, 30], [0.5, 0.5, 0.5]) == LogLinear(pytest.approx(0.5), 0.0, 0.0)


@pytest.mark.parametrize("tokens", [[], [10], [10, 20], [10, 20, 20, 10]])
def test_fewer_than_three_distinct_token_counts_give_no_line(tokens: list[float]) -> None:
    assert fit_log_linear(tokens, [0.1] * len(tokens)) is None


def test_a_row_without_tokens_is_an_error() -> None:
    with pytest.raises(DataError, match="logarithm"):
        fit_log_linear([0, 10, 20], [0, 0.1, 0.2])
