"""The one file that knows TRL: GRPO with budgeted rollouts, through GRPOTrainer's `rollout_func`.

What is ours: the rollout (`elastic.training.rollout`), the loss mask of the forced delimiter (`env_mask`), the reward's
traces and verdicts, the group advantages (TRL adds 1e-4 to the standard deviation, E1 1e-6), the figures and the
preflight. What is TRL's: batching, log-probabilities, loss, optimisation, checkpoints.

Facts of TRL 1.16 that this file leans on, each held by a test: `rollout_func` receives every prompt `num_generations`
times and returns one completion an entry; extra lists reach the reward function by keyword; `env_mask` multiplies the
loss mask; `mask_truncated_completions` would drop every solution cut at s and stays off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedModel, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from elastic.answers.graders import Grader
from elastic.answers.verdict import Gold
from elastic.budget import Budget
from elastic.engines.transformers import TransformersEngine
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.rewards.correctness import correctness
from elastic.seeding import stream_seed
from elastic.trace import Trace
from elastic.training.advantages import group_advantages
from elastic.training.checkpoints import MarkComplete, checkpoint_step, newest_complete
from elastic.training.monitors import PreflightWatch, rollout_figures
from elastic.training.rollout import sample_rollouts, training_row
from elastic.training.steplog import StepLog

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

# "Unclipped" in TRL's terms: a bound that no ratio reaches.
_NO_CLIP = 1e9


@dataclass(frozen=True)
class Question:
    """A problem to train or to watch on."""

    problem_id: str
    question: str
    gold: Gold


@dataclass(frozen=True)
class Recipe:
    """How to train; see TrainParams and RoundParams for the meaning of each value."""

    budget: Budget
    steps: int
    learning_rate: float
    prompts: int
    samples: int
    minibatches: int
    micro_batch: int
    temperature: float
    clip_low: float
    clip_high: float
    kl: float
    loss: str
    advantage_eps: float
    warmup_steps: int
    max_grad_norm: float
    faithful: bool
    save_every: int
    seed: int


@dataclass(frozen=True)
class MonitorSlice:
    """A fixed slice that is generated every `every` steps at each of `budgets`."""

    every: int
    questions: Sequence[Question]
    budgets: Sequence[Budget]


@dataclass
class Trained:
    """What a run did."""

    resumed_from: int
    steps: int
    sampled_tokens: int


@dataclass
class _Batch:
    """The last generation batch of this process, handed from the reward function to the trainer and its callbacks."""

    traces: list[Trace] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    calls: int = 0


def loss_options(recipe: Recipe) -> dict[str, Any]:
    """TRL's arguments for the loss of a recipe; `faithful` switches clipping off, as the published code has it."""
    return {
        "loss_type": recipe.loss,
        "epsilon": _NO_CLIP if recipe.faithful else recipe.clip_low,
        "epsilon_high": _NO_CLIP if recipe.faithful else recipe.clip_high,
        "beta": recipe.kl,
        "temperature": recipe.temperature,
        "max_completion_length": recipe.budget.total + 1,
        "num_generations": recipe.samples,
        "mask_truncated_completions": False,
        "scale_rewards": "group",
    }


class BudgetedGRPOTrainer(GRPOTrainer):
    """GRPOTrainer whose advantages are `group_advantages` with the recipe's own eps."""

    def __init__(self, *args: Any, advantage_eps: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._advantage_eps = advantage_eps
        self._all_rewards: torch.Tensor | None = None

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        rewards = super()._calculate_rewards(*args, **kwargs)
        self._all_rewards = rewards[:, 0]
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        assert self._all_rewards is not None
        assert self.num_generations is not None
        advantages = group_advantages(self._all_rewards, self.num_generations, self._advantage_eps)
        start = self.accelerator.process_index * len(inputs)
        output["advantages"] = advantages[start : start + len(inputs)]
        return output


class _Watch(TrainerCallback):
    """Passes every step's figures to the tracker, runs the monitor slice and the preflight."""

    def __init__(
        self,
        batch: _Batch,
        track: Callable[[int, dict[str, Any]], None],
        preflight: PreflightWatch,
        monitor: Callable[[int], None],
        every: int,
        say: Callable[[str], None],
    ) -> None:
        self.batch, self.track, self.preflight, self.say = batch, track, preflight, say
        self.monitor, self.every = monitor, every

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == 0:
            self.monitor(0)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.batch.calls == 0:
            raise TrainingError(
                "the trainer never called the budgeted rollout",
                where="elastic/training/trl_adapter.py",
                remedy="this version of TRL ignores rollout_func: install the version in constraints.txt",
            )
        warning = self.preflight.observe(self.batch.figures, step=state.global_step)
        if warning:
            self.say(f"warning: {warning}")

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        logs = logs or {}
        if "loss" not in logs:
            return
        kept = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_ratio/region_mean")
        row = {key.partition("/")[0]: float(logs[key]) for key in kept if key in logs}
        self.track(state.global_step, {**self.batch.figures, **row})
        # Watched here, after the step's own row and before its checkpoint, so that a resumed log has no gap.
        if state.global_step % self.every == 0:
            self.monitor(state.global_step)


def train(
    model: PreTrainedModel,
    prompter: Prompter,
    markers: Markers,
    grader: Grader,
    questions: Sequence[Question],
    monitor: MonitorSlice,
    recipe: Recipe,
    *,
    preflight_steps: int,
    scratch: Path,
    batch_size: int,
    use_cpu: bool,
    say: Callable[[str], None] = print,
) -> Trained:
    """Train `model` in place; resumes exactly from the newest complete checkpoint in `scratch`.

    Args:
        model: the policy, loaded from a folder.
        prompter: renders questions.
        markers: delimiters.
        grader: gives the reward's verdicts.
        questions: training problems in their order.
        monitor: the slice that is watched.
        recipe: how to train.
        preflight_steps: first steps that must show a gradient.
        scratch: checkpoints and `metrics.jsonl`; survives a kill.
        batch_size: rows decoded together.
        use_cpu: keep off accelerators.
        say: prints a line.

    Raises:
        TrainingError: nothing can be learnt as configured.
    """
    engine = TransformersEngine(model, markers, batch_size=batch_size)
    conversations = [prompter.messages(question.question) for question in questions]
    rendered = {turns[-1]["content"]: prompter.render_messages(turns) for turns in conversations}
    batch = _Batch()
    checkpoint = newest_complete(scratch)
    start = checkpoint_step(checkpoint)
    log = StepLog(scratch / "metrics.jsonl", keep_until=start)

    def rollout(prompts: list[Any], trainer: GRPOTrainer) -> dict[str, Any]:
        first = trainer.accelerator.process_index * len(prompts)
        step = trainer.state.global_step
        ids = [rendered[prompt[-1]["content"]] for prompt in prompts]
        seeds = [stream_seed(recipe.seed, "rollout", step, first + row) for row in range(len(prompts))]
        batch.traces = sample_rollouts(engine, ids, seeds, recipe.budget, recipe.temperature)
        batch.calls += 1
        rows = [training_row(trace, markers.close_id, faithful=recipe.faithful) for trace in batch.traces]
        return {
            "prompt_ids": [list(prompt) for prompt in ids],
            "completion_ids": [row.completion_ids for row in rows],
            "logprobs": None,
            "env_mask": [row.loss_mask for row in rows],
            "trace": batch.traces,
        }

    def grade(traces: Sequence[Trace], golds: Sequence[Gold]) -> list[float | None]:
        solutions = [
            prompter.text(trace.solution_ids, markers) if trace.closed in ("natural", "forced") else None
            for trace in traces
        ]
        return [correctness(grade.verdict) for grade in grader.grade_many(solutions, golds)]

    def reward(trace: list[Trace], question: list[int], **_: Any) -> list[float | None]:
        rewards = grade(trace, [questions[index].gold for index in question])
        known = torch.tensor([float("nan") if value is None else value for value in rewards])
        batch.figures = rollout_figures(trace, known, recipe.samples)
        return rewards

    def watch(step: int) -> None:
        for budget in monitor.budgets:
            seeds = [stream_seed(recipe.seed, "monitor", question.problem_id) for question in monitor.questions]
            prompts = [prompter.render(question.question) for question in monitor.questions]
            traces = sample_rollouts(engine, prompts, seeds, budget, recipe.temperature)
            rewards = [r for r in grade(traces, [question.gold for question in monitor.questions]) if r is not None]
            log.write(
                step,
                {
                    "monitor": str(budget),
                    "accuracy": sum(rewards) / max(len(rewards), 1),
                    "mean_think_tokens": sum(trace.n_think for trace in traces) / len(traces),
                    "mean_solution_tokens": sum(trace.n_solution for trace in traces) / len(traces),
                    "forced_share": sum(trace.closed == "forced" for trace in traces) / len(traces),
                    "monitor_tokens": sum(trace.n_sampled for trace in traces),
                },
            )

    def track(step: int, figures: dict[str, Any]) -> None:
        log.write(step, figures)
        batch.figures["sampled_tokens"] = 0.0  # drawn once, however many minibatches train on them
        say(
            f"step {step}/{recipe.steps}  reward {figures['reward']:.3f}  thinking {figures['think_tokens']:.1f}  "
            f"solution {figures['solution_tokens']:.1f}  forced {figures['forced_share']:.0%}"
        )

    rollouts = recipe.prompts * recipe.samples
    options: dict[str, Any] = {
        **loss_options(recipe),
        "output_dir": str(scratch),
        "max_steps": recipe.steps,
        "per_device_train_batch_size": recipe.micro_batch,
        "gradient_accumulation_steps": rollouts // recipe.minibatches // recipe.micro_batch,
        "steps_per_generation": rollouts // recipe.micro_batch,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": "constant_with_warmup",
        "warmup_steps": recipe.warmup_steps,
        "max_grad_norm": recipe.max_grad_norm,
        "shuffle_dataset": False,
        "remove_unused_columns": False,
        "bf16": False,
        "gradient_checkpointing": False,
        "use_cpu": use_cpu,
        "dataloader_pin_memory": not use_cpu,
        "save_steps": recipe.save_every,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": recipe.seed,
    }
    trainer = BudgetedGRPOTrainer(
        model=model,
        reward_funcs=reward,
        args=GRPOConfig(**options),
        train_dataset=Dataset.from_list(
            [{"prompt": turns, "question": index} for index, turns in enumerate(conversations)]
        ),
        processing_class=prompter.tokenizer,
        rollout_func=rollout,
        advantage_eps=recipe.advantage_eps,
        callbacks=[
            MarkComplete(),
            _Watch(batch, track, PreflightWatch(preflight_steps), watch, monitor.every, say),
        ],
    )
    trainer.remove_callback(PrinterCallback)  # `say` has a line a step
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    model.eval()
    return Trained(resumed_from=start, steps=int(trainer.state.global_step), sampled_tokens=log.sampled_tokens())
