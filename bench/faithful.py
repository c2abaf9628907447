"""E1 as its public code has it beside E1 as corrected here, from one base: `python -m bench.faithful 4 14 24`.

`train.faithful` leaves the forced delimiter in the loss and clips no ratio (docs/faithful.md). Run it after `make demo`
on the laptop profile: for each seed both modes train the first round for a short while, in two minibatches a generation
batch as E1 does, since with one the ratio is always 1 and clipping idle; both are then read on the test split with the
same random streams. The table goes to standard output.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from elastic.answers.graders import Grader, load_grader
from elastic.budget import Budget
from elastic.contracts.frames import Problems, TrainingSet, read_frame
from elastic.contracts.params.profile import Profile, load_profile
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Job, Sampling
from elastic.engines.runtime import use_cpu
from elastic.engines.transformers import TransformersEngine
from elastic.metrics.intervals import paired_difference
from elastic.prompts import Prompter
from elastic.seeding import stream_seed
from elastic.training.groups import Question
from elastic.training.grpo import train
from elastic.training.monitor_slice import MonitorSlice
from elastic.training.recipe import recipe_of
from stages.train import TRAINING, VALIDATION, questions_of

BASE, TEST, PARAMS = Path("models/base"), Path("data/curated/test.parquet"), Path("params.yaml")
STEPS, MINIBATCHES, SAMPLES = 60, 2, 2
MODES = {"corrected": False, "faithful": True}


@dataclass(frozen=True)
class Read:
    """One model on the test split under one limit.

    Attributes:
        accuracy, tokens: a mean a problem, shape (n problems,).
        forced: share of traces.
    """

    accuracy: np.ndarray
    tokens: np.ndarray
    forced: float


class Comparison:
    """The profile, its data, and what is read of a model."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.round = next(iter(profile.rounds.values()))
        self.training = questions_of(read_frame(TrainingSet, TRAINING).sort("rank"))
        self.validation = questions_of(read_frame(Problems, VALIDATION).sort("problem_id"))
        self.test = questions_of(read_frame(Problems, TEST).sort("problem_id"))
        limit = profile.sample.grids["test"].limit
        budgets = [profile.train.monitor.unseen, self.round.budget]
        self.jobs: dict[str, Callable[[tuple[int, ...], int], Job]] = {
            **{str(budget): _separate(budget) for budget in budgets},
            f"no budget (limit {limit})": lambda prompt, stream: Job.plain(prompt, limit, stream),
        }

    def trained(self, seed: int, faithful: bool, grader: Grader) -> dict[str, Read]:
        """Train the first round from the base in one mode, and read it."""
        rollouts = self.profile.train.prompts * self.profile.train.samples
        params = self.profile.train.model_copy(
            update={
                "seed": seed,
                "faithful": faithful,
                "minibatches": MINIBATCHES,
                "micro_batch": rollouts // MINIBATCHES,
                "save_every": STEPS,
            }
        )
        engine, tokenizer = load_engine(BASE, batch_size=rollouts)
        prompter = Prompter(tokenizer, template=self.profile.prompt.template, system=self.profile.prompt.system)
        with tempfile.TemporaryDirectory() as folder:
            train(
                engine.model,
                prompter,
                engine.markers,
                grader,
                self.training,
                MonitorSlice(STEPS, self.validation[:1], [self.round.budget]),
                replace(recipe_of(self.round, params), steps=STEPS),
                preflight_steps=params.preflight.steps,
                scratch=Path(folder),
                batch_size=engine.batch_size,
                use_cpu=use_cpu(),
                say=lambda line: print(f"  {line}", file=sys.stderr, flush=True),
            )
        return self.read(engine, prompter, grader)

    def read(self, engine: TransformersEngine, prompter: Prompter, grader: Grader) -> dict[str, Read]:
        """The model under every limit."""
        asked = [(question, sample) for question in self.test for sample in range(SAMPLES)]
        found = {}
        for name, make in self.jobs.items():
            jobs = [make(prompter.render(question.question), _stream(question, sample)) for question, sample in asked]
            traces = engine.generate(jobs, Sampling(temperature=self.profile.sample.temperature))
            solutions = [
                prompter.text(trace.solution_ids, engine.markers) if trace.closed in ("natural", "forced") else None
                for trace in traces
            ]
            grades = grader.grade_many(solutions, [question.gold for question, _ in asked])
            correct = np.array([str(grade.verdict) == "correct" for grade in grades], dtype=float)
            tokens = np.array([trace.n_think + trace.n_solution for trace in traces], dtype=float)
            forced = sum(trace.closed == "forced" for trace in traces) / len(traces)
            found[name] = Read(_by_problem(correct), _by_problem(tokens), forced)
        return found


def _by_problem(values: np.ndarray) -> np.ndarray:
    """Means of one value a trace, shape (n problems * SAMPLES,), over the samples of each problem."""
    means: np.ndarray = values.reshape(-1, SAMPLES).mean(axis=1)
    return means


def _separate(budget: Budget) -> Callable[[tuple[int, ...], int], Job]:
    return lambda prompt, stream: Job.separate(prompt, budget, stream)


def _stream(question: Question, sample: int) -> int:
    return stream_seed(0, "faithful", question.problem_id, sample)


def table(seeds: Sequence[int], seen: Sequence[dict[str, dict[str, Read]]], confidence: float) -> str:
    """Accuracy of both modes and their paired difference, then tokens, as Markdown: a column a seed."""

    def points(one: dict[str, dict[str, Read]], name: str) -> str:
        pair = (one[mode][name].accuracy for mode in ("faithful", "corrected"))
        found = paired_difference(*pair, confidence=confidence, resamples=5000, seed=0)
        return f"{100 * found.mean:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"

    lines = [
        "| on the test split | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean |",
        "|---" * (len(seeds) + 2) + "|",
    ]
    for name in seen[0]["corrected"]:
        for mode in MODES:
            values = [100 * float(one[mode][name].accuracy.mean()) for one in seen]
            cells = " | ".join(f"{value:.1f} %" for value in values)
            lines.append(f"| accuracy, {name}, {mode} | {cells} | {statistics.mean(values):.1f} % |")
        means = [float((one["faithful"][name].accuracy - one["corrected"][name].accuracy).mean()) for one in seen]
        cells = " | ".join(points(one, name) for one in seen)
        lines.append(f"| faithful minus corrected, {name}, points | {cells} | {100 * statistics.mean(means):+.1f} |")
    last = list(seen[0]["corrected"])[-1]
    for mode in MODES:
        values = [float(one[mode][last].tokens.mean()) for one in seen]
        cells = " | ".join(f"{value:.1f}" for value in values)
        lines.append(f"| tokens, {last}, {mode} | {cells} | {statistics.mean(values):.1f} |")
    trained = list(seen[0]["corrected"])[1]
    for mode in MODES:
        values = [one[mode][trained].forced for one in seen]
        cells = " | ".join(f"{value:.0%}" for value in values)
        lines.append(f"| forced thinking, {trained}, {mode} | {cells} | {statistics.mean(values):.0%} |")
    return "\n".join(lines)


def main() -> None:
    """Train and read every seed named on the command line in both modes, and print the table."""
    seeds = [int(word) for word in sys.argv[1:]]
    if not seeds:
        sys.exit("name the training seeds, as in `python -m bench.faithful 4 14 24`")
    profile = load_profile(PARAMS)
    comparison, seen = Comparison(profile), []
    with load_grader(profile.grading.training) as grader:
        for seed in seeds:
            seen.append({mode: comparison.trained(seed, faithful, grader) for mode, faithful in MODES.items()})
            print(f"seed {seed} is done", file=sys.stderr, flush=True)
    print(table(seeds, seen, profile.score.confidence))


if __name__ == "__main__":
    main()
