"""vLLM goes on from given thinking as if it had never stopped, reads cues, and reads a shared prefix once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from greedy_ties import assert_greedy_equal

from elastic.engines.meter import Meter
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers

Prompts = Callable[..., list[tuple[int, ...]]]
GREEDY, WARM = Sampling(temperature=0), Sampling(temperature=1)


@pytest.mark.parametrize("opened", [True, False], ids=["prompt opens the block", "model opens the block"])
@pytest.mark.parametrize("sampling", [GREEDY, WARM, Sampling(0.6, top_k=9)], ids=["greedy", "sampled", "cut support"])
def test_going_on_equals_never_having_stopped(
    sampling: Sampling, opened: bool, vllm_engine: Any, tiny_prompts: Prompts
) -> None:
    limit, prompts = 9, tiny_prompts(24, opened=opened)
    straight = vllm_engine.draw([Job.think_only(prompt, limit, seed) for seed, prompt in enumerate(prompts)], sampling)
    cuts = [
        (whole, cut, Job.think_on(whole.trace.prompt_ids, thinking[:cut], limit, seed, opening=whole.trace.opening))
        for seed, whole in enumerate(straight)
        for thinking in [whole.trace.think_ids]
        for cut in range(1, len(thinking) + (whole.trace.closed != "eos"))
    ]
    told: list[tuple[int, int]] = []
    drawn = vllm_engine.draw([job for *_, job in cuts], sampling, progress=lambda *counts: told.append(counts))
    for (whole, cut, _), on in zip(cuts, drawn, strict=True):
        assert on.trace == whole.trace
        assert on.logprobs == pytest.approx(whole.logprobs[cut:], abs=1e-4)
    assert len({whole.trace.closed for whole in straight}) == 3
    assert any(whole.trace.opening for whole, *_ in cuts) == (not opened)
    assert any(job.finished for *_, job in cuts)
    sampled = sum(one.spent.sampled for one in drawn)
    assert [sum(column) for column in zip(*told, strict=True)] == [len(cuts), sampled]


def test_cues_are_read_as_the_transformers_engine_reads_them(
    vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs = [
        Job.solve(prompt, (9, 10, 11), 5, seed, closed="forced", cue=(12, 13)[: seed % 3])
        for seed, prompt in enumerate(tiny_prompts(12))
    ]
    ours = vllm_engine.generate(jobs, GREEDY)
    theirs = TransformersEngine(checkpoint_model, tiny_markers).generate(jobs, GREEDY)
    assert_greedy_equal(checkpoint_model, ours, theirs, tiny_markers)
    assert [trace.cue_ids for trace in ours] == [job.cue for job in jobs]


def test_the_logprobs_of_a_cut_support_are_those_of_the_transformers_engine(
    vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    """Each drew other tokens, so that the first ones are compared where both drew the same."""
    sampling = Sampling(0.8, top_k=3)
    jobs = [Job.think_only(prompt, 1, seed) for seed, prompt in enumerate(tiny_prompts(4) * 10)]
    theirs = TransformersEngine(checkpoint_model, tiny_markers).draw(jobs, sampling)
    same = [
        (one.logprobs[0], other.logprobs[0])
        for one, other in zip(vllm_engine.draw(jobs, sampling), theirs, strict=True)
        if one.trace == other.trace
    ]
    assert len(same) > 8
    for one, other in same:
        assert one == pytest.approx(other, abs=1e-4)


def test_a_shared_prefix_is_read_once(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    depths, draws, prompts = 16, 4, tiny_prompts(5)[:3]
    thinking = tuple(8 + index % 12 for index in range(80))
    jobs = [
        Job.solve(prompt, thinking[: len(thinking) * depth // depths], 3, draw, closed="forced")
        for prompt in prompts
        for depth in range(1, depths + 1)
        for draw in range(draws)
    ]
    meter = Meter(vllm_engine)
    drawn = meter.draw(jobs, WARM)
    fed = Counter()
    for job in jobs:
        fed[job.prompt_ids] += job.given + 1
    # The cache holds whole blocks of 32: what is behind the last one is read for each job.
    spent = meter.take()
    assert sum(fed.values()) > 2 * sum(one.prefilled for one in spent.values())
    assert all(one.spent.prefilled > 0 and one.spent.sampled == one.trace.n_solution for one in drawn)
    assert spent.keys() == fed.keys()
    assert all(one.seconds > 0 for one in spent.values())
