"""Params of the block grading: which grader speaks where.

Two uses, two values: the reward must not move when the evaluation's grader is improved, or every such improvement
would train again.
"""

from __future__ import annotations

from typing import Literal

from elastic.contracts.params.common import Strict

GraderName = Literal["exact", "math", "code"]


class GradingParams(Strict):
    """Attributes:
    training: grader of rewards, monitors and pass rates.
    evaluation: grader of scores and of the check that every gold answer grades itself as correct.
    """

    training: GraderName
    evaluation: GraderName
