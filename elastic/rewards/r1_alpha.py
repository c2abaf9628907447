"""r = 1[correct] * (1 - a * sigmoid((L - mean) / (std + 1e-7))), mean and std over correct responses to the problem.

R1-Alpha: Training Language Models to Reason Efficiently, Arora and Zanette (public code at e3611e4). A response without
EOS counts as wrong and enters no statistic. Published with RLOO; a from 0.1 (its script) to larger values for shorter
answers. The paper writes no epsilon. The code takes the standard deviation of numpy, which divides by the number of
responses and not by one less; so does this. It measures length by encoding the decoded text again; here it is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from typing import Annotated, ClassVar

from pydantic import Field

from elastic.rewards.protocol import Reward, Rollout

_EPS = 1e-7  # of the published code: keeps a group of equal lengths from dividing by 0


class R1AlphaReward(Reward):
    """R1-Alpha.

    Attributes:
        alpha: a; 0 is correctness alone, which has a file of its own.
    """

    estimator: ClassVar[str] = "rloo"

    alpha: Annotated[float, Field(gt=0, le=1)]

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        lengths = [rollout.tokens for rollout in graded if _counts(rollout)]
        mean = sum(lengths) / max(len(lengths), 1)
        std = sqrt(sum((length - mean) ** 2 for length in lengths) / max(len(lengths), 1))
        return [
            1 - self.alpha * _sigmoid((rollout.tokens - mean) / (std + _EPS)) if _counts(rollout) else 0.0
            for rollout in graded
        ]


def _counts(rollout: Rollout) -> bool:
    return rollout.correct and rollout.finish == "eos"


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))
