"""r = 1[correct]: the answer alone, with no length term.

Elastic Reasoning (E1), section 3.2: the budget alone makes the model brief. It is also the control of every other
recipe: correctness without a budget.
Departure: an error, which is a fault of ours, earns nothing and leaves its group instead of counting as wrong. An EOS
inside thinking is no answer and earns 0 (the published evaluation code grades what follows it, the training code does
not). DeepScaleR's documentation names -1 for a wrong answer; its trainer is given 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.answers.verdict import Verdict
from elastic.rewards.protocol import Reward, Rollout


def correctness(verdict: Verdict) -> float | None:
    """The reward of one rollout; None where it must be left out of its group."""
    return None if verdict is Verdict.ERROR else float(verdict is Verdict.CORRECT)


class CorrectnessReward(Reward):
    """Correctness; it has no hyperparameters."""

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [float(rollout.correct) for rollout in graded]
