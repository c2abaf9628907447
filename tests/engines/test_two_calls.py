"""Two calls give, id by id, the traces of the engine that keeps both budgets in one loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from naive_decoding import Naive

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.engines.two_calls import Call, TwoCalls
from elastic.markers import Markers
from elastic.seeding import uniforms
from elastic.trace import Trace

Prompts = Callable[..., list[tuple[int, ...]]]
MARKERS = Markers(open_id=1, close_id=2, eos_ids=frozenset({3, 4}), pad_id=0)
OPENED, UNOPENED = (9, 1), (9, 9)


def decoded(job: Job, naive: Naive) -> Trace:
    """A trace by plain decoding of each call."""
    calls = TwoCalls(job, naive.markers)
    while calls.call:
        ids: list[int] = []
        for uniform in uniforms(calls.call.seed, calls.call.first + calls.call.limit)[calls.call.first :]:
            ids.append(naive.next_token([*calls.call.ids, *ids], uniform))
            if ids[-1] in calls.call.ends:
                break
        calls.take(ids)
    return calls.trace()


@pytest.mark.parametrize("opened", [True, False], ids=["prompt opens the block", "model opens the block"])
@pytest.mark.parametrize("temperature", [0, 1], ids=["greedy", "sampled"])
def test_traces_are_those_of_one_loop(
    temperature: float, opened: bool, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    rng = random.Random(1)
    jobs = []
    for seed, prompt in enumerate(tiny_prompts(24, opened=opened)):
        think, solution = rng.randint(0, 7), rng.randint(1, 5)
        opening = int(not opened and rng.random() < 0.5)
        given = (*[tiny_markers.open_id] * opening, *(rng.randint(8, 20) for _ in range(think)))
        jobs += [
            Job.separate(prompt, Budget(think, solution), seed),
            Job.separate(prompt, Budget(think, solution), seed, after_eos=True),
            Job.think_only(prompt, think + 1, seed),
            Job.plain(prompt, think + solution, seed),
            Job("plain", prompt, seed, total=think + solution, after_eos=True),
            Job.solve(prompt, given, solution, seed, closed="forced", opening=opening),
        ]
    model, sampling = tiny_model(close=5, eos=3, pad=4, open=5), Sampling(temperature=temperature)
    naive = Naive(model, tiny_markers, sampling)
    traces = TransformersEngine(model, tiny_markers, batch_size=len(jobs)).generate(jobs, sampling)
    assert [decoded(job, naive) for job in jobs] == traces
    assert {trace.closed for trace in traces} == {"natural", "forced", "eos", "never"}


def first(job: Job, ids: Sequence[int]) -> tuple[TwoCalls, int]:
    calls = TwoCalls(job, MARKERS)
    return calls, calls.take(ids)


@pytest.mark.parametrize(
    ("prompt", "think", "ids", "kept", "closed", "opening"),
    [
        (OPENED, 3, [7, 7, 2], 3, "natural", 0),
        (OPENED, 3, [7, 7, 7], 3, "forced", 0),
        (OPENED, 3, [7, 7, 4], 3, "eos", 0),
        (OPENED, 3, [2], 1, "natural", 0),
        # An opening delimiter is free; where it does not come, the room that was left for it is cut off.
        (UNOPENED, 2, [1, 7, 7], 3, "forced", 1),
        (UNOPENED, 2, [1, 7, 2], 3, "natural", 1),
        (UNOPENED, 2, [7, 7, 7], 2, "forced", 0),
        (UNOPENED, 2, [7, 7, 2], 2, "forced", 0),
        (UNOPENED, 2, [7, 7, 3], 2, "forced", 0),
        (UNOPENED, 2, [7, 3], 2, "eos", 0),
        (UNOPENED, 0, [1], 1, "forced", 1),
        (UNOPENED, 0, [2], 0, "forced", 0),
    ],
)
def test_how_thinking_ended_is_read_off_the_ids(
    prompt: tuple[int, ...], think: int, ids: list[int], kept: int, closed: str, opening: int
) -> None:
    calls, n_kept = first(Job.separate(prompt, Budget(think, 2), 0), ids)
    assert n_kept == kept
    if closed == "eos":
        assert calls.call is None
    else:
        thinking = tuple(ids[: kept - (closed == "natural")])
        assert calls.call
        assert (calls.call.ids, calls.call.limit) == ((*prompt, *thinking, MARKERS.close_id), 2)
        assert calls.call.ends == MARKERS.eos_ids
        assert calls.take([7, 3]) == 2
        assert calls.call is None
    trace = calls.trace()
    assert (trace.closed, trace.opening, trace.finish) == (closed, opening, "eos")
    trace.check(Budget(think, 2))


def test_calls_end_where_the_phase_ends_and_draw_from_streams_of_their_own() -> None:
    calls, _ = first(Job.plain(OPENED, 6, 0), [7, 7, 2])
    assert calls.call
    assert calls.call.limit == 4
    start = TwoCalls(Job.plain(OPENED, 6, 0), MARKERS).call
    assert isinstance(start, Call)
    assert start.ends == {2, 3, 4}
    assert start.limit == 6
    assert start.seed != calls.call.seed
    # A solution from given thinking draws what the solution after sampled thinking draws.
    assert calls.call.seed == TwoCalls(Job.solve(OPENED, (7, 7), 1, 0, closed="natural"), MARKERS).call.seed  # type: ignore[union-attr]


def test_no_thinking_costs_no_call() -> None:
    calls = TwoCalls(Job.separate(OPENED, Budget(0, 3), 0), MARKERS)
    assert calls.call
    assert calls.call.ids == (*OPENED, MARKERS.close_id)
    calls.take([8, 8, 8])
    assert calls.trace() == Trace(OPENED, (), (8, 8, 8), "forced", "budget")
