"""r = 1[correct] * clip(a * (n_gold - L) + d, 0, 1), with n_gold the most tokens that the prompt allowed.

L1-Max (LCPO; public code at 93dd330): d = 0.5, so that a correct answer which is a little too long still beats a wrong
one; prompt suffix "Think for maximum N tokens."; L as in `l1_exact.py`.

Contradictions: the paper gives no a. The code multiplies by (clip(a' * (n_gold - L), -1, 1) + 1) / 2, which is this
formula with a = a' / 2 and d = 1/2, and by default adds it to the correctness instead of multiplying; its script for
Max sets no reward option at all, and the defaults give correctness alone. Trap: the reward is flat once |n_gold - L|
is over 1 / (2a): all shorter answers earn 1, all longer ones 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastic.contracts.params.common import Positive, Share
from elastic.rewards.l1_exact import asked
from elastic.rewards.protocol import Reward, Rollout


class L1MaxReward(Reward):
    """L1-Max.

    Attributes:
        alpha: a, per token.
        delta: d, the reward of a correct answer of exactly n_gold tokens.
    """

    needs: ClassVar[tuple[str, ...]] = ("target_tokens",)

    alpha: Positive
    delta: Share = 0.5

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [r.correct * min(1.0, max(0.0, self.alpha * (asked(r) - r.tokens) + self.delta)) for r in graded]
