"""Params of the stage curate: how the splits are cut, and what is turned away."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from elastic.contracts.params.common import Count, Natural, Share, Strict


class CurateParams(Strict):
    """Splits are cut by a hash of the normalised problem, so a problem never changes its split.

    Attributes:
        held_out_share: share of all problems that no teaching or training may ever see; validation and test are drawn
            from it.
        training_share: share of the other problems kept for reinforcement learning; teaching gets the rest.
        validation: problems drawn for the validation split; benchmarks with that role stand in it besides.
        validation_from: role of the sources that they are drawn from.
        test: problems of sources with the role `any` drawn for the test split; benchmarks stand in it besides.
        training: most problems of the training split.
        teaching: most demonstrations of the teaching split (0 when the base comes from a hub).
        overlap_share: share of an evaluated question's runs of words above which a taught one overlaps with it.
        max_error_share: of golds whose check failed by a fault of the grader, above which the stage stops.
    """

    held_out_share: Share
    training_share: Share
    validation: Natural
    validation_from: Literal["any", "training"] = "any"
    test: Natural
    training: Count
    teaching: int
    overlap_share: Share = 0.5
    max_error_share: Share = 0.01

    @model_validator(mode="after")
    def _room(self) -> CurateParams:
        if not 0 < self.held_out_share < 1:
            raise ValueError("held_out_share must lie between 0 and 1, both excluded")
        if self.teaching < 0:
            raise ValueError("teaching must be 0 or more")
        return self
