"""What the transformers engine says of the tokens that it drew: their log-probabilities and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from elastic.budget import Budget
from elastic.engines.protocol import Drawn, Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers

Prompts = Callable[..., list[tuple[int, ...]]]


def jobs_of_every_kind(prompts: list[tuple[int, ...]]) -> list[Job]:
    return [
        job
        for seed, prompt in enumerate(prompts)
        for job in (
            Job.separate(prompt, Budget(5, 4), seed),
            Job.separate(prompt, Budget(3, 4), seed, after_eos=True),
            Job.think_only(prompt, 6, seed),
            Job.plain(prompt, 9, seed),
            Job.solve(prompt, (9, 10), 4, seed, closed="forced", cue=(11, 12)),
            Job.think_on(prompt, (9, 10), 7, seed),
        )
    ]


def plain_logprobs(model: Any, job: Job, drawn: Drawn, close_id: int, sampling: Sampling) -> list[float]:
    """One forward pass over the whole sequence, and of it the places of what was drawn."""
    trace = drawn.trace
    completion = trace.completion_ids(close_id)
    ids, start = [*trace.prompt_ids, *completion], len(trace.prompt_ids)
    with torch.inference_mode():
        logits = model(torch.tensor([ids])).logits[0] / (sampling.temperature or 1)
    if sampling.top_k:
        logits = logits.masked_fill(logits < logits.topk(sampling.top_k).values[:, -1:], -torch.inf)
    rows = logits.log_softmax(-1)
    kept = []
    for place, token in enumerate(completion):
        delimiter = place == len(trace.think_ids)
        inserted = delimiter and trace.closed != "natural"
        cue = len(trace.think_ids) < place <= len(trace.think_ids) + len(trace.cue_ids)
        if place >= len(job.thinking) and not inserted and not cue and (job.kind != "solve" or not delimiter):
            kept.append(rows[start + place - 1, token].item())
    return kept


@pytest.mark.parametrize(
    "sampling",
    [Sampling(0), Sampling(1), Sampling(0.6), Sampling(0.8, top_k=4)],
    ids=["greedy", "1", "0.6", "cut support"],
)
def test_logprobs_are_those_of_a_plain_forward_pass(
    sampling: Sampling, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model = tiny_model(close=4, eos=3)
    jobs = jobs_of_every_kind(tiny_prompts(12))
    engine = TransformersEngine(model, tiny_markers, batch_size=30)
    drawn = engine.draw(jobs, sampling)
    for job, one in zip(jobs, drawn, strict=True):
        expected = plain_logprobs(model, job, one, tiny_markers.close_id, sampling)
        assert one.logprobs == pytest.approx(expected, abs=1e-6)
        assert len(one.logprobs) == job.drawn(one.trace) == one.spent.sampled
    assert {one.trace.closed for one in drawn} == {"natural", "forced", "eos", "never"}
    assert any(one.trace.closed == "eos" and one.trace.solution_ids for one in drawn)
    assert engine.generate(jobs, sampling) == [one.trace for one in drawn]


def test_the_chosen_tokens_probability_is_within_what_was_left_of_the_support(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(), tiny_markers)
    jobs = [Job.think_only(prompt, 6, seed) for seed, prompt in enumerate(tiny_prompts(6))]
    sure = [value for one in engine.draw(jobs, Sampling(1, top_p=1e-6)) for value in one.logprobs]
    assert sure == [0.0] * len(sure)
    assert len(sure) > 6


def test_costs_are_told_job_by_job(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    engine = TransformersEngine(tiny_model(close=-50, eos=-50), tiny_markers, batch_size=2)
    short, long = tiny_prompts(2)
    jobs = [
        Job.separate(short, Budget(3, 1), 0),
        Job.separate(long, Budget(2, 1), 0),
        Job.separate(long, Budget(0, 9), 0),
        Job.solve(short, (9,), 5, 0, closed="forced"),
    ]
    first, second, third, fourth = (one.spent for one in engine.draw(jobs, Sampling(1)))
    assert (first.sampled, second.sampled, third.sampled, fourth.sampled) == (4, 3, 9, 5)
    # Where no thinking is left the delimiter goes in with the prompt.
    assert (first.prefilled, second.prefilled, third.prefilled) == (len(short), len(long), len(long) + 1)
    assert fourth.prefilled == len(short) + 2
    assert 0 < second.seconds < first.seconds
