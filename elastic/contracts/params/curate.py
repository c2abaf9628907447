"""Params of the stage curate: how the splits are cut."""

from __future__ import annotations

from pydantic import model_validator

from elastic.contracts.params.common import Count, Share, Strict


class CurateParams(Strict):
    """Splits are cut by a hash of the normalised problem, so a problem never changes its split.

    Attributes:
        held_out_share: share of all problems that no teaching or training may ever see; validation and test are drawn
            from it.
        training_share: share of the other problems kept for reinforcement learning; teaching gets the rest.
        validation: problems of the validation split.
        test: problems of the test split.
        training: most problems of the training split.
        teaching: most demonstrations of the teaching split (0 when the base comes from a hub).
    """

    held_out_share: Share
    training_share: Share
    validation: Count
    test: Count
    training: Count
    teaching: int

    @model_validator(mode="after")
    def _room(self) -> CurateParams:
        if not 0 < self.held_out_share < 1:
            raise ValueError("held_out_share must lie between 0 and 1, both excluded")
        if self.teaching < 0:
            raise ValueError("teaching must be 0 or more")
        return self
