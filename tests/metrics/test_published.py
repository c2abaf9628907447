"""Comparisons with published figures: verdicts by known values, and every reason that keeps two figures apart."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from elastic.budget import Budget
from elastic.contracts.evaluation_records import EvaluationRecord, Protocol, SummaryRow
from elastic.contracts.reference import Published, load_contradictions, load_reference, published_figures
from elastic.metrics.intervals import Interval
from elastic.metrics.published import Compared, Measured, compare, measured

FOLDER = Path(__file__).parents[2] / "data/reference"
E1 = list(published_figures(load_reference(FOLDER / "e1_math.yaml"), load_contradictions(FOLDER)))


def e1_at(budget: str, measure: str = "accuracy") -> Published:
    """E1-Math-1.5B on AIME24 in the table of budgets."""
    wanted = ("E1-Math-1.5B", Budget.parse(budget), measure)
    return next(figure for figure in E1 if (figure.model, figure.budget, figure.measure) == wanted)


OURS = Measured(
    measure="accuracy",
    interval=Interval(0.18, 0.08, 0.30),
    model="E1-Math-1.5B",
    problems="aime24",
    n_problems=30,
    budget=Budget(1024, 1024),
    limit=None,
    setting="",
    samples=16,
    temperature=0.6,
    top_p=0.95,
)


def ours(**changes: Any) -> Measured:
    return dataclasses.replace(OURS, **changes)


def against_1k(figure: Measured) -> Compared:
    return compare(figure, e1_at("1K+1K"), confidence=0.95)


def test_close_figures_agree_and_say_what_that_rests_on() -> None:
    found = against_1k(OURS)
    assert (found.verdict, found.reasons) == ("agrees", ())
    assert "binomial over its 30 problems" in found.notes[0]


def test_the_interval_of_the_difference_joins_both_intervals() -> None:
    """Newcombe's method 10 on 17 of 40 against 7 of 40, whose intervals are Wilson's as scipy has them."""
    mine, theirs = (binomtest(k, 40).proportion_ci(0.95, method="wilson") for k in (17, 7))
    published = dataclasses.replace(e1_at("1K+1K"), value=7 / 40, n_problems=40)
    found = compare(ours(interval=Interval(17 / 40, mine.low, mine.high), n_problems=40), published, confidence=0.95)
    assert found.difference is not None
    assert found.difference.mean == pytest.approx(0.25)
    assert found.difference.low == pytest.approx(0.25 - np.hypot(17 / 40 - mine.low, theirs.high - 7 / 40))
    assert found.difference.high == pytest.approx(0.25 + np.hypot(mine.high - 17 / 40, 7 / 40 - theirs.low))
    assert found.verdict == "above"


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(0.90, 0.85, 0.95), "above"),
        (Interval(0.50, 0.45, 0.55), "above"),
        (Interval(0.30, 0.25, 0.35), "agrees"),
        (Interval(0.01, 0.00, 0.02), "below"),
        (Interval(0.01, 0.00, 0.30), "agrees"),
    ],
)
def test_the_verdict_follows_both_intervals(interval: Interval, verdict: str) -> None:
    """Wilson's interval of 17.5 % over 30 is 7.9 % to 34.5 %."""
    assert against_1k(ours(interval=interval)).verdict == verdict


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problems": "aime25"}, "other problems: aime25 here, aime24 there"),
        ({"n_problems": 29}, "29 problems were graded here, 30 there"),
        ({"model": "r1"}, "another model: r1 here, E1-Math-1.5B there"),
        ({"budget": Budget(1024, 512)}, r"another budget: 1024\+512 here, 1024\+1024 there"),
        ({"budget": None, "limit": 4096}, r"another budget: up to 4096 here, 1024\+1024 there"),
        ({"setting": "fractured"}, "another setting: fractured here, none there"),
        ({"temperature": 0.0}, "another temperature: 0 here, 0.6 there"),
        ({"top_p": 1.0}, "another top-p: 1 here, 0.95 there"),
        ({"measure": "majority"}, "another measure: majority here, accuracy there"),
    ],
)
def test_one_difference_of_protocol_is_enough_to_refuse(changes: dict[str, Any], said: str) -> None:
    found = against_1k(ours(**changes))
    assert (found.verdict, found.difference) == ("not comparable", None)
    [reason] = found.reasons
    assert re.fullmatch(said, reason)


def test_amc_of_83_problems_is_not_compared_with_amc_of_40() -> None:
    figures = list(published_figures(load_reference(FOLDER / "baselines.yaml"), load_contradictions(FOLDER)))
    of_40 = next(figure for figure in figures if figure.problems == "amc40" and figure.measure == "accuracy")
    found = compare(
        ours(problems="amc83", n_problems=83, model=of_40.model, budget=None, limit=32768), of_40, confidence=0.95
    )
    assert found.reasons == ("other problems: amc83 here, amc40 there",)
    assert any("83 problems" in note for note in found.notes)


def test_tokens_are_compared_only_where_they_are_counted_alike() -> None:
    tokens = ours(measure="tokens", interval=Interval(1800.0, 1700.0, 1900.0))
    unstated = compare(tokens, e1_at("1K+1K", "tokens"), confidence=0.95)
    assert unstated.reasons == ("tokens are sampled ones without the free delimiter here; there: not stated",)
    protocol = e1_at("1K+1K").protocol.model_copy(update={"tokens": "sampled"})
    alike = compare(tokens, dataclasses.replace(e1_at("1K+1K", "tokens"), protocol=protocol), confidence=0.95)
    assert alike.verdict == "agrees"
    assert alike.difference == pytest.approx((1.0, -99.0, 101.0))
    assert "taken as exact" in alike.notes[0]


def test_an_unknown_number_of_samples_is_not_comparable() -> None:
    protocol = e1_at("1K+1K").protocol.model_copy(update={"samples": None})
    found = compare(OURS, dataclasses.replace(e1_at("1K+1K"), protocol=protocol), confidence=0.95)
    assert found.reasons == ("how many samples stand behind the published figure is not stated",)


def test_contradictions_stand_beside_the_verdict() -> None:
    base = next(figure for figure in E1 if figure.model == "DeepScaleR-1.5B" and figure.budget == Budget(512, 1024))
    found = compare(ours(model="DeepScaleR-1.5B", budget=Budget(512, 1024)), base, confidence=0.95)
    assert any("2.10" in note and "5.2" in note for note in found.notes)


def test_a_row_of_an_evaluation_gives_accuracy_and_majority_with_their_protocol() -> None:
    protocol = Protocol(benchmark="aime24 v1", template="", temperature=0.6, top_p=0.95, samples=16, seed=0)
    record = EvaluationRecord.model_construct(protocol=protocol)
    shares = {name: 0.0 for name, field in SummaryRow.model_fields.items() if field.annotation is float}
    names = dict.fromkeys(("model", "solver", "benchmark", "run", "setting"), "")
    figures = {"accuracy": 0.18, "ci_low": 0.08, "ci_high": 0.3, "majority": 0.3, "majority_low": 0.2}
    counts = {"n_problems": 30, "n_samples": 16, "n_answers": 480, "k": 16}
    budget = {"method": "separate", "think": 1024, "solution": 1024, "limit": None}
    row = SummaryRow.model_validate(shares | names | figures | {"majority_high": 0.4} | counts | budget)
    accuracy, majority = measured(row, record, model="E1-Math-1.5B", problems="aime24")
    assert accuracy == OURS
    assert (majority.measure, majority.interval) == ("majority", Interval(0.3, 0.2, 0.4))
    [swapped, _] = measured(row.model_copy(update={"method": "swap"}), record, model="E1-Math-1.5B", problems="aime24")
    assert swapped.setting == "swap"
