"""What reading a shared prefix once saves: `python -m bench.prefixes`, or `make bench`.

Fractured sampling asks for solutions from many depths of one thinking trace. Ours reads the trace once; the other side
is the same engine reading each prefix again, as it does for models whose cache forgets columns. Both models of
`bench.train_step`, random weights, random thinking, and no solution ends before its budget is used up. Sides alternate
in this one process, so that a busy machine slows both alike; seconds are medians and hold prefill and solutions.
"""

from __future__ import annotations

import os
import platform
import statistics
import warnings
from random import Random
from unittest.mock import patch

import torch
import transformers

from bench.engine import timed
from bench.train_step import Bench, laptop, smollm
from elastic.engines.protocol import Job, Sampling
from elastic.engines.runtime import device
from elastic.engines.transformers import TransformersEngine

DEPTHS = 16
LEAST_PREFILL = 5
SAMPLING = Sampling(temperature=1)


def fractured(bench: Bench, *, paths: int, think: int, draws: int, solution: int) -> list[Job]:
    """Solutions from equal intervals of `think` tokens, `draws` a depth."""
    rng, markers = Random(0), bench.markers
    ordinary = sorted({*range(len(bench.prompter.tokenizer))} - {*markers.eos_ids, markers.close_id, markers.open_id})
    jobs = []
    for question in bench.questions[:paths]:
        prompt, thinking = bench.prompter.render(question.question), tuple(rng.choices(ordinary, k=think))
        jobs += [
            Job.solve(prompt, thinking[: think * depth // DEPTHS], solution, draw, closed="forced")
            for depth in range(1, DEPTHS + 1)
            for draw in range(draws)
        ]
    return jobs


def compare(bench: Bench, name: str, jobs: list[Job], *, batch_size: int, pairs: int) -> str:
    """A row of the table."""
    engine = TransformersEngine(bench.model, bench.markers, batch_size=batch_size)

    def shared(_: int) -> int:
        return sum(drawn.spent.prefilled for drawn in engine.draw(jobs, SAMPLING))

    def refed(pair: int) -> int:
        with patch("elastic.engines.transformers.can_spread", return_value=False):
            return shared(pair)

    seconds = []
    shared(0)
    for pair in range(pairs):
        (ours, our_seconds), (theirs, their_seconds) = timed(shared, pair), timed(refed, pair)
        seconds.append((our_seconds, their_seconds))
        print(f"  {name}, pair {pair + 1} of {pairs}: {their_seconds / our_seconds:.2f}", flush=True)
    left, right = (statistics.median(side) for side in zip(*seconds, strict=True))
    ratio = statistics.median(their / our for our, their in seconds)
    sizes = f"{len(jobs)} solutions, {max(len(job.thinking) for job in jobs)} thinking tokens"
    return (
        f"| {name} | {sizes} | {ours:,} | {theirs:,} | **{theirs / ours:.1f}** |"
        f" {left:.2f} | {right:.2f} | **{ratio:.2f}** |"
    )


def main() -> None:
    """Run both models and print the table."""
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    small, large = laptop(), smollm()
    rows = [
        compare(
            small,
            "laptop",
            fractured(small, paths=4, think=160, draws=4, solution=16),
            batch_size=4 * DEPTHS * 4,
            pairs=5,
        ),
        compare(
            large,
            "SmolLM2-135M",
            fractured(large, paths=1, think=256, draws=2, solution=8),
            batch_size=DEPTHS * 2,
            pairs=3,
        ),
    ]
    print(
        f"\n{device()}, {torch.get_num_threads()} threads of {os.cpu_count()} cores ({platform.machine()}), "
        f"torch {torch.__version__}, transformers {transformers.__version__}.\n"
    )
    print(
        f"| {DEPTHS} depths of a path, prefill at least {LEAST_PREFILL} times less | rows | shared, tokens prefilled |"
        " read again | ratio | shared, s | read again, s | ratio |"
    )
    print("|---" * 8 + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
