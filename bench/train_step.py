"""What a training step costs, by part, and against TRL's own rollout: `python -m bench.train_step`, or `make bench`.

Two models with random weights: that of the laptop profile, and one in the architecture of SmolLM2-135M (numbers of
HuggingFaceTB/SmolLM2-135M's config.json). No row ends before its budgets are used up, so that both sides sample the
same number of tokens in every step; ours goes through the whole trainer (`elastic.training.grpo.train`), with the exact
grader, TRL's through its own generation with a reward that costs nothing. Sides alternate in this one process, so that
a busy machine slows both alike; the tables show medians.
"""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import torch
import transformers
import trl
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback, set_seed
from trl import GRPOTrainer

from elastic.answers.graders import load_grader
from elastic.answers.verdict import Gold
from elastic.budget import Budget
from elastic.contracts.params.base import TaughtBase
from elastic.contracts.params.profile import load_profile
from elastic.contracts.params.train import Ceiling, RoundParams
from elastic.engines.protocol import Job, Progress, Sampling
from elastic.engines.runtime import device, use_cpu
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter
from elastic.trace import Trace
from elastic.training.groups import Question
from elastic.training.grpo import train
from elastic.training.monitor_slice import MonitorSlice
from elastic.training.recipe import Recipe, recipe_of
from elastic.training.trl_adapter import GroupedGRPOTrainer, trainer_options

PROFILE = Path(__file__).parents[1] / "params" / "laptop.yaml"
PARTS = ("generation", "forward and backward", "optimizer", "rest")
MOST_REST, MOST_RATIO = 0.10, 1.05
# A run's first step allocates memory and is not counted.
STEPS = 3
NEVER = -1e9


@dataclass
class Clock:
    """Seconds by part, and the moments at which steps ended."""

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS[:-1], 0.0))
    ends: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    @contextmanager
    def within(self, part: str) -> Iterator[None]:
        """Count what happens inside as time of a part."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent[part] += time.perf_counter() - started

    def end(self) -> None:
        """A step has ended."""
        self.ends.append((time.perf_counter(), dict(self.spent)))

    def steps(self) -> list[dict[str, float]]:
        """Seconds of every step but the first, by part and as a `step`."""
        found = []
        for (start, before), (end, after) in zip(self.ends, self.ends[1:], strict=False):
            parts = {part: after[part] - before[part] for part in after}
            found.append({**parts, "rest": end - start - sum(parts.values()), "step": end - start})
        return found

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time the calls of the trainer that are forward, backward and the optimizer."""
        owners: list[tuple[Any, str, str]] = [
            (GroupedGRPOTrainer, "compute_loss", PARTS[1]),
            (Accelerator, "backward", PARTS[1]),
            (Accelerator, "clip_grad_norm_", PARTS[2]),
            (AcceleratedOptimizer, "step", PARTS[2]),
        ]
        with ExitStack() as stack:
            for owner, name, part in owners:
                stack.enter_context(patch.object(owner, name, self._timed(getattr(owner, name), part)))
            yield

    def _timed(self, call: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.within(part):
                return call(*args, **kwargs)

        return timed


class TimedEngine(TransformersEngine):
    """The engine, its time counted as generation."""

    def __init__(self, model: Any, markers: Markers, clock: Clock, *, batch_size: int) -> None:
        super().__init__(model, markers, batch_size=batch_size)
        self._clock = clock

    def generate(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Trace]:
        """See TransformersEngine.generate."""
        with self._clock.within("generation"):
            return super().generate(jobs, sampling, progress=progress)


class StepEnds(TrainerCallback):
    """Tells a clock of TRL's steps, where ours tells it of our own: when a step is logged."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """A step has ended."""
        if "loss" in (logs or {}):
            self.clock.end()


class Bench:
    """A model and a recipe to train it with.

    Args:
        name: for the table.
        model: with random weights.
        tokenizer: its tokenizer.
        recipe: prompts, samples, micro-batch and the budget.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, recipe: Recipe) -> None:
        self.name, self.recipe = name, recipe
        self.markers, self.prompter = Markers.find(tokenizer), Prompter(tokenizer)
        self.model = endless(model, self.markers).to(device())
        rng = Random(0)
        self.questions = [
            Question(str(number), f"{number}+{rng.randint(1, 9)}=?", Gold("1")) for number in range(4 * recipe.prompts)
        ]

    @property
    def rows(self) -> int:
        """Rollouts of a step."""
        return self.recipe.prompts * self.recipe.samples

    @property
    def tokens(self) -> int:
        """Sampled in a step, on either side."""
        return self.rows * self.recipe.budget.total

    def ours(self) -> list[dict[str, float]]:
        """Steps of this trainer."""
        clock = Clock()

        def say(line: str) -> None:
            if line.startswith("step"):
                clock.end()

        with tempfile.TemporaryDirectory() as folder, load_grader("exact") as grader, clock.watching():
            trained = train(
                self.model,
                self.prompter,
                self.markers,
                grader,
                self.questions,
                MonitorSlice(10 * STEPS, self.questions[:1], [self.recipe.budget]),
                self.recipe,
                preflight_steps=10 * STEPS,
                scratch=Path(folder),
                batch_size=self.rows,
                use_cpu=use_cpu(),
                say=say,
                make_engine=lambda policy: TimedEngine(policy, self.markers, clock, batch_size=self.rows),
            )
        assert trained.sampled_tokens == STEPS * self.tokens + self.recipe.budget.total  # and one look at the monitor
        return clock.steps()

    def theirs(self) -> list[dict[str, float]]:
        """Steps of TRL's own trainer with its own rollout."""
        clock = Clock()
        with tempfile.TemporaryDirectory() as folder:
            options = trainer_options(self.recipe, processes=1, use_cpu=use_cpu(), folder=folder)
            options.max_steps, options.save_strategy = STEPS, "no"
            options.max_completion_length = self.recipe.budget.total
            drawn: list[int] = []

            def reward(completion_ids: list[list[int]], **_: Any) -> list[float | None]:
                drawn.append(sum(map(len, completion_ids)))
                return [float(row % 2) for row in range(len(completion_ids))]

            prompts = [{"prompt": self.prompter.messages(question.question)} for question in self.questions]
            trainer = GRPOTrainer(
                model=self.model,
                reward_funcs=reward,
                args=options,
                train_dataset=Dataset.from_list(prompts),
                processing_class=self.prompter.tokenizer,
                callbacks=[StepEnds(clock)],
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        assert drawn == [self.tokens] * STEPS
        return clock.steps()

    def compare(self, pairs: int) -> tuple[str, str]:
        """Rows of the two tables, from alternating runs."""
        steps: list[dict[str, float]] = []
        ratios, seconds = [], []
        for pair in range(pairs):
            mine, other = self.ours(), self.theirs()
            steps += mine
            both = [statistics.median(step["step"] for step in side) for side in (mine, other)]
            seconds.append(both)
            ratios.append(both[0] / both[1])
            print(f"  {self.name}, pair {pair + 1} of {pairs}: {ratios[-1]:.2f}", flush=True)
        share = {part: statistics.median(step[part] / step["step"] for step in steps) for part in PARTS}
        ratio = statistics.median(ratios)
        sizes = f"{self.rows} x {self.recipe.budget} tokens"
        parts = " | ".join(f"{share[part]:.1%}" for part in PARTS[:-1])
        step = statistics.median(step["step"] for step in steps)
        left, right = (statistics.median(side) for side in zip(*seconds, strict=True))
        return (
            f"| {self.name} | {sizes} | {step:.2f} | {parts} | **{share['rest']:.1%}** |",
            f"| {self.name} | {self.tokens:,} | {left:.2f} | {right:.2f} | **{ratio:.2f}** |",
        )


def endless(model: Any, markers: Markers) -> Any:
    """The model with a bias on its head that rules out every end, so that all budgets are used up."""
    embedding = model.get_output_embeddings().weight
    head = torch.nn.Linear(embedding.shape[1], embedding.shape[0])
    head.weight = embedding
    head.bias.requires_grad_(False).zero_()
    head.bias[[*markers.eos_ids, markers.close_id]] = NEVER
    model.lm_head = head
    return model


def recipe(budget: Budget, *, prompts: int, samples: int, micro_batch: int) -> Recipe:
    """E1's, ending after STEPS steps and without a checkpoint, which no step should pay for."""
    params = load_profile(PROFILE).train.model_copy(
        update={
            "prompts": prompts,
            "samples": samples,
            "micro_batch": micro_batch,
            "temperature": 1.0,
            "warmup_steps": 0,
            "save_every": 100 * STEPS,
            "seed": 0,
            "ceiling": Ceiling(tokens=STEPS * prompts * samples * budget.total),
        }
    )
    return recipe_of(RoundParams(prev="base", budget=budget, steps=100 * STEPS, learning_rate=1e-6), params)


def laptop() -> Bench:
    """The model and the batch of the laptop profile."""
    profile = load_profile(PROFILE)
    base, params = profile.base, profile.train
    assert isinstance(base, TaughtBase)
    tokenizer = build_tokenizer(base.vocabulary, context=base.context)
    model = build_model(
        tokenizer, hidden=base.hidden, layers=base.layers, heads=base.heads, context=base.context, seed=0
    )
    budget = next(iter(profile.rounds.values())).budget
    return Bench(
        "laptop",
        model,
        tokenizer,
        recipe(budget, prompts=params.prompts, samples=params.samples, micro_batch=params.micro_batch),
    )


def smollm() -> Bench:
    """SmolLM2-135M's architecture under a tokenizer of numbers, of the same size."""
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True,
    )
    marks = len(build_tokenizer([], context=1)) + len("+=?")
    numbers = map(str, range(config.vocab_size - marks))
    tokenizer = build_tokenizer([*"+=?", *numbers], context=config.max_position_embeddings)
    config.eos_token_id, config.pad_token_id, config.bos_token_id = (
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
        None,
    )
    set_seed(0)
    return Bench(
        "SmolLM2-135M",
        LlamaForCausalLM(config),
        tokenizer,
        recipe(Budget(24, 8), prompts=2, samples=4, micro_batch=8),
    )


def main() -> None:
    """Run both models and print the tables."""
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    rows = []
    for make, pairs in ((laptop, 5), (smollm, 3)):
        bench = make()
        parameters = sum(weight.numel() for weight in bench.model.parameters() if weight.requires_grad)
        bench.name = f"{bench.name}, {parameters / 1e6:.1f} M parameters"
        rows.append(bench.compare(pairs))
    print(
        f"\n{device()}, {torch.get_num_threads()} threads of {os.cpu_count()} cores ({platform.machine()}), "
        f"torch {torch.__version__}, transformers {transformers.__version__}, trl {trl.__version__}.\n"
    )
    print(f"| one step, rest at most {MOST_REST:.0%} on the larger model | rollouts | seconds | ", end="")
    print(" | ".join(PARTS), "|")
    print("|---" * (3 + len(PARTS)) + "|")
    print("\n".join(parts for parts, _ in rows), end="\n\n")
    print(f"| step with our rollout over TRL's, at most {MOST_RATIO} | tokens | ours, s | TRL's, s | ratio |")
    print("|---|---|---|---|---|")
    print("\n".join(ratio for _, ratio in rows))


if __name__ == "__main__":
    main()
