"""Params of the stage decide: the rule that promotes a round, on validation traces only."""

from __future__ import annotations

from elastic.contracts.params.common import Natural, Share, Strict


class DecideParams(Strict):
    """Attributes:
    min_gain: a round replaces the promoted model only if the lower bound of its paired gain in mean accuracy over
        the validation grid is above this.
    max_unconstrained_loss: and only if it loses at most this much accuracy without a budget.
    max_truncated_share: the solution budget is the smallest one at which at most this share of the base's closed
        unconstrained solutions would be cut.
    seed: of the bootstrap.
    """

    min_gain: Share
    max_unconstrained_loss: Share
    max_truncated_share: Share
    seed: Natural
