"""The monitor slice: a few problems that are not trained on, sampled every n steps at a few budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elastic.budget import Budget
from elastic.rewards.protocol import Rollout
from elastic.seeding import stream_seed
from elastic.training.groups import GroupSampler, Question
from elastic.training.monitors import Scores, rollout_figures
from elastic.training.recipe import Recipe
from elastic.training.rollout import Wanted, roll_out
from elastic.training.schedules import Slot
from elastic.training.steplog import StepLog


@dataclass(frozen=True)
class MonitorSlice:
    """A fixed slice that is generated every `every` steps at each of `budgets`."""

    every: int
    questions: Sequence[Question]
    budgets: Sequence[Budget]


def monitor_watcher(
    sampler: GroupSampler, monitor: MonitorSlice, recipe: Recipe, log: StepLog
) -> Callable[[int], None]:
    """What looks at the slice at a step and logs a row a budget; a reward that learns from it sees whole groups."""

    def teach(step: int) -> int:
        """Let the reward learn; returns the tokens drawn for it."""

        def stream(row: int, attempt: int) -> int:
            return stream_seed(recipe.seed, "monitor groups", step, row, attempt)

        sampled = sampler.sample(monitor.questions, stream)
        sampler.memory.observe([group.rollouts for group in sampled.groups], where="monitor")
        return sampled.drawn

    def look(budget: Budget) -> dict[str, Any]:
        wanted = [
            Wanted(
                sampler.prompter.render(question.question),
                Slot(budget, 0),
                stream_seed(recipe.seed, "monitor", question.problem_id),
            )
            for question in monitor.questions
        ]
        rolled = roll_out(sampler.engine, wanted, recipe.temperature)
        verdicts = sampler.grade(rolled.traces, [question.gold for question in monitor.questions])
        figures = rollout_figures(
            [
                Scores([Rollout.of(trace, verdict)], [None], question.bucket)
                for trace, verdict, question in zip(rolled.traces, verdicts, monitor.questions, strict=True)
            ]
        )
        return {
            "monitor": str(budget),
            "accuracy": figures["accuracy"] or 0.0,
            "mean_think_tokens": figures["think_tokens"],
            "mean_solution_tokens": figures["solution_tokens"],
            "forced_share": figures["forced_share"],
            "monitor_tokens": rolled.drawn,
            **{name: value for name, value in figures.items() if name.startswith("accuracy_")},
        }

    def watch(step: int) -> None:
        learnt = teach(step) if sampler.memory.learns_from("monitor") else 0
        for budget in monitor.budgets:
            row = look(budget)
            row["monitor_tokens"] += learnt
            log.write(step, row)
            learnt = 0

    return watch
