"""r = 1[correct] * 1[L <= L_T], with L_T the running q-quantile of the lengths of correct responses.

The Art of Efficient Reasoning (arXiv 2602.20945) tries the 0.9-quantile as an adaptive target and reports an unstable
KL: this is a published negative result, kept so that it can be seen. What it leaves open is ours: the quantile is taken
over the latest `window` correct responses, as the smallest of their lengths that a share of at least q does not exceed;
wrong responses, whose length says nothing about what an answer needs, are left out. Before any, L_T is `start_target`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar

from pydantic import Field

from elastic.contracts.params.common import Count, Natural
from elastic.rewards.protocol import Rollout, State, StatefulReward
from elastic.rewards.truncation import within


class QuantileState(State):
    """The latest lengths of correct responses, oldest first."""

    lengths: tuple[Natural, ...] = ()


class TruncationQuantileReward(StatefulReward[QuantileState]):
    """Truncation at a target that follows the policy.

    Attributes:
        start_target: L_T until the first correct response.
        window: how many correct responses are remembered.
        quantile: q.
    """

    state_type: ClassVar[type[State]] = QuantileState

    start_target: Count
    window: Count
    quantile: Annotated[float, Field(gt=0, le=1)] = 0.9

    def start(self) -> QuantileState:
        """Nothing remembered."""
        return QuantileState()

    def update(self, state: QuantileState, groups: Sequence[Sequence[Rollout]]) -> QuantileState:
        """Remember the correct responses of a batch."""
        seen = [rollout.tokens for group in groups for rollout in group if rollout.correct]
        return QuantileState(lengths=(*state.lengths, *seen)[-self.window :])

    def target(self, state: QuantileState) -> int:
        """L_T."""
        if not state.lengths:
            return self.start_target
        # The decimal as it was written, so that 0.9 of 10 lengths is 9 of them and not a rounding above.
        rank = ceil(Fraction(str(self.quantile)) * len(state.lengths))
        return sorted(state.lengths)[rank - 1]

    def _score(self, graded: Sequence[Rollout], state: QuantileState) -> list[float]:
        target = self.target(state)
        return [within(rollout, target) for rollout in graded]
