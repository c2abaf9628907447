"""r = C + b * 1[correct and L <= L_T], with C = 1 correct, -1/2 wrong, -1 without an answer.

Laser (arXiv 2505.15612), equation 2 and Table 2, a step reward; b = 0.5; C as in its code (c9e7c4e), where a response
without a box or without its think delimiters scores -1. An EOS inside thinking is therefore -1 here, as published.
Departures: a timeout counts as wrong, an error leaves the group. Oddity of the code, without effect under GRPO: its
LengthyRewardManager writes each reward at the position of the last item's length.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.answers.verdict import Verdict
from elastic.contracts.params.common import Count, Positive
from elastic.rewards.protocol import Reward, Rollout


class LaserReward(Reward):
    """Laser with one fixed target.

    Attributes:
        target: L_T, in tokens of the whole response.
        bonus: b.
    """

    target: Count
    bonus: Positive = 0.5

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [step_reward(rollout, self.target, self.bonus) for rollout in graded]


def step_reward(rollout: Rollout, target: int, bonus: float) -> float:
    """C, and the bonus of a correct response of at most `target` tokens."""
    if rollout.correct:
        return 1 + bonus * (rollout.tokens <= target)
    return -1.0 if rollout.verdict is Verdict.NO_ANSWER else -0.5
