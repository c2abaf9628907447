from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import linregress

from elastic.errors import DataError
from elastic.metrics.log_linear import LogLinear, fit_log_linear, predict_tokens, residuals


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


def test_equals_numpy_and_so_do_the_residuals() -> None:
    rng = np.random.default_rng(2)
    tokens, accuracies = rng.uniform(10, 200, 9), rng.random(9)
    slope, intercept = np.polyfit(np.log(tokens), accuracies, 1)
    fit = fit_log_linear(list(tokens), list(accuracies))
    assert fit is not None
    assert (fit.a, fit.b) == (pytest.approx(intercept), pytest.approx(slope))
    expected = accuracies - np.polyval([slope, intercept], np.log(tokens))
    assert residuals(fit, list(tokens), list(accuracies)) == pytest.approx(expected)


def test_residuals_of_the_case_by_hand() -> None:
    """a = b = 0.25 over x = 0, 1, 2: the line is 0.25, 0.5, 0.75 against 0, 1, 0.5."""
    fit = LogLinear(0.25, 0.25, 0.25)
    assert residuals(fit, [1, math.e, math.e**2], [0, 1, 0.5]) == pytest.approx([-0.25, 0.5, -0.25])


SETTINGS = {"confidence": 0.95, "resamples": 500, "seed": 3}


def test_the_tokens_of_a_wanted_accuracy() -> None:
    """Accuracy 0.2, 0.4, 0.6 at 10, 20, 40 tokens: 0.5 lies half a doubling above 20."""
    tokens = np.repeat([[10.0], [20.0], [40.0]], 5, axis=1)
    accuracies = np.repeat([[0.2], [0.4], [0.6]], 5, axis=1)
    found = predict_tokens(0.5, tokens, accuracies, **SETTINGS)
    assert found.tokens == pytest.approx(20 * math.sqrt(2))
    assert (found.low, found.high) == (pytest.approx(found.tokens), pytest.approx(found.tokens))


def test_the_interval_of_the_tokens_covers_them_and_ends_where_nothing_was_measured() -> None:
    rng = np.random.default_rng(4)
    tokens = np.repeat([[10.0], [20.0], [40.0], [80.0]], 60, axis=1) + rng.uniform(-2, 2, (4, 60))
    accuracies = rng.binomial(4, [[0.2], [0.4], [0.6], [0.8]], (4, 60)) / 4
    found = predict_tokens(0.5, tokens, accuracies, **SETTINGS)
    assert found.low is not None
    assert found.high is not None
    assert 20 < found.low < found.tokens < found.high < 40
    top = float(accuracies[-1].mean()) - 0.01
    assert predict_tokens(top, tokens, accuracies, **SETTINGS).high is None


def test_what_the_line_cannot_say_is_refused() -> None:
    tokens = np.repeat([[10.0], [20.0], [40.0]], 4, axis=1)
    rising = np.repeat([[0.2], [0.4], [0.6]], 4, axis=1)
    with pytest.raises(DataError, match=r"fitted over 10\.0 to 40\.0 tokens and goes from 0\.200 to 0\.600"):
        predict_tokens(0.7, tokens, rising, **SETTINGS)
    with pytest.raises(DataError, match="does not rise"):
        predict_tokens(0.4, tokens, rising[::-1], **SETTINGS)
    with pytest.raises(DataError, match="at least 3 rows"):
        predict_tokens(0.3, tokens[:2], rising[:2], **SETTINGS)
