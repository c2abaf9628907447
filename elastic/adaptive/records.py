"""What a comparison of adaptive budgets found, as a report shows it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Gain(_Record):
    """A paired difference of accuracies and its interval."""

    difference: float
    low: float
    high: float


class PolicyRow(_Record):
    """One policy under one allowance.

    Attributes:
        cost, shape: what the allowance counts, and which budgets may be given.
        policy: `uniform`, `blind`, a predictor's name, or `oracle`.
        allowance: mean tokens a problem.
        accuracy, low, high: mean over problems and its interval.
        over_uniform, over_blind: policy minus control; None for the controls.
        allowed, used: mean tokens a problem, probes included.
        probes: mean tokens a problem that probing cost, in what the allowance counts.
        gap: what a better choice of budgets could at most add to the predicted accuracy.
        n_problems: problems measured.
    """

    cost: str
    shape: str
    policy: str
    allowance: float
    accuracy: float
    low: float
    high: float
    over_uniform: Gain | None = None
    over_blind: Gain | None = None
    allowed: float
    used: float
    probes: float
    gap: float
    n_problems: int


class PolicySummary(_Record):
    """A policy over the allowances.

    Attributes:
        paid: the allowances that it could pay.
        over_uniform, over_blind: policy minus control, each problem averaged over the paid allowances; None if
            none was.
        unpriced: of a probing policy, what `over_blind` would be over all allowances if probes cost nothing; None for
            others.
        skill: share of the squared error of the mean validation curve that the prediction removes, on the evaluated
            problems; 0 where it knows no more than the mean, below 0 where it knows less.
        confidence: of each interval, such that the predictors' gains over both controls hold together.
    """

    cost: str
    shape: str
    policy: str
    paid: list[float]
    over_uniform: Gain | None
    over_blind: Gain | None
    unpriced: Gain | None
    skill: float
    confidence: float


class Comparison(_Record):
    """Rows by shape, the controls first, and what held over the allowances.

    A policy has no row at an allowance that does not pay its probes and the cheapest budgets.
    """

    rows: list[PolicyRow]
    summaries: list[PolicySummary]
