"""Nested and independent sampling agree in distribution, by two one-sided tests; and nested sampling is cheaper.

That they agree id by id on shared streams, greedy ids among them, is in test_nested.py. Here the independent traces
have streams of their own. The grid has the shape of {0.5, 1, 2, 3, 4}K + 1K, divided by 128.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from elastic.budget import Budget
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.decoding.separate import separate
from elastic.engines.protocol import Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers

Prompts = Callable[..., list[tuple[int, ...]]]
BUDGETS = [Budget(think, 8) for think in (4, 8, 16, 24, 32)]
LIMIT = 40
SAMPLES = 8
Z = 1.645  # each of the two one-sided tests at 5 %


def table(rows: Sequence[Sampled], statistic: Callable[[Sampled], float]) -> np.ndarray:
    """The statistic of every trace, (problems, samples, budgets)."""
    return np.array([statistic(row) for row in rows]).reshape(-1, SAMPLES, len(BUDGETS))


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean of (problems, samples), and its standard error for these problems: of samples within problems."""
    return values.mean(), np.sqrt((values.var(axis=1, ddof=1) / SAMPLES).mean() / len(values))


def bound(first: np.ndarray, second: np.ndarray) -> float:
    """How far apart the means are at most, by the far end of the 90 % interval of their difference."""
    (one, one_error), (other, other_error) = mean_and_error(first), mean_and_error(second)
    return abs(one - other) + Z * float(np.hypot(one_error, other_error))


def answered_right(row: Sampled) -> float:
    """Stands for accuracy: a property of the solution's ids that most solutions have; no solution is wrong."""
    return float(sum(row.trace.solution_ids) % 8 > 0)


def length(row: Sampled) -> float:
    return row.trace.n_think + row.trace.n_solution


@pytest.mark.parametrize(
    ("problems", "alone"),
    [
        pytest.param(250, False, id="2,000 traces a budget, all budgets together"),
        pytest.param(2000, True, id="16,000 traces a budget, each by itself", marks=pytest.mark.nightly),
    ],
)
def test_accuracy_within_3_points_and_length_within_3_percent(
    problems: int, alone: bool, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(spread=8.0, close=5, eos=1.5), tiny_markers, batch_size=2000)
    prompts = [Prompt(f"p{number}", ids) for number, ids in enumerate(tiny_prompts(problems))]
    plan = Plan(Sampling(temperature=0.3), SAMPLES, seed=7, paired=False)
    once = [row for row in nested(engine, prompts, BUDGETS, LIMIT, plan) if row.method == "separate"]
    again = separate(engine, prompts, BUDGETS, plan)
    assert len(once) == len(again) == problems * SAMPLES * len(BUDGETS)
    accuracy = [table(rows, answered_right) for rows in (once, again)]
    lengths = [table(rows, length) for rows in (once, again)]
    for budget in range(len(BUDGETS)) if alone else [slice(None)]:
        first, second = (np.atleast_3d(values[..., budget]).mean(axis=-1) for values in accuracy)
        assert 0.3 < first.mean() < 0.8
        assert bound(first, second) < 0.03
        first, second = (np.atleast_3d(values[..., budget]).mean(axis=-1) for values in lengths)
        assert bound(first, second) < 0.03 * second.mean()
    ends = [row.trace.closed for row in once]
    assert min(ends.count("natural"), ends.count("forced"), ends.count("eos")) > len(ends) / 10


def test_nested_samples_1_8_times_fewer_tokens_than_separate_budgets_alone(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    # Nested sampling gives truncation and the unconstrained mode with it, which the others have not sampled yet.
    engine = TransformersEngine(tiny_model(spread=8.0, close=5, eos=1.5), tiny_markers, batch_size=2000)
    prompts = [Prompt(f"p{number}", ids) for number, ids in enumerate(tiny_prompts(100))]
    plan = Plan(Sampling(temperature=0.3), SAMPLES, seed=7, paired=False)
    sampled = {"nested": 0, "separate": 0}

    def count(name: str) -> Callable[[int, int], None]:
        def add(jobs: int, tokens: int) -> None:
            sampled[name] += tokens

        return add

    nested(engine, prompts, BUDGETS, LIMIT, plan, progress=count("nested"))
    separate(engine, prompts, BUDGETS, plan, progress=count("separate"))
    assert sampled["separate"] > 1.8 * sampled["nested"]
