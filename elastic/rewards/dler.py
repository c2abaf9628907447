"""r = 1[correct] * 1[L <= L_T], the reward of `truncation.py`: what makes it DLER is how it is optimised.

DLER (arXiv 2510.15110; public code at ea7d4f7): plain truncation (L_T = 4000, which is also the rollout's limit) with
batch-wise instead of group-wise normalisation, clip 0.2 / 0.28, and dynamic sampling, which samples anew until every
group of the batch has rewards that differ. Without those three it is the truncation baseline that loses accuracy.
"""

from __future__ import annotations

from typing import ClassVar

from elastic.rewards.truncation import TruncationReward


class DlerReward(TruncationReward):
    """DLER; see `TruncationReward` for `target`."""

    estimator: ClassVar[str] = "reinforce_pp_baseline"
