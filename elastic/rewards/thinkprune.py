"""r = 1[correct and finished within L]: as truncation, but a response that was cut at L earns nothing either.

ThinkPrune (its public code, commit 0f7449b): rollouts are cut at L and a response that has no final answer by then
earns 0. L shrinks over rounds, 4k to 3k to 2k, so a round has one L. The prompt names it: "The output of the assistant
should be within L tokens." The AMC figures of its paper were not reached by a user (ThinkPrune issue 5: 56 against
70.3); the formula is not in question.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.params.common import Count
from elastic.rewards.protocol import Reward, Rollout
from elastic.rewards.truncation import within


class ThinkpruneReward(Reward):
    """ThinkPrune in one round.

    Attributes:
        limit: L, in tokens of the whole response.
    """

    limit: Count

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [within(rollout, self.limit) * (rollout.finish == "eos") for rollout in graded]
