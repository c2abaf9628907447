"""Tests over problems and their correction, against exact chances."""

from __future__ import annotations

import numpy as np
import pytest

from elastic.metrics.significance import draws_for, holm, sign_flip


def test_holm_stops_at_the_first_test_that_fails() -> None:
    # 0.05 over 4, 3, 2, 1: 0.0125, 0.0167, 0.025, 0.05
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    assert holm([0.011, 0.016, 0.024, 0.049], 0.05) == [True] * 4
    assert holm([0.013, 0.001 * 13, 0.5, 0.9], 0.05) == [False] * 4


def test_sign_flips_find_the_exact_chance_of_a_small_case() -> None:
    # Of the 8 ways to sign (1, 1, 2), only +++ and --- reach a sum of 4: p = 0.25.
    chance = sign_flip(np.array([1.0, 1.0, 2.0]), 40_000, np.random.default_rng(0))
    assert chance == pytest.approx(0.25, abs=0.01)
    assert sign_flip(np.zeros(5), 100, np.random.default_rng(0)) == 1


def test_the_smallest_chance_is_well_below_what_one_of_many_tests_must_reach() -> None:
    draws = draws_for(40, 0.05, 2000)
    assert 1 / (draws + 1) < 0.05 / 40 / 5
    assert draws_for(1, 0.05, 2000) == 2000
