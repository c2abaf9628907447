"""What is watched while a policy trains: figures of every step, and a preflight that stops hopeless runs early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastic.answers.verdict import Verdict
from elastic.errors import TrainingError
from elastic.rewards.protocol import Rollout, all_equal


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


@dataclass(frozen=True)
class Scores:
    """A group as it is counted: its rollouts, their rewards (None where grading failed), its difficulty bucket."""

    rollouts: Sequence[Rollout]
    rewards: Sequence[float | None]
    bucket: str | None = None


def _finished(rollout: Rollout) -> bool:
    return rollout.finish == "eos" and rollout.closed in ("natural", "forced")


def _truncated(rollout: Rollout) -> bool:
    return rollout.finish == "budget" and rollout.closed in ("natural", "forced")


def rollout_figures(groups: Sequence[Scores]) -> dict[str, float | None]:
    """Figures of one generation batch.

    Returns:
        Shares and mean token counts; None where no rollout is of that kind. `accuracy` is of graded rollouts, and
        `accuracy_BUCKET` the same by the difficulty of the problem.
    """
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    rewards = [reward for group in groups for reward in group.rewards if reward is not None]
    graded = [rollout for rollout in rollouts if rollout.verdict is not Verdict.ERROR]
    correct = [rollout for rollout in graded if rollout.correct]
    wrong = [rollout for rollout in graded if not rollout.correct]
    figures: dict[str, float | None] = {
        "reward": _mean(rewards),
        "accuracy": _mean([rollout.correct for rollout in graded]),
        "zero_variance_share": _mean([all_equal(group.rewards) for group in groups]),
        "forced_share": _mean([rollout.closed == "forced" for rollout in rollouts]),
        "natural_share": _mean([rollout.closed == "natural" for rollout in rollouts]),
        "eos_in_think_share": _mean([rollout.closed == "eos" for rollout in rollouts]),
        "truncated_solution_share": _mean([_truncated(rollout) for rollout in rollouts]),
        "finished_share": _mean([_finished(rollout) for rollout in rollouts]),
        "grading_error_share": 1 - len(graded) / max(len(rollouts), 1),
        "think_tokens": _mean([rollout.think_tokens for rollout in rollouts]),
        "solution_tokens": _mean([rollout.solution_tokens for rollout in rollouts]),
    }
    for name, chosen in (("correct", correct), ("wrong", wrong)):
        figures[f"think_tokens_{name}"] = _mean([rollout.think_tokens for rollout in chosen])
        figures[f"solution_tokens_{name}"] = _mean([rollout.solution_tokens for rollout in chosen])
    for bucket in sorted({group.bucket for group in groups if group.bucket}):
        of_bucket = [r for group in groups if group.bucket == bucket for r in group.rollouts]
        figures[f"accuracy_{bucket}"] = _mean([r.correct for r in of_bucket if r.verdict is not Verdict.ERROR])
    return figures


class PreflightWatch:
    """Stops a run that can teach nothing, within its first `steps` steps.

    It stops when no group's rewards ever differed (the gradient is then 0), or when no rollout ever ended its
    solution within s. Thinking that the model never closes itself only warns: it is E1's normal start.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._seen = 0
        self._varied = self._finished = self._closed = False

    def observe(self, figures: dict[str, float | None], *, step: int) -> str | None:
        """Take one step's figures; returns a warning to print, if there is one.

        Raises:
            TrainingError: the first `steps` steps taught nothing.
        """
        if self._seen >= self.steps or step > self.steps:
            return None
        self._seen += 1
        self._varied |= (figures["zero_variance_share"] or 0.0) < 1.0
        self._finished |= (figures["finished_share"] or 0.0) > 0.0
        self._closed |= (figures["natural_share"] or 0.0) > 0.0
        if self._seen < self.steps:
            return None
        if not self._finished:
            raise TrainingError(
                f"no rollout of the first {self.steps} steps ended its solution within s",
                where="rounds.*.budget",
                remedy="raise the solution budget above the length of the base's solutions (see the report of base)",
            )
        if not self._varied:
            raise TrainingError(
                f"the rewards of every group were equal in the first {self.steps} steps "
                f"(mean reward {figures['reward']}), so no group has an advantage and nothing can be learnt",
                where="train.samples, bucket.keep",
                remedy="train on problems that are solved sometimes but not always, raise samples or the budget, and "
                "look at a few rollouts: a reward that never fires often means that the answer format is wrong",
            )
        if not self._closed:
            return (
                f"no rollout of the first {self.steps} steps closed its thinking itself; that is usual when t* is "
                "small, and training goes on, but a base that never closes it at any length cannot answer without a "
                "budget (see its unconstrained row in the report)"
            )
        return None
