"""r = 1[correct] - a * |n_gold - L|, with n_gold the length that the prompt asked for.

L1-Exact (LCPO; public code at 93dd330): a = 0.0003 per token, n_gold from U(100, 4000), prompt suffix "Think for N
tokens.". L is the whole response, thinking and solution (L1 issue 23), though the prompt says "think". Every response
pays, wrong ones too; a form with the length term alone keeps to its length and loses its accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastic.contracts.params.common import Positive
from elastic.rewards.protocol import Reward, Rollout


class L1ExactReward(Reward):
    """L1-Exact.

    Attributes:
        alpha: a, the price of a token too many or too few.
    """

    needs: ClassVar[tuple[str, ...]] = ("target_tokens",)

    alpha: Positive

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [r.correct - self.alpha * abs(asked(r) - r.tokens) for r in graded]


def asked(rollout: Rollout) -> int:
    """n_gold; a rollout whose prompt asked for no length breaks the contract of `needs`."""
    assert rollout.target_tokens is not None
    return rollout.target_tokens
