"""How fast the budgeted engine is, against the ways to do without it: `python -m bench.engine`, or `make bench`.

Random weights in the laptop profile's architecture, on the device and threads of the environment. Each comparison is
made in interleaved pairs in this one process, so that a busy machine slows both sides alike; the table shows medians.
Sampled tokens are counted, padding never. The printed ratio is ours over theirs, in tokens per second.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import torch
import transformers

from bench import baselines
from elastic.budget import Budget
from elastic.contracts.params.base import TaughtBase
from elastic.contracts.params.profile import load_profile
from elastic.decoding.nested import nested
from elastic.decoding.plan import Plan, Prompt
from elastic.decoding.separate import separate
from elastic.decoding.truncate import truncate
from elastic.engines.protocol import Job, Sampling
from elastic.engines.runtime import device
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter

PROFILE = Path(__file__).parents[1] / "params" / "laptop.yaml"
LONGEST, MEAN, ROWS = 185, 54, 256
TEMPERATURE = 0.6
NEVER = -1e9
Side = Callable[[int], int]


class Bench:
    """The model, its prompts, and the rows of the table."""

    def __init__(self) -> None:
        profile = load_profile(PROFILE)
        base = profile.base
        assert isinstance(base, TaughtBase)
        self.tokenizer = build_tokenizer(base.vocabulary, context=base.context)
        self.markers = Markers.find(self.tokenizer)
        model: Any = build_model(
            self.tokenizer, hidden=base.hidden, layers=base.layers, heads=base.heads, context=base.context, seed=0
        )
        model.lm_head = torch.nn.Linear(base.hidden, len(self.tokenizer))
        torch.nn.init.normal_(model.lm_head.weight, std=base.hidden**-0.5)
        self.model = model.to(device()).eval()
        rng, prompter = Random(0), Prompter(self.tokenizer)
        self.prompts = [
            prompter.render(f"{rng.randint(1, 9)}" + "".join(f"+{rng.randint(1, 9)}" for _ in range(rng.randint(1, 6))))
            for _ in range(ROWS)
        ]
        self.engine = TransformersEngine(self.model, self.markers, batch_size=ROWS)
        self.sampling = Sampling(temperature=TEMPERATURE)
        self.rows: list[str] = []

    def bias(self, *, eos: float, close: float) -> None:
        """Set what is added to the logits of EOS and of the closing delimiter."""
        with torch.no_grad():
            self.model.lm_head.bias.zero_()
            for token in self.markers.eos_ids:
                self.model.lm_head.bias[token] = eos
            self.model.lm_head.bias[self.markers.close_id] = close

    def plain(self, rows: int, seed: int) -> int:
        """Plain decoding by the engine."""
        jobs = [Job.plain(prompt, LONGEST, seed * ROWS + row) for row, prompt in enumerate(self.prompts[:rows])]
        return self.sampled(jobs)

    def budgeted(self, budget: Budget, seed: int) -> int:
        """Separate budgeting by the engine."""
        return self.sampled(
            [Job.separate(prompt, budget, seed * ROWS + row) for row, prompt in enumerate(self.prompts)]
        )

    def sampled(self, jobs: list[Job]) -> int:
        """Decode and count."""
        return sum(trace.n_sampled for trace in self.engine.generate(jobs, self.sampling))

    def find_bias(self, mean: float) -> float:
        """The bias of EOS at which plain decoding draws `mean` tokens a row, by bisection."""
        low, high = -6.0, 6.0
        for _ in range(10):
            middle = (low + high) / 2
            self.bias(eos=middle, close=NEVER)
            low, high = (middle, high) if self.plain(ROWS, 0) > mean * ROWS else (low, middle)
        return (low + high) / 2

    def compare(self, name: str, target: float | None, ours: Side, theirs: Side, pairs: int) -> None:
        """Time interleaved pairs and add a row to the table."""
        speeds: list[tuple[float, float]] = []
        tokens: list[tuple[int, int]] = []
        for pair in range(pairs):
            torch.manual_seed(pair)
            (our_tokens, our_seconds), (their_tokens, their_seconds) = timed(ours, pair), timed(theirs, pair)
            tokens.append((our_tokens, their_tokens))
            speeds.append((our_tokens / our_seconds, their_tokens / their_seconds))
            print(f"  {name}, pair {pair + 1} of {pairs}: {speeds[-1][0] / speeds[-1][1]:.2f}", flush=True)
        left, right = (statistics.median(column) for column in zip(*speeds, strict=True))
        counts = [statistics.median(column) for column in zip(*tokens, strict=True)]
        ratio = statistics.median(a / b for a, b in speeds)
        self.rows.append(
            f"| {name} | {counts[0]:,.0f} / {counts[1]:,.0f} | {left:,.0f} | {right:,.0f} | **{ratio:.2f}** |"
            f" {f'{target:g}' if target else ''} |"
        )


def timed(side: Side, pair: int) -> tuple[int, float]:
    """What a side returns, and its seconds."""
    started = time.perf_counter()
    result = side(pair)
    return result, time.perf_counter() - started


def compare_nested(bench: Bench) -> list[str]:
    """Nested against independent sampling of one small grid: tokens and seconds, medians of interleaved pairs."""
    budgets = [Budget(think, solution) for think in (8, 16, 24, 48) for solution in (8, 16)]
    prompts = [Prompt(str(number), ids) for number, ids in enumerate(bench.prompts[:32])]
    spent: dict[str, list[int]] = {"nested": [], "independent": []}
    seconds: dict[str, list[float]] = {"nested": [], "independent": []}

    def sample(mode: str, seed: int) -> int:
        tokens = 0

        def count(jobs: int, sampled: int) -> None:
            nonlocal tokens
            tokens += sampled

        plan = Plan(bench.sampling, samples=2, seed=seed, paired=mode == "nested")
        if mode == "nested":
            nested(bench.engine, prompts, budgets, 160, plan, progress=count)
        else:
            separate(bench.engine, prompts, budgets, plan, progress=count)
            truncate(bench.engine, prompts, budgets, 160, plan, progress=count)
        return tokens

    for pair in range(3):
        for mode in spent:
            tokens, elapsed = timed(lambda seed, mode=mode: sample(mode, seed), pair)  # type: ignore[misc]
            spent[mode].append(tokens)
            seconds[mode].append(elapsed)
    cells = [(statistics.median(spent[mode]), statistics.median(seconds[mode])) for mode in ("nested", "independent")]
    ratios = [
        statistics.median(b / a for a, b in zip(column["nested"], column["independent"], strict=True))
        for column in (spent, seconds)
    ]
    return [
        "| one grid, 32 problems x 2 samples | nested | independent | independent / nested |",
        "|---|---|---|---|",
        f"| tokens | {cells[0][0]:,.0f} | {cells[1][0]:,.0f} | **{ratios[0]:.2f}** |",
        f"| seconds | {cells[0][1]:.2f} | {cells[1][1]:.2f} | **{ratios[1]:.2f}** |",
    ]


def main() -> None:
    """Run every comparison and print the tables."""
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    bench = Bench()
    model, markers, prompts = bench.model, bench.markers, bench.prompts

    def stock(rows: int) -> Side:
        return lambda pair: baselines.stock(model, markers, prompts[:rows], LONGEST, TEMPERATURE)

    bench.bias(eos=NEVER, close=NEVER)
    bench.plain(8, 0)
    for rows in (64, ROWS):
        bench.compare(
            f"stock generate, {rows} rows of {LONGEST} tokens",
            0.95,
            lambda pair, rows=rows: bench.plain(rows, pair),  # type: ignore[misc]
            stock(rows),
            pairs=5,
        )
    bench.compare(
        f"the whole sequence fed again for each token, 64 rows of {LONGEST}",
        30,
        lambda pair: bench.plain(64, pair),
        lambda pair: baselines.refeeding(model, markers, prompts[:64], LONGEST, TEMPERATURE),
        pairs=3,
    )
    eos = bench.find_bias(MEAN)
    bench.bias(eos=eos, close=NEVER)
    mixed = f"{ROWS} rows of mixed length, mean {bench.plain(ROWS, 0) / ROWS:.0f}, at most {LONGEST}"
    bench.compare(f"stock generate, {mixed}", 2, lambda pair: bench.plain(ROWS, pair), stock(ROWS), pairs=5)
    own = deepcopy(model)
    bench.compare(
        f"continuous batching of transformers, {mixed}",
        None,
        lambda pair: bench.plain(ROWS, pair),
        lambda pair: baselines.continuous(own, markers, prompts, LONGEST, TEMPERATURE),
        pairs=1,
    )
    bench.bias(eos=eos, close=eos)
    budget = Budget(48, 24)
    bench.compare(
        f"two generates with re-prefill, {ROWS} rows under {budget}",
        None,
        lambda pair: bench.budgeted(budget, pair),
        lambda pair: baselines.two_generates(model, markers, prompts, budget, TEMPERATURE),
        pairs=5,
    )
    nesting = compare_nested(bench)

    parameters = sum(weight.numel() for weight in model.parameters())
    print(
        f"\n{parameters / 1e6:.2f} M parameters on {bench.model.device}, {torch.get_num_threads()} threads of "
        f"{os.cpu_count()} cores ({platform.machine()}), torch {torch.__version__}, "
        f"transformers {transformers.__version__}.\n"
    )
    print("| against | tokens, ours / theirs | ours, tokens/s | theirs, tokens/s | ratio | target |")
    print("|---|---|---|---|---|---|")
    print("\n".join(bench.rows), end="\n\n")
    print("\n".join(nesting))


if __name__ == "__main__":
    main()
