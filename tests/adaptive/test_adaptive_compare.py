from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import polars as pl
import pytest

from elastic.adaptive.compare import compare
from elastic.adaptive.evidence import Asked, Probing, observe
from elastic.adaptive.outcomes import Outcomes, common_budgets, read_outcomes
from elastic.adaptive.plan import Cost, plan
from elastic.adaptive.predict_agreement import Agreement
from elastic.adaptive.predict_features import QuestionFeatures
from elastic.adaptive.predict_log_linear import LogLinearLaw
from elastic.adaptive.predictor import Predictor, learnt_from
from elastic.adaptive.records import Comparison, PolicyRow
from elastic.adaptive.shape import Shape
from elastic.errors import BudgetError, DataError

World = Callable[[str, int], tuple[pl.DataFrame, dict[str, str]]]
FIXED, FREE = Shape("s=8"), Shape("free")


def predictors() -> list[Predictor]:
    lengths = np.arange(40) % 4 + 1
    questions = tuple(" ".join(["add"] * length) for length in lengths)
    return [
        Agreement(Probing((8,), 8, paths=2)),
        LogLinearLaw(Probing((8, 16), 8)),
        QuestionFeatures(questions, 1 - lengths / 4, np.full(40, 4)),
    ]


def sets(world: World) -> tuple[Outcomes, Outcomes, dict[str, str]]:
    (known, asked), (judged, more) = world("v", 10), world("t", 10)
    budgets = common_budgets([known, judged])
    return read_outcomes(known, budgets), read_outcomes(judged, budgets), asked | more


def compared(world: World, allowances: list[float], cost: Cost = Cost.ALLOWED) -> Comparison:
    validation, test, questions = sets(world)
    return compare(
        validation,
        test,
        questions,
        predictors(),
        shapes=[FIXED, FREE],
        allowances=allowances,
        cost=cost,
        confidence=0.95,
        resamples=500,
        seed=0,
    )


def row(found: Comparison, policy: str, allowance: float, shape: Shape = FIXED) -> PolicyRow:
    [kept] = [r for r in found.rows if (r.policy, r.allowance, r.shape) == (policy, allowance, shape.text)]
    return kept


def test_difficulty_seen_in_the_question_solves_all_where_the_same_budget_solves_half(world: World) -> None:
    # Problems of 1 to 4 words need 8, 16, 24 or 32 tokens of thinking: 20 on average, and 8 for the solution.
    found = compared(world, [28.0])
    features, oracle = row(found, "features", 28), row(found, "oracle", 28)
    assert features.accuracy == oracle.accuracy == 1
    assert features.allowed == 28
    assert features.gap == 0
    # Half of the problems at t = 16, which solves half of them, half at t = 24, which solves three quarters.
    uniform = row(found, "uniform", 28)
    assert uniform.accuracy == pytest.approx(0.5 * 0.5 + 0.5 * 0.75)
    assert uniform.allowed == 28
    assert uniform.over_uniform is None
    assert features.over_uniform is not None
    assert features.over_uniform.difference == pytest.approx(0.375)
    assert 0.2 < features.over_uniform.low < 0.375 < features.over_uniform.high < 0.55


def test_probes_are_paid_before_budgets_are_chosen(world: World) -> None:
    # Two paths at 8+8 cost 8 + 2 x 8 = 24 beyond the answer; 28 tokens leave 4, and 52 leave 28.
    found = compared(world, [28.0, 52.0])
    assert not [r for r in found.rows if r.policy == "agreement" and r.allowance == 28]
    agreement = row(found, "agreement", 52)
    assert agreement.probes == 24
    # The 10 problems that agree stay at 8+8. The 30 others look alike, and 960 tokens are left for them: for 24+8 each,
    # which solves two thirds, or for 32+8 for two thirds of them, which solves those.
    assert agreement.allowed == 52
    assert agreement.accuracy == pytest.approx(0.75)
    [summary] = [s for s in found.summaries if s.policy == "agreement" and s.shape == FIXED.text]
    assert summary.paid == [52]
    assert summary.unpriced is not None
    assert summary.unpriced.difference > 0
    [features] = [s for s in found.summaries if s.policy == "features" and s.shape == FIXED.text]
    assert features.paid == [28, 52]
    assert features.unpriced is None


def test_skill_orders_the_predictors(world: World) -> None:
    found = compared(world, [52.0])
    skill = {s.policy: s.skill for s in found.summaries if s.shape == FIXED.text}
    assert skill["oracle"] == skill["features"] == 1
    assert 0 < skill["agreement"] < 1
    # 2 controls, 2 shapes and 3 predictors share an error of 5 %.
    assert {s.confidence for s in found.summaries} == {1 - (1 - 0.95) / 12}


def test_controls_spend_what_a_policy_really_used(world: World) -> None:
    found = compared(world, [22.0], Cost.USED)
    features, uniform = row(found, "features", 22), row(found, "uniform", 22)
    # t = 16 uses 20 tokens on average and solves half, t = 24 uses 24 and solves three quarters.
    assert uniform.used == pytest.approx(22)
    assert uniform.accuracy == pytest.approx(0.5 + 0.25 * 2 / 4)
    # k words use 8k + 6: all of up to 3 words and 3 of the 10 of 4 words can be solved.
    assert features.accuracy == pytest.approx(33 / 40)
    assert features.used == pytest.approx(10 * (14 + 22 + 30) / 40 + (3 * 38 + 7 * 14) / 40)
    assert features.over_uniform is not None
    assert features.over_uniform.difference == pytest.approx(33 / 40 - (0.5 + 0.25 * 1.8 / 4))


def test_equal_arguments_give_equal_results(world: World) -> None:
    assert compared(world, [28.0, 52.0]) == compared(world, [28.0, 52.0])


def test_golds_of_the_evaluated_problems_change_no_choice(world: World) -> None:
    validation, test, questions = sets(world)
    draw = np.random.default_rng(0)
    scrambled = Outcomes(
        test.problem_ids,
        test.budgets,
        draw.permuted(test.correct, axis=0),
        test.think,
        test.solution,
        test.answers,
    )
    assert scrambled.curves().accuracy.tolist() != test.curves().accuracy.tolist()
    for predictor in predictors():
        forecast = predictor.fit(learnt_from(observe(validation, questions, predictor.probing), validation.budgets))
        plans = []
        for outcomes in (test, scrambled):
            for view in observe(outcomes, questions, predictor.probing):
                found = plan(
                    forecast(view.asked),
                    view.asked,
                    test.budgets,
                    probing=predictor.probing,
                    shape=FREE,
                    cost=Cost.ALLOWED,
                    allowance=52,
                )
                assert len(set(found.budgets.values())) > 1
                plans.append(found.budgets)
        half = len(plans) // 2
        assert plans[:half] == plans[half:]


def test_what_is_asked_holds_no_outcome() -> None:
    assert [field.name for field in fields(Asked)] == ["problem_ids", "questions", "probes", "probe_used"]


def test_learning_from_evaluated_problems_is_refused(world: World) -> None:
    validation, _, questions = sets(world)
    arguments = {"shapes": [FREE], "allowances": [28.0], "cost": Cost.ALLOWED}
    intervals = {"confidence": 0.95, "resamples": 100, "seed": 0}
    with pytest.raises(DataError, match="stand in validation and evaluation"):
        compare(validation, validation, questions, [], **arguments, **intervals)  # type: ignore[arg-type]


def test_an_allowance_that_pays_no_budget_is_refused(world: World) -> None:
    with pytest.raises(BudgetError, match="below the cheapest"):
        compared(world, [10.0])


def test_a_plan_thinks_at_least_as_long_as_its_probes(world: World) -> None:
    validation, test, questions = sets(world)
    law = LogLinearLaw(Probing((8, 16), 8))
    forecast = law.fit(learnt_from(observe(validation, questions, law.probing), validation.budgets))
    view = observe(test, questions, law.probing)[0]
    wanted = {"shape": FREE, "cost": Cost.ALLOWED, "allowance": 44}
    found = plan(forecast(view.asked), view.asked, test.budgets, probing=law.probing, **wanted)  # type: ignore[arg-type]
    assert min(budget.think for budget in found.budgets.values()) == 16
