"""r = 1[correct] + w * (lam if correct else min(0, lam)), lam = 1/2 - (L - L_min) / (L_max - L_min).

Kimi k1.5 (arXiv 2501.12599), section 2.3.3, length penalty: lam rewards the short among the correct and punishes the
long among the wrong. L_min and L_max are over all responses to the problem, wrong ones too; lam is 0 where they are
equal. Kimi gives no w: 0.4 is that of Laser's comparison (arXiv 2505.15612, code at c9e7c4e) and of The Art of
Efficient Reasoning (arXiv 2602.20945). Departures of those: Laser adds 1e-6 to the denominator, scores 1 / -0.5 / -1
instead of 1 / 0 (see `laser.py`) and gives lam to no response without a box.
Kimi optimises by policy mirror descent with the group mean as baseline; the comparisons use GRPO.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.params.common import Positive
from elastic.rewards.protocol import Reward, Rollout


class KimiReward(Reward):
    """Kimi 1.5.

    Attributes:
        weight: w.
    """

    weight: Positive = 0.4

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        lengths = [rollout.tokens for rollout in graded]
        shortest, span = min(lengths), max(lengths) - min(lengths)
        scores = []
        for rollout in graded:
            lam = 0.5 - (rollout.tokens - shortest) / span if span else 0.0
            scores.append(1 + self.weight * lam if rollout.correct else self.weight * min(0.0, lam))
        return scores
