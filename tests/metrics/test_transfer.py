"""Changes against the base on two domains, by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hand_made_answers import answers

from elastic.errors import DataError
from elastic.metrics.transfer import changes

SETTINGS = {"base": "base", "trained": "sums", "confidence": 0.95, "resamples": 200, "seed": 1}


def evaluated(*problems: tuple[str, str, int]) -> pl.DataFrame:
    """Answers as (problem, verdict, thinking tokens); each has one solution token."""
    return answers(*({"problem_id": p, "verdict": verdict, "n_think": n} for p, verdict, n in problems))


SUMS = {
    "base": evaluated(("a", "wrong", 9), ("a", "correct", 9), ("b", "wrong", 19)),
    "r1": evaluated(("b", "correct", 9), ("a", "correct", 4), ("c", "correct", 1), ("a", "error", 99)),
}
EXTREMES = {
    "base": evaluated(("x", "correct", 9), ("y", "correct", 9)),
    "r1": evaluated(("x", "wrong", 7), ("y", "correct", 7)),
}


def test_changes_are_paired_by_problem_on_every_domain() -> None:
    """Sums: a from 0.5 to 1 and 10 to 5 tokens, b from 0 to 1 and 20 to 10. Extremes: 1 to 0.5, 10 to 8 tokens."""
    sums, extremes = changes({"extremes": EXTREMES, "sums": SUMS}, **SETTINGS)
    assert (sums.domain, sums.trained, sums.model, sums.n_problems) == ("sums", True, "r1", 2)
    assert (sums.accuracy.mean, sums.tokens.mean, sums.tokens_ratio.mean) == pytest.approx((0.75, -7.5, 0.5))
    assert sums.tokens_ratio == pytest.approx((0.5, 0.5, 0.5))
    assert (extremes.domain, extremes.trained, extremes.n_problems) == ("extremes", False, 2)
    assert (extremes.accuracy.mean, extremes.tokens.mean) == pytest.approx((-0.5, -2))
    assert extremes.tokens_ratio.mean == pytest.approx(0.8)
    assert extremes.accuracy.low < -0.5 < extremes.accuracy.high


def test_transfer_without_its_control_is_refused() -> None:
    with pytest.raises(DataError, match="no answers on the trained domain 'sums', only on extremes"):
        changes({"extremes": EXTREMES}, **SETTINGS)
    with pytest.raises(DataError, match="no answers of 'base' on 'sums'"):
        changes({"sums": {"r1": SUMS["r1"]}}, **SETTINGS)
    with pytest.raises(DataError, match="share no graded problem on 'sums'"):
        changes({"sums": {"base": SUMS["base"], "r1": EXTREMES["r1"]}}, **SETTINGS)
