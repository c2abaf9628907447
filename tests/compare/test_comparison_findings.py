"""What may be claimed: seeds that agree, tests that hold after correction, and claims held against both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from compare.claims import Claim, ask, judge
from compare.findings import Findings, Run, measured
from compare.params import BASE, ReportParams
from elastic.errors import DataError

N = 200
PARAMS = ReportParams(
    title="t", main=8, control="control", share=0.3, margin=0.05, confidence=0.95, resamples=300, seed=1
)


def model(recipe: str, seed: int | None, accuracy: float, tokens: float, *, steep: float = 0.0) -> Run:
    """A model with the same accuracy in every cell, and tokens that rise with the number of the problem."""
    right = (np.arange(N) < accuracy * N).astype(float)
    spent = tokens * (1 + steep * np.linspace(0, 1, N))
    cells = (0, 8, None)
    return Run(f"{recipe}_{seed}", recipe, seed, dict.fromkeys(cells, right), dict.fromkeys(cells, spent), right, spent)


def findings(recipes: Mapping[str, list[tuple[float, float]]]) -> Findings:
    runs = [model(BASE, None, 0.5, 100.0)]
    for recipe, seeds in recipes.items():
        runs += [model(recipe, number, *values) for number, values in enumerate(seeds)]
    return Findings(runs, PARAMS)


def test_a_difference_is_claimed_where_all_seeds_agree() -> None:
    found = findings({"e1": [(0.9, 50.0), (0.8, 50.0)], "control": [(0.5, 90.0), (0.6, 90.0)]})
    row = found.difference("e1", "control", 8)
    found.correct()
    assert row.difference == pytest.approx(0.3)
    assert (row.agree, row.holds, row.claimed, row.seeds) == (True, True, True, 2)


def test_one_pair_of_seeds_the_other_way_round_forbids_the_claim() -> None:
    found = findings({"e1": [(0.9, 50.0), (0.55, 50.0)], "control": [(0.4, 90.0), (0.6, 90.0)]})
    row = found.difference("e1", "control", 8)
    found.correct()
    assert row.holds
    assert not row.agree
    assert not row.claimed


def test_the_number_of_differences_counts() -> None:
    # 7 problems of 200 more: p = 2 / 2^7 = 0.016, which one test survives and many do not
    found = findings({"e1": [(0.535, 50.0)], "control": [(0.5, 50.0)]})
    row = found.difference("e1", "control", 8)
    found.correct()
    assert row.claimed
    for _ in range(4):
        for recipe, control in (("e1", BASE), ("control", BASE), ("control", "e1")):
            for cell in found.cells:
                found.difference(recipe, control, cell, "accuracy")
    found.correct()
    assert row.p == pytest.approx(2 / 2**7, abs=0.006)
    assert not row.claimed


def test_tokens_to_match_is_read_off_the_curve() -> None:
    base = model(BASE, None, 0.5, 100.0)
    half, most = (np.arange(N) < share * N for share in (0.5, 0.9))
    tokens = {0: np.full(N, 10.0), 8: np.full(N, 20.0), None: np.full(N, 60.0)}
    accuracy = {0: np.zeros(N), 8: half.astype(float), None: most.astype(float)}
    found = Findings([base, Run("x", "x", 1, accuracy, tokens, half, tokens[None])], PARAMS)
    assert found.tokens_to_match("x", 0.25) == pytest.approx(15.0)
    assert found.tokens_to_match("x", 0.7) == pytest.approx(40.0)
    assert found.tokens_to_match("x", 0.95) is None


def test_adaptation_is_measured_on_the_base_s_hard_problems() -> None:
    # the base solves the first half, so that the last problems are the hard ones
    found = Findings([model(BASE, None, 0.5, 100.0), model("alp", 1, 0.5, 50.0, steep=1.0)], PARAMS)
    row = found.difference("alp", BASE, None, "adaptation")
    found.correct()
    assert found.adaptation(BASE) == pytest.approx(1.0)
    assert row.difference > 0.2
    assert row.claimed


def test_samples_that_say_what_is_hard_are_not_those_whose_tokens_are_counted() -> None:
    shared = {"problem_id": "p", "method": "separate", "think_budget": 8, "n_solution": 0}
    rows = [
        {**shared, "sample": 0, "n_think": 100, "verdict": "correct"},
        {**shared, "sample": 1, "n_think": 20, "verdict": "wrong"},
        {**shared, "sample": 2, "n_think": 300, "verdict": "correct"},
        {**shared, "sample": 3, "n_think": 40, "verdict": "wrong"},
    ]
    free = [{**row, "method": "unconstrained", "think_budget": None} for row in rows]
    run = measured(BASE, BASE, None, pl.DataFrame(rows + free), ["p"])
    assert (run.accuracy[8][0], run.tokens[None][0]) == (0.5, 115)
    assert (run.solve_rate[0], run.spent[0]) == (1, 30)
    with pytest.raises(DataError, match="one sample a problem"):
        measured(BASE, BASE, None, pl.DataFrame([rows[0], free[0]]), ["p"])


def claim(**part: object) -> Claim:
    return Claim.model_validate({"claim": "c", "published": "p", "source": "s", "parts": [part]})


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        ({"recipe": "e1", "against": "control", "at": "main", "is": "more"}, "held"),
        ({"recipe": "e1", "against": "control", "at": "every", "is": "less"}, "did not hold"),
        ({"recipe": "e1", "against": "control", "of": "tokens", "is": "less"}, "held"),
        ({"recipe": "control", "against": "base", "is": "more"}, "undecided"),
        ({"recipe": "control", "against": "base", "is": "kept"}, "held"),
        ({"recipe": "control", "against": "e1", "is": "kept"}, "did not hold"),
        ({"recipe": "e1", "against": "kimi", "is": "more"}, "not testable here"),
        ({"recipe": "e1", "against": "control", "at": 99, "is": "more"}, "not testable here"),
    ],
)
def test_a_claim_is_held_against_the_differences(part: dict[str, object], outcome: str) -> None:
    found = findings({"e1": [(0.9, 50.0)], "control": [(0.5, 90.0)]})
    judged = claim(**part)
    ask([judged], found)
    found.correct()
    assert judge(judged, found).outcome == outcome


def test_a_claim_without_parts_says_why() -> None:
    with pytest.raises(ValidationError, match="because"):
        Claim.model_validate({"claim": "c", "published": "p", "source": "s"})
    found = findings({})
    untestable = Claim.model_validate({"claim": "c", "published": "p", "source": "s", "because": "no reason"})
    assert judge(untestable, found).here == ["no reason"]
