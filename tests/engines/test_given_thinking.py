"""Jobs that start from given thinking: going on, cues, and prefixes of one path that are read once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from greedy_ties import assert_greedy_equal
from naive_decoding import Naive
from transformers import AutoModelForCausalLM, Gemma3TextConfig, GPT2Config, PreTrainedConfig, Qwen3NextConfig

from elastic.engines.cache import can_spread, growing_cache
from elastic.engines.protocol import Drawn, Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.engines.two_calls import TwoCalls
from elastic.errors import BudgetError
from elastic.markers import Markers
from elastic.trace import Trace

Prompts = Callable[..., list[tuple[int, ...]]]
GREEDY, WARM = Sampling(temperature=0), Sampling(temperature=1)
DEPTHS, DRAWS = 16, 4


def traces_of(drawn: Sequence[Drawn]) -> list[Trace]:
    return [one.trace for one in drawn]


def prefilled(drawn: Sequence[Drawn]) -> int:
    return sum(one.spent.prefilled for one in drawn)


def one_by_one(model: Any, markers: Markers, jobs: Sequence[Job], sampling: Sampling) -> list[Drawn]:
    return TransformersEngine(model, markers, batch_size=1).draw(jobs, sampling)


@pytest.mark.parametrize("opened", [True, False], ids=["prompt opens the block", "model opens the block"])
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
def test_going_on_equals_never_having_stopped(
    sampling: Sampling, opened: bool, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model = tiny_model(close=4, eos=3, open=5)
    engine, limit = TransformersEngine(model, tiny_markers, batch_size=300), 9
    straight = engine.draw(
        [Job.think_only(prompt, limit, seed) for seed, prompt in enumerate(tiny_prompts(24, opened=opened))], sampling
    )
    cuts = [
        (whole, cut, Job.think_on(whole.trace.prompt_ids, thinking[:cut], limit, seed, opening=whole.trace.opening))
        for seed, whole in enumerate(straight)
        for thinking in [whole.trace.think_ids]
        for cut in range(1, len(thinking) + (whole.trace.closed != "eos"))
    ]
    for (whole, cut, job), on in zip(cuts, engine.draw([job for *_, job in cuts], sampling), strict=True):
        assert on.trace == whole.trace
        assert on.logprobs == pytest.approx(whole.logprobs[cut:], abs=1e-9)
        assert on.spent.sampled == len(on.logprobs) == job.drawn(on.trace)
    ends = Counter(whole.trace.closed for whole, *_ in cuts)
    assert min(ends[closed] for closed in ("natural", "eos", "never")) > 4
    assert any(whole.trace.opening for whole, *_ in cuts) == (not opened)
    assert any(cut == whole.trace.opening for whole, cut, _ in cuts) == (not opened)
    assert any(job.finished for *_, job in cuts)


def test_thinking_given_up_to_the_limit_costs_nothing_and_over_it_is_refused(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model, prompt, told = tiny_model(), tiny_prompts(1)[0], []
    engine = TransformersEngine(model, tiny_markers)
    job = Job.think_on(prompt, (9, 9, 9), 3, 0)
    [drawn] = engine.draw([job], WARM, progress=lambda *counts: told.append(counts))
    assert drawn.trace == Trace(prompt, (9, 9, 9), (), "never", "budget")
    assert (drawn.logprobs, drawn.spent.sampled, drawn.spent.prefilled, told) == ((), 0, 0, [(1, 0)])
    assert TwoCalls(job, tiny_markers).call is None
    assert TwoCalls(job, tiny_markers).trace() == drawn.trace
    with pytest.raises(BudgetError, match="3 thinking tokens are given under a limit of 2"):
        engine.draw([Job.think_on(prompt, (9, 9, 9), 2, 0)], WARM)
    opened = Job.think_on(prompt, (tiny_markers.open_id, 9, 9), 2, 0, opening=1)
    assert engine.generate([opened], WARM)[0].n_think == 2


def test_a_cue_stands_behind_the_delimiter_and_is_free(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model, prompt, cue = tiny_model(close=-50, eos=-50), tiny_prompts(1)[0], (11, 12, 13)
    engine = TransformersEngine(model, tiny_markers)
    job = Job.solve(prompt, (9, 9), 4, 0, closed="forced", cue=cue)
    [drawn] = engine.draw([job], GREEDY)
    trace = drawn.trace
    assert trace.completion_ids(tiny_markers.close_id) == [9, 9, tiny_markers.close_id, *cue, *trace.solution_ids]
    assert (trace.cue_ids, trace.n_solution, trace.n_forced, len(drawn.logprobs)) == (cue, 4, 4, 4)
    # The model reads the cue as it would read the same ids in the thinking's place.
    naive = Naive(model, tiny_markers, GREEDY)
    assert naive.next_token([*prompt, 9, 9, tiny_markers.close_id, *cue], 0) == trace.solution_ids[0]
    assert drawn.spent.prefilled == len(prompt) + 2 + 1 + len(cue)
    # It takes room in the context all the same.
    room = 128 - len(prompt) - 1 - len(cue) - 4
    fits = Job.solve(prompt, (9,) * (room + 1), 4, 0, closed="forced", cue=cue)
    assert engine.generate([fits], GREEDY)[0].n_solution == 4
    with pytest.raises(BudgetError, match="context holds 128"):
        engine.generate([Job.solve(prompt, (9,) * (room + 2), 4, 0, closed="forced", cue=cue)], GREEDY)


def path_jobs(prompt: tuple[int, ...], thinking: tuple[int, ...], first_seed: int) -> list[Job]:
    """Solutions from equal intervals of one thinking trace, several a depth."""
    return [
        Job.solve(prompt, thinking[: len(thinking) * depth // DEPTHS], 6, first_seed + draw, closed="forced")
        for depth in range(1, DEPTHS + 1)
        for draw in range(DRAWS)
    ]


@pytest.mark.parametrize("batch_size", [3 * DEPTHS * DRAWS, DEPTHS * DRAWS // 4], ids=["in one batch", "path split"])
def test_prefixes_of_one_path_are_read_once_and_change_no_greedy_id(
    batch_size: int, tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model = tiny_model(close=-50, eos=3).float()
    prompts = tiny_prompts(3)
    thinking = TransformersEngine(model, tiny_markers).generate(
        [Job.plain(prompt, 80, seed) for seed, prompt in enumerate(prompts)], WARM
    )
    jobs = [job for trace in thinking for job in path_jobs(trace.prompt_ids, trace.think_ids, 0)]
    shared = TransformersEngine(model, tiny_markers, batch_size=batch_size).draw(jobs, GREEDY)
    again = one_by_one(model, tiny_markers, jobs, GREEDY)
    assert_greedy_equal(model, traces_of(shared), traces_of(again), tiny_markers)
    assert prefilled(again) == sum(job.given + 1 for job in jobs)
    assert prefilled(again) >= 5 * prefilled(shared)
    if batch_size > len(jobs) - 1:
        longest = sum(len(trace.prompt_ids) + len(trace.think_ids) for trace in thinking)
        assert prefilled(shared) == longest + len(jobs)


def test_a_mixed_batch_that_shares_draws_what_plain_decoding_draws(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    rng, jobs = random.Random(3), []
    for seed, prompt in enumerate([*tiny_prompts(5), *tiny_prompts(4, opened=False)]):
        opening = int(seed > 4 and rng.random() < 0.5)
        thinking = (*[tiny_markers.open_id] * opening, *(rng.randint(8, 20) for _ in range(rng.randint(3, 30))))
        for cut in {0, opening + 1, *(rng.randint(opening + 1, len(thinking)) for _ in range(4)), len(thinking)}:
            given, cue = thinking[:cut], tuple(rng.randint(8, 20) for _ in range(rng.choice([0, 0, 1, 4])))
            opened = min(opening, cut)
            jobs.append(Job.solve(prompt, given, rng.randint(1, 9), seed, closed="forced", opening=opened, cue=cue))
            if cut > opening:
                limit = len(given) - opening + rng.randint(1, 6)
                jobs.append(Job.think_on(prompt, given, limit, seed, opening=opening))
    rng.shuffle(jobs)
    model = tiny_model(close=3, eos=3)
    drawn = TransformersEngine(model, tiny_markers, batch_size=len(jobs)).draw(jobs, WARM)
    naive = Naive(model, tiny_markers, WARM)
    assert traces_of(drawn) == [naive.decode(job) for job in jobs]
    # One longest path a prompt; of every row the delimiter and its cue, or the last id of what goes on, besides.
    longest = {job.prompt_ids: max(j.given for j in jobs if j.prompt_ids == job.prompt_ids) for job in jobs}
    own = sum(1 + len(job.cue) if job.kind == "solve" else 1 for job in jobs)
    ends = {(job.prompt_ids, job.kind) for job in jobs if job.given == longest[job.prompt_ids]}
    spared = sum((prompt, "solve") not in ends for prompt in longest)
    assert prefilled(drawn) == sum(longest.values()) - spared + own
    # Where batches split paths the same is drawn.
    assert TransformersEngine(model, tiny_markers, batch_size=7).generate(jobs, WARM) == traces_of(drawn)


def test_jobs_that_share_nothing_are_read_in_one_pass(
    tiny_model: Any, tiny_markers: Markers, tiny_prompts: Prompts
) -> None:
    model, passes = tiny_model(close=-50, eos=-50), []
    model.register_forward_hook(lambda *_: passes.append(1))
    jobs = [Job.solve(prompt, (9, 10), 3, 0, closed="forced") for prompt in set(tiny_prompts(8))]
    drawn = TransformersEngine(model, tiny_markers).draw(jobs, WARM)
    assert len(passes) == 3
    assert [one.spent.prefilled for one in drawn] == [job.given + 1 for job in jobs]


SMALL = {"vocab_size": 30, "eos_token_id": 3, "bos_token_id": None, "pad_token_id": 0}
SLIDING = Gemma3TextConfig(
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
)
LEARNED = GPT2Config(**SMALL, n_embd=32, n_layer=1, n_head=2, n_positions=36)


@pytest.mark.parametrize(
    ("config", "shares"), [(SLIDING, False), (LEARNED, True)], ids=["sliding windows", "learned positions"]
)
def test_other_architectures_draw_the_same_whether_they_share_or_read_again(
    config: PreTrainedConfig, shares: bool
) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).double().eval()
    markers = Markers(open_id=1, close_id=2, eos_ids=frozenset({3}), pad_id=0)
    rng, jobs = random.Random(0), []
    for seed in range(4):
        prompt = (*(rng.randint(4, 29) for _ in range(rng.randint(2, 6))), markers.open_id)
        thinking = tuple(rng.randint(4, 29) for _ in range(rng.randint(8, 16)))
        jobs += [Job.solve(prompt, thinking[:cut], 8, seed, closed="forced") for cut in range(2, len(thinking), 2)]
    drawn = TransformersEngine(model, markers, batch_size=len(jobs)).draw(jobs, WARM)
    again = one_by_one(model, markers, jobs, WARM)
    assert traces_of(drawn) == traces_of(again)
    assert (prefilled(drawn) < prefilled(again)) == shares


def test_layers_that_forget_columns_share_no_prefix() -> None:
    hybrid = Qwen3NextConfig(num_hidden_layers=2, layer_types=["linear_attention", "full_attention"])
    assert not can_spread(growing_cache(hybrid))
    assert not can_spread(growing_cache(SLIDING))
    assert can_spread(growing_cache(LEARNED))
