"""What was spent adds up by prompt: tokens over jobs, seconds over calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from elastic.budget import Budget
from elastic.engines.meter import Meter
from elastic.engines.protocol import Drawn, Engine, Job, Sampling, Spent
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.trace import Trace

WARM = Sampling(temperature=1)


class Known(Engine):
    """Spends what the seeds of its jobs say."""

    context = None

    def __init__(self, markers: Markers) -> None:
        self.markers = markers

    def draw(self, jobs: Sequence[Job], sampling: Sampling, **_: Any) -> list[Drawn]:
        trace = Trace((1,), (), (), "never", "budget")
        return [Drawn(trace, (), Spent(job.seed, 10 * job.seed, job.seed / 4)) for job in jobs]


def test_tokens_add_up_over_jobs_and_seconds_over_calls(tiny_markers: Markers) -> None:
    meter = Meter(Known(tiny_markers))
    one, two = (1, 2), (3,)
    meter.draw([Job.plain(one, 4, 2), Job.plain(two, 4, 1), Job.plain(one, 4, 5)], WARM)
    meter.generate([Job.plain(one, 4, 4)], WARM)
    assert meter.take() == {one: Spent(11, 110, 5 / 4 + 4 / 4), two: Spent(1, 10, 1 / 4)}
    assert meter.take() == {}
    meter.draw([Job.plain(two, 4, 3)], WARM)
    assert meter.take() == {two: Spent(3, 30, 3 / 4)}


def test_an_engine_is_passed_on_as_it_is(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Callable[..., list[tuple[int, ...]]]
) -> None:
    engine = TransformersEngine(tiny_model(close=2, eos=2), tiny_markers)
    jobs = [Job.separate(prompt, Budget(5, 4), seed) for prompt in tiny_prompts(4) for seed in range(3)]
    meter, told = Meter(engine), []
    assert (meter.context, meter.markers) == (engine.context, engine.markers)
    traces = meter.generate(jobs, WARM, progress=lambda *counts: told.append(counts))
    assert traces == engine.generate(jobs, WARM)
    spent = meter.take()
    assert sum(one.sampled for one in spent.values()) == sum(trace.n_sampled for trace in traces) == told[0][1]
    assert {prompt: one.prefilled for prompt, one in spent.items()} == {
        prompt: 3 * len(prompt) for prompt in {job.prompt_ids for job in jobs}
    }
    assert min(one.seconds for one in spent.values()) > 0


@pytest.mark.parametrize("keeps", [True, False])
def test_an_interrupted_call_counts_nothing(
    keeps: bool,
    tiny_model: Any,
    tiny_markers: Markers,
    tiny_prompts: Callable[..., list[tuple[int, ...]]],
) -> None:
    meter, jobs = Meter(TransformersEngine(tiny_model(), tiny_markers)), [Job.plain(tiny_prompts(1)[0], 2, 0)]
    if keeps:
        meter.draw(jobs, WARM)

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        meter.draw(jobs, WARM, progress=interrupt)
    assert len(meter.take()) == keeps
