"""Groups: the rollouts of one problem with their verdicts and rewards, before any trainer sees them.

A group whose rewards are all equal has no advantage and teaches nothing. `resample` samples such groups anew, with
fresh random streams and a bound on the attempts (the dynamic sampling of DAPO and DLER, which draws other problems
instead and has no bound).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elastic.answers.graders import Grader
from elastic.answers.verdict import Gold, Verdict
from elastic.engines.protocol import Engine
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.rewards.protocol import Reward, Rollout, StatefulReward, all_equal
from elastic.seeding import stream_seed
from elastic.trace import Trace
from elastic.training.recipe import Recipe
from elastic.training.rollout import Wanted, roll_out
from elastic.training.schedules import group_slots, group_target


@dataclass(frozen=True)
class Question:
    """A problem to train or to watch on; `bucket` is its difficulty, where it was probed."""

    problem_id: str
    question: str
    gold: Gold
    bucket: str | None = None


@dataclass(frozen=True)
class Group:
    """The rollouts of one problem, K of them in every list.

    Attributes:
        question: the problem.
        traces, verdicts: what was sampled and what grading says.
        logprobs: of the tokens drawn for each trace, in the shape of Drawn; None where the policy drew.
        rollouts: what the reward sees.
        rewards: None where grading failed.
    """

    question: Question
    traces: list[Trace]
    logprobs: list[tuple[float, ...] | None]
    verdicts: list[Verdict]
    rollouts: list[Rollout]
    rewards: list[float | None]

    @property
    def equal(self) -> bool:
        """Whether all known rewards are the same, or none is known."""
        return all_equal(self.rewards)


@dataclass(frozen=True)
class Sampled:
    """Groups, the tokens drawn for them (attempts that were thrown away included), and how many were sampled anew."""

    groups: list[Group]
    drawn: int
    resampled: int


class RewardMemory:
    """A reward with its state, if it has one; the state is saved with each checkpoint."""

    def __init__(self, reward: Reward | StatefulReward[Any], saved: str | None = None) -> None:
        self.reward = reward
        self.state = None
        if isinstance(reward, StatefulReward):
            self.state = reward.state_type.from_json(saved) if saved else reward.start()

    def rewards(self, group: Sequence[Rollout]) -> list[float | None]:
        """The reward of each rollout of one problem."""
        if isinstance(self.reward, StatefulReward):
            return self.reward.rewards(group, self.state)
        return self.reward.rewards(group)

    def observe(self, groups: Sequence[Sequence[Rollout]], *, where: str) -> None:
        """Update the state from groups of `training` or `monitor` problems, if the reward learns from those."""
        if isinstance(self.reward, StatefulReward) and self.reward.observes == where:
            self.state = self.reward.update(self.state, groups)

    def learns_from(self, where: str) -> bool:
        """Whether `observe` with this `where` would change the state."""
        return isinstance(self.reward, StatefulReward) and self.reward.observes == where

    def saved(self) -> str | None:
        """The state as text."""
        return None if self.state is None else self.state.to_json()


class GroupSampler:
    """Samples, grades and rewards groups under a recipe.

    Args:
        engine: samples from the policy.
        prompter: renders questions.
        markers: delimiters.
        grader: gives verdicts.
        memory: the reward.
        recipe: schedule, target, samples, temperature, resampling and the seed.
    """

    def __init__(
        self,
        engine: Engine,
        prompter: Prompter,
        markers: Markers,
        grader: Grader,
        memory: RewardMemory,
        recipe: Recipe,
    ) -> None:
        self.engine, self.prompter, self.markers = engine, prompter, markers
        self.grader, self.memory, self.recipe = grader, memory, recipe

    def sample(self, questions: Sequence[Question], stream: Callable[[int, int], int]) -> Sampled:
        """One group a question; groups of equal rewards are sampled anew, `recipe.resample` times at most.

        Args:
            questions: one a group.
            stream: the random stream of the row (group * K + thinking) at an attempt.
        """
        found, drawn = self._attempt(questions, range(len(questions)), stream, 0)
        resampled = 0
        for attempt in range(1, self.recipe.resample + 1):
            again = [index for index, group in enumerate(found) if group.equal]
            if not again:
                break
            fresh, cost = self._attempt([questions[index] for index in again], again, stream, attempt)
            drawn, resampled = drawn + cost, resampled + len(again)
            for index, group in zip(again, fresh, strict=True):
                found[index] = group
        return Sampled(found, drawn, resampled)

    def _attempt(
        self, questions: Sequence[Question], places: Sequence[int], stream: Callable[[int, int], int], attempt: int
    ) -> tuple[list[Group], int]:
        recipe, wanted, targets = self.recipe, [], []
        for question, place in zip(questions, places, strict=True):
            first = place * recipe.samples
            drawn = stream_seed(stream(first, attempt), "schedule")
            target = group_target(recipe.target, stream_seed(drawn, "target")) if recipe.target else None
            slots = group_slots(recipe.schedule, recipe.budget, recipe.samples, stream=drawn, bucket=question.bucket)
            prompt = self.prompter.render(self.ask(question, target))
            wanted += [Wanted(prompt, slot, stream(first + slot.thinking, attempt)) for slot in slots]
            targets.append(target)
        rolled = roll_out(self.engine, wanted, recipe.temperature)
        verdicts = self.grade(rolled.traces, [question.gold for question in questions for _ in range(recipe.samples)])
        groups = []
        for index, (question, target) in enumerate(zip(questions, targets, strict=True)):
            part = slice(index * recipe.samples, (index + 1) * recipe.samples)
            traces, logprobs = rolled.traces[part], rolled.logprobs[part]
            rollouts = self._rollouts(question, target, traces, verdicts[part])
            rewards = self.memory.rewards(rollouts)
            groups.append(Group(question, traces, logprobs, verdicts[part], rollouts, rewards))
        return groups, rolled.drawn

    def ask(self, question: Question, target: int | None) -> str:
        """The question as the model is asked it, with the length that the prompt wants."""
        if target is None or self.recipe.target is None:
            return question.question
        return question.question + self.recipe.target.suffix.replace("{tokens}", str(target))

    def grade(self, traces: Sequence[Trace], golds: Sequence[Gold]) -> list[Verdict]:
        """One verdict a trace; one that never got as far as a solution has no answer."""
        solutions = [
            self.prompter.text(trace.solution_ids, self.markers) if trace.closed in ("natural", "forced") else None
            for trace in traces
        ]
        return [grade.verdict for grade in self.grader.grade_many(solutions, golds)]

    def _rollouts(
        self, question: Question, target: int | None, traces: list[Trace], verdicts: list[Verdict]
    ) -> list[Rollout]:
        needs = self.memory.reward.needs
        rollouts = []
        for trace, verdict in zip(traces, verdicts, strict=True):
            needed: dict[str, Any] = {"target_tokens": target}
            if "text" in needs:
                needed["text"] = self.prompter.text((*trace.think_ids, *trace.solution_ids), self.markers)
            if "question" in needs:
                needed["question"] = question.question
            rollouts.append(Rollout.of(trace, verdict, **needed))
        return rollouts
