"""ALP's measures on allocations made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from elastic.errors import DataError
from elastic.metrics.adaptation import adaptation_ratio
from elastic.metrics.allocation import (
    allocation,
    cumulative_curve,
    efficiency_score,
    share_on_easiest,
    tokens_by_difficulty,
    tokens_by_level,
)

SETTINGS = {"confidence": 0.95, "resamples": 300, "seed": 1}


def test_the_curve_and_its_score_by_hand() -> None:
    """Tokens 1, 2, 3, 4 from easy to hard: heights 0, 0.1, 0.3, 0.6, 1, area 0.125 (0.1 + 0.4 + 0.9 + 1.6) = 0.375."""
    tokens, difficulty = np.array([4.0, 1, 3, 2]), np.array([0.9, 0.1, 0.7, 0.3])
    x, y = cumulative_curve(tokens, difficulty)
    assert x == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert y == pytest.approx([0, 0.1, 0.3, 0.6, 1])
    assert efficiency_score(tokens, difficulty) == pytest.approx(0.625)
    assert share_on_easiest(tokens, difficulty) == pytest.approx(0.3)
    assert share_on_easiest(tokens, difficulty, 0.625) == pytest.approx(0.45)


def test_equal_tokens_score_a_half_and_all_on_the_hardest_near_one() -> None:
    difficulty = np.linspace(0, 1, 100)
    assert efficiency_score(np.ones(100), difficulty) == pytest.approx(0.5)
    assert efficiency_score(np.eye(100)[-1], difficulty) == pytest.approx(1 - 0.5 / 100)
    assert efficiency_score(np.eye(100)[0], difficulty) == pytest.approx(0.5 / 100)


def test_a_bend_at_the_share_that_alp_prints_scores_just_below_what_it_prints() -> None:
    assert efficiency_score(np.array([0.21, 0.79]), np.array([0, 1])) == pytest.approx(0.645)


def test_ties_have_no_order() -> None:
    """Two easy problems with 1 and 5 tokens and a hard one with 6: the curve is straight to (2/3, 1/2)."""
    difficulty = np.array([0.2, 0.2, 0.8])
    for tokens in (np.array([1.0, 5, 6]), np.array([5.0, 1, 6])):
        x, y = cumulative_curve(tokens, difficulty)
        assert x == pytest.approx([0, 2 / 3, 1])
        assert y == pytest.approx([0, 0.5, 1])
        assert share_on_easiest(tokens, difficulty) == pytest.approx(0.375)
        assert efficiency_score(tokens, difficulty) == pytest.approx(1 - (0.5 * 2 / 3 * 0.5 + 0.75 / 3))


def test_all_measures_have_intervals_over_problems() -> None:
    rng = np.random.default_rng(2)
    rates = rng.integers(0, 5, 80) / 4
    tokens = 20 + 30 * (1 - rates) + rng.uniform(0, 10, 80)
    found = allocation(tokens, rates, **SETTINGS)
    thirty, fifth = (
        found.adaptation["hardest 30 % over easiest 30 %"],
        found.adaptation["hardest 20 % over easiest 50 %"],
    )
    assert thirty.mean == adaptation_ratio(tokens, rates, 0.3)
    assert fifth.mean == adaptation_ratio(tokens, rates, 0.2, 0.5)
    assert found.efficiency.mean == efficiency_score(tokens, 1 - rates)
    assert found.easier_half.mean == share_on_easiest(tokens, 1 - rates)
    for interval in (thirty, fifth, found.efficiency, found.easier_half):
        assert interval.low < interval.mean < interval.high
    assert found.easier_half.high < 0.5 < found.efficiency.low
    assert found.n_problems == 80
    assert allocation(tokens, rates, **SETTINGS) == found


def test_the_resampled_scores_are_those_of_the_resampled_problems() -> None:
    """Two problems: a resample has both (the score of the set) or one of them twice (0.5)."""
    found = allocation(np.array([1.0, 3.0]), np.array([1.0, 0.0]), **SETTINGS)
    assert found.efficiency == (0.625, 0.5, 0.625)


def test_tokens_by_difficulty_and_by_level() -> None:
    tokens, rates = np.array([10.0, 20, 30, 40]), np.array([1.0, 0.7, 0.5, 0.0])
    found = tokens_by_difficulty(tokens, rates, [0, 0.3, 0.9, 1], **SETTINGS)
    assert [(row.group, row.tokens.mean, row.n_problems) for row in found] == [
        ("0 to 0.3", 10, 1),
        ("0.3 to 0.9", 25, 2),
        ("0.9 to 1", 40, 1),
    ]
    by_level = tokens_by_level(tokens, ["10", "9", "10", "9"], **SETTINGS)
    assert [(row.group, row.tokens.mean, row.n_problems) for row in by_level] == [("9", 30, 2), ("10", 20, 2)]
    assert [row.group for row in tokens_by_level(tokens, ["b", "10", "a", "9"], **SETTINGS)] == ["10", "9", "a", "b"]


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(DataError, match="2 problems with tokens, but 1 with"):
        efficiency_score(np.ones(2), np.ones(1))
    with pytest.raises(DataError, match="no token"):
        efficiency_score(np.zeros(2), np.ones(2))
    with pytest.raises(DataError, match="do not rise"):
        tokens_by_difficulty(np.ones(2), np.ones(2), [0, 0.5], **SETTINGS)
