"""Train one round: GRPO under a recipe, from a model in memory to the same model, trained.

Resuming is exact: the model, the optimiser and the random state come from the newest complete checkpoint, the reward's
state from the file beside it, the log is cut there, and rollouts draw from streams that depend on the step alone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from datasets import Dataset
from transformers import PreTrainedModel, PrinterCallback, TrainerCallback

from elastic.answers.graders import Grader
from elastic.engines.protocol import Engine
from elastic.engines.transformers import TransformersEngine
from elastic.errors import TrainingError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.rewards.protocol import load_reward
from elastic.training.advantages import load_estimator
from elastic.training.alerts import CollapseWatch
from elastic.training.callbacks import Watch
from elastic.training.checkpoints import MarkComplete, checkpoint_step, newest_complete, saved_reward_state
from elastic.training.groups import GroupSampler, Question, RewardMemory
from elastic.training.lora import adapt, load_weights, merge
from elastic.training.monitor_slice import MonitorSlice, monitor_watcher
from elastic.training.monitors import PreflightWatch
from elastic.training.phases import turning_step
from elastic.training.recipe import Recipe
from elastic.training.schedules import check_schedule
from elastic.training.sharding import check_sharding, whole_state, whole_weights
from elastic.training.steplog import StepLog
from elastic.training.trl_adapter import Batch, GroupedGRPOTrainer, reward_of, rollout_function, trainer_options


@dataclass
class Trained:
    """What a run did.

    Attributes:
        resumed_from: the step it resumed after.
        steps: its last step.
        kept: the step whose model was kept.
        sampled_tokens: of rollouts and monitors.
        ended_by: why it ended before its last step, None if it did not.
        alerts: signs of a collapse.
        turning_step: where the length of responses turned from falling to steady, if it did.
        weights: all weights of a model that is sharded over processes; None where the model itself holds them.
    """

    resumed_from: int
    steps: int
    kept: int
    sampled_tokens: int
    ended_by: str | None
    alerts: list[str]
    turning_step: int | None
    weights: dict[str, torch.Tensor] | None = field(default=None, repr=False)


def _processes(recipe: Recipe) -> int:
    """How many processes train together.

    Raises:
        TrainingError: groups would be split over processes, or the engine knows one process only.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count > 1 and recipe.engine == "vllm":
        raise TrainingError(
            f"{count} processes were started, and rollouts through vLLM run in one",
            where="train.engine",
            remedy="start a single process, or set train.engine to transformers",
        )
    if recipe.prompts % count or (recipe.prompts * recipe.samples // recipe.minibatches) % (recipe.micro_batch * count):
        valid = [n for n in range(1, recipe.prompts + 1) if recipe.prompts % n == 0]
        raise TrainingError(
            f"{recipe.prompts} problems a step in micro-batches of {recipe.micro_batch} cannot be shared by {count} "
            "processes without splitting a group",
            where="train.prompts, train.micro_batch",
            remedy=f"start one of {', '.join(map(str, valid))} processes, and lower train.micro_batch accordingly",
        )
    return count


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
    make_engine: Callable[[PreTrainedModel], Engine] | None = None,
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
        make_engine: what samples the rollouts of the policy; the transformers engine by default. One that is a callback
            too is told of every step.

    Raises:
        TrainingError: nothing can be learnt as configured, or memory or disk ran out.
        ParamsError: the recipe's reward, estimator or schedule are impossible.
    """
    check_schedule(recipe.schedule, recipe.budget, recipe.samples)
    processes = _processes(recipe)
    state = PartialState(cpu=use_cpu)
    with state.main_process_first():  # the first one clears away what a kill left half written
        checkpoint = newest_complete(scratch)
    start = checkpoint_step(checkpoint)
    log = StepLog(scratch / f"metrics{state.process_index or ''}.jsonl", keep_until=start)
    reward = load_reward(recipe.reward.name, recipe.reward.hyperparameters)
    memory = RewardMemory(reward, saved_reward_state(checkpoint))
    policy: Any = adapt(model, recipe.lora) if recipe.lora else model
    engine = make_engine(policy) if make_engine else TransformersEngine(policy, markers, batch_size=batch_size)
    sampler = GroupSampler(engine, prompter, markers, grader, memory, recipe)
    batch = Batch()
    sample_slice = monitor_watcher(sampler, monitor, recipe, log)

    def look(step: int) -> None:
        with whole_weights(trainer):
            sample_slice(step)

    collapse = CollapseWatch(recipe.alerts)
    watch = Watch(
        batch=batch,
        log=log,
        preflight=PreflightWatch(preflight_steps),
        collapse=collapse,
        ceiling=recipe.ceiling,
        stop_on_alert=recipe.alerts.stop,
        monitor=look,
        every=monitor.every,
        steps=recipe.steps,
        say=say,
    )
    for row in log.rows():
        if "monitor" not in row and "alert" not in row:
            collapse.observe(row)
        elif "alert" in row:
            watch.ending.alerts.append(f"step {row['step']}: {row['alert']}")
    best = BestCheckpoint(log, str(recipe.budget)) if recipe.keep == "best" else None
    trainer = GroupedGRPOTrainer(
        model=policy,
        reward_funcs=reward_of,
        args=trainer_options(recipe, processes=processes, use_cpu=use_cpu, folder=str(scratch)),
        train_dataset=Dataset.from_list([{"prompt": prompter.messages(question.question)} for question in questions]),
        processing_class=prompter.tokenizer,
        rollout_func=rollout_function(sampler, questions, batch, recipe),
        batch=batch,
        estimator=load_estimator(recipe.estimator, recipe.advantage_eps),
        leave_out=recipe.leave_out,
        importance_cap=recipe.importance_cap,
        callbacks=[
            MarkComplete(memory.saved, best),
            watch,
            *([engine] if isinstance(engine, TrainerCallback) else []),
        ],
    )
    check_sharding(trainer.accelerator, recipe)
    trainer.remove_callback(PrinterCallback)  # `say` has a line a step
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except Exception as error:
        if exhausted := _exhausted(error):
            raise exhausted from error
        raise
    last = kept = int(trainer.state.global_step)
    if best is not None and (step := best.step()) is not None and step != last:
        load_weights(policy, scratch / f"checkpoint-{step}")
        kept = step
    if recipe.lora:
        merge(policy)
    model.eval()
    state.wait_for_everyone()  # the first process removes the scratch folder that all of them read
    rows = [row for row in log.rows() if "think_tokens" in row]
    return Trained(
        resumed_from=start,
        steps=last,
        kept=kept,
        sampled_tokens=log.sampled_tokens,
        ended_by=watch.ending.ended_by,
        alerts=watch.ending.alerts,
        turning_step=turning_step(
            [row["step"] for row in rows], [row["think_tokens"] + row["solution_tokens"] for row in rows]
        ),
        weights=whole_state(trainer),
    )


class BestCheckpoint:
    """The step whose checkpoint has the best accuracy on the monitor slice at one budget, the earliest of equals."""

    def __init__(self, log: StepLog, budget: str) -> None:
        self.log, self.budget = log, budget

    def step(self) -> int | None:
        """The step, or None before the first look at a checkpoint."""
        looks = [row for row in self.log.rows() if row.get("monitor") == self.budget and row["step"] > 0]
        return max(looks, key=lambda row: (row["accuracy"], -row["step"]))["step"] if looks else None


def _exhausted(error: Exception) -> TrainingError | None:
    """What to tell the user if the machine ran out of something; torch and safetensors say so in words only."""
    text = str(error)
    no_memory = isinstance(error, MemoryError | torch.OutOfMemoryError) or "DefaultCPUAllocator" in text
    full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    if no_memory:
        what, lower = "memory", "lower train.micro_batch, or train.prompts and train.samples"
    elif full or "No space left" in text or "inline_container" in text:
        what, lower = "disk space", "make room on the disk of .scratch"
    else:
        return None
    return TrainingError(
        f"the machine ran out of {what}: {text.splitlines()[0] if text else type(error).__name__}",
        where="train",
        remedy=f"{lower}, then run the same command again: it goes on after the last complete checkpoint",
    )
