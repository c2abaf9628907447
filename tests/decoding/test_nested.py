"""Nested sampling gives, id by id, what sampling every budget from its start gives, for fewer tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from elastic.budget import Budget
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt, Sampled
from elastic.decoding.separate import separate
from elastic.decoding.truncate import truncate
from elastic.engines.protocol import Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import BudgetError
from elastic.markers import Markers

Prompts = Callable[..., list[tuple[int, ...]]]
BUDGETS = [Budget(think, solution) for think in (0, 1, 3, 6, 12) for solution in (2, 5)]
LIMIT = 24
WARM = Plan(Sampling(temperature=1.0), samples=3, seed=11)


class Counter:
    """Adds up what a strategy says that it sampled."""

    def __init__(self) -> None:
        self.tokens = 0

    def __call__(self, jobs: int, tokens: int) -> None:
        self.tokens += tokens


def named(ids: Sequence[tuple[int, ...]]) -> list[Prompt]:
    return [Prompt(f"p{number}", prompt) for number, prompt in enumerate(ids)]


def by_key(rows: Sequence[Sampled]) -> dict[tuple[Any, ...], Sampled]:
    # Other batches round the last digits of a log-probability differently.
    rounded = [row if row.logprob is None else replace(row, logprob=round(row.logprob, 9)) for row in rows]
    keyed = {(row.problem_id, row.sample, row.method, row.budget): row for row in rounded}
    assert len(keyed) == len(rows)
    return keyed


def independent(engine: TransformersEngine, prompts: list[Prompt], plan: Plan, counter: Counter) -> list[Sampled]:
    rows = separate(engine, prompts, BUDGETS, plan, progress=counter)
    return rows + truncate(engine, prompts, BUDGETS, LIMIT, plan, progress=counter)


@pytest.mark.parametrize("opened", [True, False], ids=["prompt opens the block", "model opens the block"])
@pytest.mark.parametrize("faithful", [False, True], ids=["eos ends the trace", "faithful"])
@pytest.mark.parametrize("temperature", [0.0, 1.0], ids=["greedy", "sampled"])
def test_nested_equals_independent_on_shared_streams(
    temperature: float, faithful: bool, opened: bool, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=4, eos=3, pad=2, open=4), tiny_markers, batch_size=64)
    prompts = named(tiny_prompts(16, opened=opened))
    plan = replace(WARM, sampling=Sampling(temperature), faithful=faithful)
    once, again = Counter(), Counter()
    rows = nested(engine, prompts, BUDGETS, LIMIT, plan, progress=once)
    assert by_key(rows) == by_key(independent(engine, prompts, plan, again))
    assert once.tokens < again.tokens / 3
    separated = [row.trace for row in rows if row.method == "separate"]
    assert {trace.closed for trace in separated} == {"natural", "forced", "eos"}
    assert any(trace.closed == "eos" and trace.solution_ids for trace in separated) == faithful
    assert any(trace.opening for trace in separated) == (not opened)
    plain = [row.trace for row in rows if row.method != "separate"]
    assert {trace.closed for trace in plain} == {"natural", "never", "eos"}
    assert not any(trace.closed == "eos" and trace.solution_ids for trace in plain)


def test_shared_tokens_count_once(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    # Thinking never ends by itself, and no solution does: 24 thinking tokens, and 5 for each of 5 forced budgets.
    engine = TransformersEngine(tiny_model(close=-50, eos=-50), tiny_markers)
    counter = Counter()
    rows = nested(engine, named(tiny_prompts(2)), BUDGETS, LIMIT, WARM, progress=counter)
    assert counter.tokens == 2 * 3 * (24 + 5 * 5)
    assert len(rows) == 2 * 3 * (10 + 10 + 1)
    # Thinking ends at once: its delimiter, 5 forced tokens for t = 0, and one solution of 24 for all the others.
    engine = TransformersEngine(tiny_model(close=80, eos=-50), tiny_markers)
    counter = Counter()
    nested(engine, named(tiny_prompts(2)), BUDGETS, LIMIT, WARM, progress=counter)
    assert counter.tokens == 2 * 3 * (1 + 5 + 24)


def test_budgets_that_contain_the_natural_end_share_their_solution(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=4, eos=1), tiny_markers)
    rows = by_key(nested(engine, named(tiny_prompts(8)), BUDGETS, LIMIT, WARM))
    shared = 0
    for (problem, sample, method, _), row in rows.items():
        if method == "unconstrained" and row.trace.closed == "natural" and row.trace.n_think < 12:
            shared += 1
            inside = rows[problem, sample, "separate", Budget(12, 5)].trace
            assert inside.think_ids == row.trace.think_ids
            assert inside.solution_ids == row.trace.solution_ids[:5]
    assert shared > 5


def test_independent_budgets_have_streams_of_their_own(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=-50, eos=-50), tiny_markers)
    [prompt] = named(tiny_prompts(1))
    pair = [Budget(8, 1), Budget(8, 2)]
    for paired in (True, False):
        first, second = separate(engine, [prompt], pair, replace(WARM, samples=1, paired=paired))
        assert (first.trace.think_ids == second.trace.think_ids) == paired


def test_streams_do_not_depend_on_the_problems_beside(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=2), tiny_markers)
    prompts = named(tiny_prompts(6))
    whole = by_key(nested(engine, prompts, BUDGETS, LIMIT, WARM))
    part = by_key(nested(engine, prompts[3:5], BUDGETS, LIMIT, WARM))
    assert part == {key: row for key, row in whole.items() if key[0] in ("p3", "p4")}


def test_what_cannot_fit_is_refused_before_any_work(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model, steps = tiny_model(), []
    model.register_forward_hook(lambda *_: steps.append(1))
    engine, prompts = TransformersEngine(model, tiny_markers), named(tiny_prompts(2))
    with pytest.raises(BudgetError, match=r"6\+20 .*over the limit 24"):
        nested(engine, prompts, [Budget(6, 20)], LIMIT, WARM)
    # The limit alone would fit, thinking alone would fit; a forced solution after the longest thinking does not.
    with pytest.raises(BudgetError, match="the model's context holds 128"):
        nested(engine, prompts, [Budget(100, 2), Budget(2, 24)], 120, WARM)
    assert not steps
