"""Figures of a version of the data, and how far the present version is from the one that was accepted last."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class FrameFigures(BaseModel):
    """Figures of one frame.

    Attributes:
        rows: how many.
        means: of numeric figures of a row, by name; empty for a frame without rows.
        shares: of a row's values, by name and value; each adds up to 1, and is empty for a frame without rows.
    """

    model_config = ConfigDict(extra="forbid")

    rows: int
    means: dict[str, float]
    shares: dict[str, dict[str, float]]


class Distribution(BaseModel):
    """What data/accepted/PROFILE/GATE.json holds, in git, and nothing but figures: no text of a problem.

    Attributes:
        gate: whose data it is of.
        frames: figures by frame.
    """

    model_config = ConfigDict(extra="forbid")

    gate: str
    frames: dict[str, FrameFigures]


class DriftResult(BaseModel):
    """What a check stage found against the accepted version, whether its gate held or not.

    Attributes:
        profile: of the params; each has accepted versions of its own.
        accepted: the file that holds the accepted version's figures; None where there is none yet, so that nothing
            could be compared.
        expectations: the bounds on the distance, as in GateResult, each with `note` (then and now) and `held`.
        present: figures of the data that the gate looked at; `elastic accept` makes them the accepted ones.
    """

    model_config = ConfigDict(extra="forbid")

    profile: str
    accepted: str | None
    expectations: list[dict[str, Any]]
    present: Distribution
