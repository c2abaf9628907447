"""The transformers engine against the counting rule, against plain decoding, and against itself in other batches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from naive_decoding import Naive
from transformers import AutoModelForCausalLM, Gemma3TextConfig, GPT2Config, PreTrainedConfig

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import BudgetError, DataError
from elastic.markers import Markers
from elastic.trace import Trace

Prompts = Callable[..., list[tuple[int, ...]]]
GREEDY, WARM = Sampling(temperature=0), Sampling(temperature=1)


def separate_jobs(prompts: list[tuple[int, ...]]) -> list[Job]:
    rng = random.Random(0)
    return [Job.separate(p, Budget(rng.randint(0, 8), rng.randint(1, 6)), seed) for seed, p in enumerate(prompts)]


def jobs_of_every_kind(prompts: list[tuple[int, ...]], markers: Markers, *, opened: bool) -> list[Job]:
    rng = random.Random(1)
    jobs = []
    for seed, prompt in enumerate(prompts):
        think, solution = rng.randint(0, 7), rng.randint(1, 5)
        opening = int(not opened and rng.random() < 0.5)
        given = (*[markers.open_id] * opening, *(rng.randint(8, 20) for _ in range(think)))
        jobs += [
            Job.separate(prompt, Budget(think, solution), seed),
            Job.separate(prompt, Budget(think, solution), seed, after_eos=True),
            Job.think_only(prompt, think + 1, seed),
            Job.plain(prompt, think + solution, seed),
            Job.solve(prompt, given, solution, seed, closed="forced", opening=opening),
        ]
    rng.shuffle(jobs)
    return jobs


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
def test_no_budget_is_broken_and_forced_means_that_the_budget_was_used_up(
    sampling: Sampling, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=5, eos=4, pad=4), tiny_markers, batch_size=500)
    jobs = separate_jobs(tiny_prompts(500))
    traces = engine.generate(jobs, sampling)
    for job, trace in zip(jobs, traces, strict=True):
        assert trace.prompt_ids == job.prompt_ids
        assert trace.n_think <= job.think
        assert trace.n_solution <= job.solution
        assert len(trace.completion_ids(tiny_markers.close_id)) <= job.think + 1 + job.solution
        assert (trace.closed == "forced") == (trace.n_think == job.think and trace.closed != "eos")
        assert (trace.closed == "eos") == (trace.n_solution == 0)
        assert tiny_markers.close_id not in trace.think_ids
        assert not tiny_markers.eos_ids & {*trace.think_ids[:-1], *trace.solution_ids[:-1]}
        assert (trace.finish == "budget") == (trace.n_solution == job.solution and trace.solution_ids[-1] != 1)
    seen = Counter((trace.closed, trace.finish) for trace in traces)
    assert min(seen[closed, finish] for closed in ("natural", "forced") for finish in ("eos", "budget")) > 4
    assert seen["eos", "eos"] > 4
    assert any(tiny_markers.pad_id in trace.think_ids for trace in traces)


def test_batched_rows_equal_single_rows(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    model, jobs = tiny_model(close=5, eos=4, pad=4), separate_jobs(tiny_prompts(500))
    batched = TransformersEngine(model, tiny_markers, batch_size=500).generate(jobs, GREEDY)
    assert batched[::4] == TransformersEngine(model, tiny_markers, batch_size=1).generate(jobs[::4], GREEDY)


@pytest.mark.parametrize("opened", [True, False], ids=["prompt opens the block", "model opens the block"])
@pytest.mark.parametrize(
    "sampling", [GREEDY, WARM, Sampling(0.8, top_p=0.9, top_k=20)], ids=["greedy", "sampled", "cut support"]
)
def test_every_kind_in_one_batch_equals_plain_decoding(
    sampling: Sampling, opened: bool, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model = tiny_model(close=5, eos=3, pad=4, open=5)
    jobs = jobs_of_every_kind(tiny_prompts(24, opened=opened), tiny_markers, opened=opened)
    traces = TransformersEngine(model, tiny_markers, batch_size=len(jobs)).generate(jobs, sampling)
    naive = Naive(model, tiny_markers, sampling)
    for job, trace in zip(jobs, traces, strict=True):
        assert trace == naive.decode(job)
    assert {trace.closed for trace in traces} == {"natural", "forced", "eos", "never"}
    assert any(trace.opening for trace in traces) == (not opened)


def test_budgets_around_the_natural_end(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    engine = TransformersEngine(tiny_model(close=3, eos=-50), tiny_markers)
    prompt = tiny_prompts(1)[0]
    whole = next(
        trace
        for seed in range(50)
        if (trace := engine.generate([Job.plain(prompt, 40, seed)], WARM)[0]).closed == "natural" and trace.n_think > 3
    )
    seed = next(s for s in range(50) if engine.generate([Job.plain(prompt, 40, s)], WARM)[0] == whole)
    end = whole.n_think
    jobs = [Job.separate(prompt, Budget(think, 4), seed) for think in (0, 1, end - 1, end, end + 1)]
    traces = engine.generate(jobs, WARM)
    assert [trace.closed for trace in traces] == ["forced"] * 4 + ["natural"]
    assert [trace.n_think for trace in traces] == [0, 1, end - 1, end, end]
    assert all(trace.think_ids == whole.think_ids[: trace.n_think] for trace in traces)
    assert traces[4].solution_ids == whole.solution_ids[:4]
    # The forced delimiter stands where the natural one would have: what follows is the same.
    assert traces[3].solution_ids == whole.solution_ids[:4]


def test_the_opening_delimiter_is_free_where_the_model_writes_it(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(open=60, close=-50, eos=-50), tiny_markers)
    closed, opened = tiny_prompts(1, opened=False)[0], tiny_prompts(1)[0]
    own, given = engine.generate([Job.separate(p, Budget(2, 1), 0) for p in (closed, opened)], GREEDY)
    assert (own.opening, own.n_think, len(own.think_ids)) == (1, 2, 3)
    assert (given.opening, given.n_think, len(given.think_ids)) == (0, 2, 2)
    none = engine.generate([Job.separate(closed, Budget(0, 1), 0)], GREEDY)[0]
    assert (none.think_ids, none.n_think, none.closed) == ((tiny_markers.open_id,), 0, "forced")


def test_seeds_name_the_sample(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    model, prompts = tiny_model(close=2), tiny_prompts(12)
    jobs = [Job.separate(prompt, Budget(6, 6), seed) for prompt in prompts for seed in range(4)]
    traces = TransformersEngine(model, tiny_markers, batch_size=48).generate(jobs, WARM)
    assert traces == TransformersEngine(model, tiny_markers, batch_size=5).generate(jobs, WARM)
    assert traces[7:8] == TransformersEngine(model, tiny_markers).generate(jobs[7:8], WARM)
    for start in range(0, len(jobs), 4):
        assert len({(trace.think_ids, trace.solution_ids) for trace in traces[start : start + 4]}) > 1


def test_a_smaller_budget_gives_a_prefix(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    engine = TransformersEngine(tiny_model(close=2), tiny_markers)
    prompts = tiny_prompts(20)
    large, narrow = (
        engine.generate([Job.separate(p, Budget(6, solution), seed) for seed, p in enumerate(prompts)], WARM)
        for solution in (8, 3)
    )
    for whole, part in zip(large, narrow, strict=True):
        assert part.think_ids == whole.think_ids
        assert part.solution_ids == whole.solution_ids[:3]


def test_greedy_ids_are_those_of_generate(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    # 90 tokens make the cache grow; EOS at different places makes rows leave the batch.
    model, prompts = tiny_model(eos=4, close=4), tiny_prompts(24)
    longest = max(map(len, prompts))
    pad = tiny_markers.pad_id
    stock = model.generate(
        torch.tensor([[pad] * (longest - len(p)) + list(p) for p in prompts]),
        attention_mask=torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts]),
        do_sample=False,
        max_new_tokens=90,
        eos_token_id=sorted(tiny_markers.eos_ids),
        pad_token_id=pad,
    )[:, longest:].tolist()
    engine = TransformersEngine(model, tiny_markers, batch_size=24)
    traces = engine.generate([Job.plain(prompt, 90, 0) for prompt in prompts], GREEDY)
    ours = [trace.completion_ids(tiny_markers.close_id) for trace in traces]
    # The limit counts no delimiter, generate's does.
    assert [ids[:90] for ids in ours] == [row[: min(len(ids), 90)] for row, ids in zip(stock, ours, strict=True)]
    ends = {trace.finish for trace in traces}
    assert ends == {"eos", "budget"}


SMALL = {"vocab_size": 30, "eos_token_id": 3, "bos_token_id": None, "pad_token_id": 0}


@pytest.mark.parametrize(
    "config",
    [
        Gemma3TextConfig(
            **SMALL,
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            sliding_window=6,
            layer_types=["sliding_attention", "full_attention"],
            max_position_embeddings=64,
        ),
        GPT2Config(**SMALL, n_embd=32, n_layer=1, n_head=2, n_positions=36),
    ],
    ids=["sliding windows", "learned positions"],
)
def test_other_architectures_lose_no_row(config: PreTrainedConfig) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).double().eval()
    markers = Markers(open_id=1, close_id=2, eos_ids=frozenset({3}), pad_id=0)
    rng = random.Random(0)
    jobs = []
    for seed in range(40):
        # Two rows end at once, at the end of the context, and stay in the batch while the others go on.
        length, budget = (34, Budget(0, 1)) if seed < 2 else (rng.randint(2, 6), Budget(rng.randint(4, 9), 9))
        prompt = (*(rng.randint(4, 29) for _ in range(length - 1)), markers.open_id)
        jobs.append(Job.separate(prompt, budget, seed))
    batched = TransformersEngine(model, markers, batch_size=40).generate(jobs, WARM)
    assert batched == TransformersEngine(model, markers, batch_size=1).generate(jobs, WARM)
    assert len({trace.n_sampled for trace in batched}) > 5


def test_what_the_context_cannot_hold_is_refused_before_any_work(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model, prompt = tiny_model(close=-50, eos=-50), tiny_prompts(1)[0]
    engine, steps = TransformersEngine(model, tiny_markers), []
    model.register_forward_hook(lambda *_: steps.append(1))
    room = 128 - len(prompt) - 1
    jobs = {
        "separate": Job.separate(prompt, Budget(room - 9, 10), 0),
        "think_only": Job.think_only(prompt, room + 1, 0),
        "plain": Job.plain(prompt, room + 1, 0),
        "solve": Job.solve(prompt, (9,) * (room - 8), 10, 0, closed="forced"),
    }
    fitting = Job.separate(prompt, Budget(room - 10, 10), 0)
    for name, job in jobs.items():
        with pytest.raises(BudgetError, match="the model's context holds 128"):
            engine.generate([fitting, job], GREEDY)
        assert not steps, name
    [trace] = engine.generate([fitting], GREEDY)
    assert (trace.n_think, trace.n_solution) == (room - 10, 10)


@pytest.mark.parametrize(
    "job",
    [Job("separate", (1,), 0, think=3), Job("solve", (1,), 0), Job("think_only", (1,), 0), Job("plain", (1,), 0)],
    ids=lambda job: job.kind,
)
def test_jobs_that_want_nothing_are_refused(job: Job, tiny_model: Any, tiny_markers: Markers) -> None:
    with pytest.raises(BudgetError, match=r"no room for a solution|wants no tokens"):
        TransformersEngine(tiny_model(), tiny_markers).generate([job], GREEDY)


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
def test_damaged_weights_are_an_error(
    sampling: Sampling, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model = tiny_model()
    model.lm_head.weight.data[9, 0] = torch.nan
    with pytest.raises(DataError, match="not numbers"):
        TransformersEngine(model, tiny_markers).generate([Job.plain(tiny_prompts(1)[0], 4, 0)], sampling)


def test_sampled_tokens_leave_out_what_was_given_or_inserted(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    engine = TransformersEngine(tiny_model(close=-50, eos=-50), tiny_markers, batch_size=2)
    prompt = tiny_prompts(1)[0]
    jobs = [
        Job.separate(prompt, Budget(3, 2), 0),
        Job.solve(prompt, (9, 9, 9, 9), 2, 0, closed="forced"),
        Job.think_only(prompt, 4, 0),
    ]
    told: list[tuple[int, int]] = []
    engine.generate(jobs, GREEDY, progress=lambda finished, tokens: told.append((finished, tokens)))
    assert [sum(column) for column in zip(*told, strict=True)] == [3, 5 + 2 + 4]
    assert len(told) == 2


def test_the_model_is_left_in_the_mode_it_was_in(tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts) -> None:
    model = tiny_model().train()
    engine = TransformersEngine(model, tiny_markers)
    engine.generate([Job.plain(tiny_prompts(1)[0], 2, 0)], GREEDY)
    assert model.training
    model.eval()
    engine.generate([Job.plain(tiny_prompts(1)[0], 2, 0)], GREEDY)
    assert not model.training


def test_a_broken_budget_is_an_error_and_never_a_trace() -> None:
    trace = Trace((1,), (9, 9), (8, 1), "forced", "eos")
    trace.check(Budget(2, 2))
    for budget in (Budget(1, 2), Budget(2, 1)):
        with pytest.raises(BudgetError, match="2 thinking and 2 solution tokens"):
            trace.check(budget)
    replace(trace, opening=1).check(Budget(1, 2))
