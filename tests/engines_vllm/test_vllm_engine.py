"""The vLLM engine against the counting rule, the transformers engine and the model's own probabilities."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from greedy_ties import assert_greedy_equal, ids_of
from scipy.stats import chisquare

from elastic.budget import Budget
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt
from elastic.decoding.separate import separate
from elastic.engines.protocol import Job, Sampling
from elastic.engines.sampling import draw
from elastic.engines.transformers import TransformersEngine
from elastic.errors import BudgetError, DataError, ParamsError
from elastic.markers import Markers
from elastic.models.tiny import build_model

Prompts = Callable[..., list[tuple[int, ...]]]
GREEDY, WARM = Sampling(temperature=0), Sampling(temperature=1)


def mixed_jobs(count: int, prompts: Prompts, markers: Markers) -> list[Job]:
    """Jobs of every kind with budgets of their own; half of the prompts leave the opening delimiter to the model."""
    rng = random.Random(2)
    jobs = []
    for seed in range(count):
        opened = rng.random() < 0.5
        prompt = rng.choice(prompts(24, opened=opened))
        think, solution = rng.randint(0, 12), rng.randint(1, 8)
        opening = int(not opened and rng.random() < 0.5)
        given = (*[markers.open_id] * opening, *(rng.randint(8, 20) for _ in range(think)))
        kinds = [
            Job.separate(prompt, Budget(think, solution), seed),
            Job.separate(prompt, Budget(think, solution), seed, after_eos=True),
            Job.think_only(prompt, think + 1, seed),
            Job.plain(prompt, think + solution, seed),
            Job.solve(prompt, given, solution, seed, closed="forced", opening=opening),
        ]
        jobs.append(kinds[seed % len(kinds)])
    return jobs


def test_greedy_ids_are_those_of_the_transformers_engine(
    vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs = mixed_jobs(32, tiny_prompts, tiny_markers)
    theirs = TransformersEngine(checkpoint_model, tiny_markers).generate(jobs, GREEDY)
    assert_greedy_equal(checkpoint_model, vllm_engine.generate(jobs, GREEDY), theirs, tiny_markers)
    assert {trace.closed for trace in theirs} == {"natural", "forced", "eos", "never"}
    assert any(trace.opening for trace in theirs)
    assert {trace.finish for trace in theirs} == {"eos", "budget"}


def test_no_trace_exceeds_its_budgets(vllm_engine: Any, tiny_prompts: Prompts, tiny_markers: Markers) -> None:
    jobs = mixed_jobs(200, tiny_prompts, tiny_markers)
    drawn = vllm_engine.draw(jobs, WARM)
    for job, (trace, logprobs) in zip(jobs, ((d.trace, d.logprobs) for d in drawn), strict=True):
        assert trace.prompt_ids == job.prompt_ids
        assert len(logprobs) == job.drawn(trace)
        assert tiny_markers.close_id not in trace.think_ids
        assert not tiny_markers.eos_ids & {*trace.think_ids[:-1], *trace.solution_ids[:-1]}
        if job.kind == "plain":
            assert trace.n_think + trace.n_solution <= job.total
        if job.kind in ("separate", "think_only"):
            assert trace.n_think <= job.think
        if job.kind in ("separate", "solve"):
            assert trace.n_solution <= job.solution
        if job.kind == "separate":
            assert (trace.closed == "forced") == (trace.n_think == job.think and trace.closed != "eos")
            assert len(trace.completion_ids(tiny_markers.close_id)) <= trace.opening + job.think + 1 + job.solution
            assert (trace.closed == "eos" and not job.after_eos) == (trace.n_solution == 0)
    seen = Counter((job.kind, drawn.trace.closed) for job, drawn in zip(jobs, drawn, strict=True))
    assert min(seen["separate", closed] for closed in ("natural", "forced", "eos")) > 4
    assert {closed for kind, closed in seen if kind == "plain"} == {"natural", "never", "eos"}


def test_budgets_around_the_natural_end(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    prompt = tiny_prompts(1)[0]
    traces = vllm_engine.generate([Job.plain(prompt, 40, seed) for seed in range(60)], WARM)
    seed, whole = next((s, t) for s, t in enumerate(traces) if t.closed == "natural" and t.n_think > 3)
    end = whole.n_think
    jobs = [Job.separate(prompt, Budget(think, 4), seed) for think in (0, 1, end - 1, end, end + 1)]
    traces = vllm_engine.generate(jobs, WARM)
    assert [trace.closed for trace in traces] == ["forced"] * 4 + ["natural"]
    assert [trace.n_think for trace in traces] == [0, 1, end - 1, end, end]
    assert all(trace.think_ids == whole.think_ids[: trace.n_think] for trace in traces)
    # The forced delimiter stands where the natural one would have: what follows is the same.
    assert traces[3].solution_ids == traces[4].solution_ids == whole.solution_ids[:4]


def test_eos_inside_thinking_ends_the_trace_unless_it_is_told_to_go_on(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    prompt = tiny_prompts(1)[0]
    jobs = [Job.separate(prompt, Budget(20, 3), seed) for seed in range(40)]
    ended = [seed for seed, trace in enumerate(vllm_engine.generate(jobs, WARM)) if trace.closed == "eos"]
    assert len(ended) > 4
    for seed in ended:
        job = Job.separate(prompt, Budget(20, 3), seed, after_eos=True)
        stopped, went_on = vllm_engine.generate([jobs[seed], job], WARM)
        assert (stopped.solution_ids, stopped.finish) == ((), "eos")
        assert went_on.think_ids == stopped.think_ids
        assert (went_on.closed, went_on.n_forced) == ("eos", 1)
        assert went_on.n_solution > 0


def test_seeds_name_the_sample_whatever_runs_beside_it(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    prompt = tiny_prompts(1)[0]
    jobs = [Job.separate(prompt, Budget(8, 8), 2**63 + seed) for seed in range(24)]
    first = vllm_engine.draw(jobs, WARM)
    assert [(d.trace, d.logprobs) for d in first] == [(d.trace, d.logprobs) for d in vllm_engine.draw(jobs, WARM)]
    assert [drawn.trace for drawn in first[5:7]] == vllm_engine.generate(jobs[5:7], WARM)
    assert len({drawn.trace for drawn in first}) > 20


def test_nested_budgets_are_the_traces_of_separate_ones(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    prompts = [Prompt(f"p{i}", ids) for i, ids in enumerate(tiny_prompts(6))]
    budgets, plan = [Budget(3, 2), Budget(8, 5)], Plan(WARM, samples=3, seed=1)
    shared = [row for row in nested(vllm_engine, prompts, budgets, 20, plan) if row.method == "separate"]
    assert shared == separate(vllm_engine, prompts, budgets, plan)


@pytest.mark.parametrize(
    "sampling", [WARM, Sampling(0.6), Sampling(1, top_k=4), Sampling(1, top_p=0.7)], ids=["1", "0.6", "top-k", "top-p"]
)
def test_frequencies_are_those_of_the_model(
    sampling: Sampling, vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts
) -> None:
    rows, prompt = 1500, tiny_prompts(1)[0]
    jobs = [Job.think_only(prompt, 1, seed) for seed in range(rows)]
    sampled = [
        (trace.think_ids or (vllm_engine.markers.close_id,))[0] for trace in vllm_engine.generate(jobs, sampling)
    ]
    with torch.inference_mode():
        logits = checkpoint_model(torch.tensor([prompt])).logits[0, -1:]
    grid = (torch.arange(50_000, dtype=torch.float64) + 0.5) / 50_000
    expected = np.bincount(draw(logits.expand(len(grid), -1), grid, sampling).numpy(), minlength=logits.shape[-1])
    seen = np.bincount(sampled, minlength=logits.shape[-1])
    assert not seen[expected == 0].any()
    often = expected > 5 / rows * len(grid)
    folded = [[*column[often], column[~often].sum()] for column in (seen, expected * rows / len(grid))]
    keep = np.array(folded[1]) > 0
    assert chisquare(np.array(folded[0])[keep], np.array(folded[1])[keep]).pvalue > 0.001


def test_logprobs_are_the_models_own_at_the_temperature(
    vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs = [Job.separate(prompt, Budget(6, 6), seed) for seed, prompt in enumerate(tiny_prompts(16))]
    drawn = vllm_engine.draw(jobs, Sampling(0.6))
    assert {d.trace.n_forced for d in drawn} == {0, 1}
    for trace, logprobs in ((d.trace, d.logprobs) for d in drawn):
        ids, start = ids_of(trace, tiny_markers), len(trace.prompt_ids)
        with torch.inference_mode():
            rows = (checkpoint_model(torch.tensor([ids])).logits[0] / 0.6).log_softmax(-1)
        own = rows[range(start - 1, len(ids) - 1), ids[start:]].tolist()
        if trace.n_forced:
            del own[len(trace.think_ids)]
        assert logprobs == pytest.approx(own, abs=1e-4)


def test_progress_counts_every_job_and_what_was_drawn_for_it(
    vllm_engine: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs, told = mixed_jobs(40, tiny_prompts, tiny_markers), []
    traces = vllm_engine.generate(jobs, WARM, progress=lambda finished, tokens: told.append((finished, tokens)))
    drawn = sum(job.drawn(trace) for job, trace in zip(jobs, traces, strict=True))
    assert [sum(column) for column in zip(*told, strict=True)] == [len(jobs), drawn]
    assert len(told) > 2


def test_what_the_context_cannot_hold_is_refused_before_any_work(
    vllm_engine: Any, checkpoint_model: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    prompt = tiny_prompts(1)[0]
    room = 128 - len(prompt) - 1
    fitting = [
        Job.separate(prompt, Budget(room - 10, 10), 0),
        Job.solve(prompt, (9,) * (room - 9), 10, 0, closed="forced"),
        Job.separate(prompt[:-1], Budget(room - 10, 10), 0),
    ]
    for job in (Job.separate(prompt, Budget(room - 9, 10), 0), Job.plain(prompt, room + 1, 0)):
        told: list[int] = []
        with pytest.raises(BudgetError, match="the model's context holds 128"):
            vllm_engine.generate([*fitting, job], GREEDY, progress=lambda *_, told=told: told.append(1))
        assert not told
    # What just fits is sampled to its last token.
    theirs = TransformersEngine(checkpoint_model, tiny_markers).generate(fitting, GREEDY)
    assert_greedy_equal(checkpoint_model, vllm_engine.generate(fitting, GREEDY), theirs, tiny_markers)


def test_an_interrupted_call_leaves_nothing_behind(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    jobs = [Job.separate(prompt, Budget(9, 9), seed) for seed, prompt in enumerate(tiny_prompts(24))]
    whole = vllm_engine.generate(jobs, GREEDY)

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vllm_engine.generate(jobs, GREEDY, progress=interrupt)
    assert vllm_engine.generate(jobs, GREEDY) == whole


@pytest.fixture
def restored(vllm_engine: Any, checkpoint_model: Any) -> Iterator[Any]:
    """The shared engine, given its own weights back afterwards."""
    yield vllm_engine
    vllm_engine.load_weights(checkpoint_model.state_dict().items())


def test_new_weights_give_the_traces_of_the_new_model(
    restored: Any, tiny_tokenizer: Any, tiny_prompts: Prompts, tiny_markers: Markers
) -> None:
    jobs = mixed_jobs(32, tiny_prompts, tiny_markers)
    before = restored.generate(jobs, GREEDY)
    other = build_model(tiny_tokenizer, hidden=64, layers=2, heads=2, context=128, seed=5).eval()
    restored.load_weights(other.state_dict().items())
    theirs = TransformersEngine(other, tiny_markers).generate(jobs, GREEDY)
    assert_greedy_equal(other, restored.generate(jobs, GREEDY), theirs, tiny_markers)
    assert sum(one == two for one, two in zip(before, theirs, strict=True)) < len(jobs) / 4


def test_weights_that_are_missing_are_named(restored: Any, checkpoint_model: Any) -> None:
    weights = checkpoint_model.state_dict()
    del weights["model.layers.1.mlp.up_proj.weight"]
    with pytest.raises(DataError, match=r"1 weights are missing, first model\.layers\.1\.mlp\.up_proj\.weight"):
        restored.load_weights(weights.items())


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
def test_damaged_weights_are_an_error(
    sampling: Sampling, restored: Any, checkpoint_model: Any, tiny_prompts: Prompts
) -> None:
    weights = {name: tensor.clone() for name, tensor in checkpoint_model.state_dict().items()}
    weights["model.norm.weight"][3] = torch.nan
    restored.load_weights(weights.items())
    with pytest.raises(DataError, match="not numbers"):
        restored.generate([Job.plain(tiny_prompts(1)[0], 4, 0)], sampling)


def test_a_temperature_that_vllm_would_change_is_refused(vllm_engine: Any, tiny_prompts: Prompts) -> None:
    with pytest.raises(ParamsError, match="temperature"):
        vllm_engine.generate([Job.plain(tiny_prompts(1)[0], 4, 0)], Sampling(temperature=0.005))
