"""r = 1[correct] * 1[L <= L_T]: an answer counts if the response is no longer than the target L_T.

The Art of Efficient Reasoning (arXiv 2602.20945), its main reward, with a rollout limit L_R of 16k and L_T = 4k; best
was L_R = L_T = 4k. Contradictions: the abstract first advised easy prompts and a later version (v3) a density of
positive rewards; Laser (arXiv 2505.15612), Table 2, writes the same baseline with a negative reward beyond L_T where
this one is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.params.common import Count
from elastic.rewards.protocol import Reward, Rollout


class TruncationReward(Reward):
    """Truncation at a fixed target.

    Attributes:
        target: L_T, in tokens of the whole response.
    """

    target: Count

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [within(rollout, self.target) for rollout in graded]


def within(rollout: Rollout, target: int) -> float:
    """1 for a correct response of at most `target` tokens, else 0."""
    return float(rollout.correct and rollout.tokens <= target)
