"""Accuracy of adaptive budgets at equal allowance against the same budget for all, paired by problem.

Every policy is measured on answers that exist: a problem's accuracy under a plan is that of its answers at the budget
that the plan gives it. Controls know nothing of a problem (elastic/adaptive/uniform.py). Where the allowance counts
allowed tokens, a control is allowed as many. Where it counts used ones, which no plan meets exactly, a policy's
controls use as many as the policy really used, probes included. The policy `oracle` plans from the very outcomes it is
measured on: a bound that includes luck, not a policy that anyone can have.

An interval of a row stands for one comparison. A summary averages a policy over the allowances, and its intervals hold
for all predictors, shapes and both controls together (Bonferroni); oracle and unpriced probes are looks beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from elastic.adaptive.evidence import Observed, Probing, observe
from elastic.adaptive.outcomes import Curves, Outcomes
from elastic.adaptive.plan import Cost, plan, probe_price
from elastic.adaptive.predictor import Predictor, learnt_from
from elastic.adaptive.records import Comparison, Gain, PolicyRow, PolicySummary
from elastic.adaptive.shape import Shape
from elastic.adaptive.uniform import BLIND, UNIFORM, blind_shares
from elastic.errors import BudgetError, DataError
from elastic.metrics.intervals import Interval, mean_interval, paired_difference

ORACLE = "oracle"


@dataclass(frozen=True)
class _Policy:
    """A policy with its predictions of every view of the evaluated problems."""

    name: str
    probing: Probing | None
    views: list[Observed]
    predicted: list[Curves]


@dataclass(frozen=True)
class _Measured:
    """A policy under an allowance, by problem (accuracy is nan where nothing was graded) and on the whole."""

    accuracy: np.ndarray
    allowed: np.ndarray
    used: np.ndarray
    probes: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True)
class _Intervals:
    confidence: float
    resamples: int
    seed: int

    def mean(self, values: np.ndarray) -> Interval:
        kept = values[np.isfinite(values)]
        return mean_interval(kept, confidence=self.confidence, resamples=self.resamples, seed=self.seed)

    def gain(self, model: np.ndarray, control: np.ndarray) -> Gain:
        kept = np.isfinite(model)
        found = paired_difference(
            model[kept], control[kept], confidence=self.confidence, resamples=self.resamples, seed=self.seed
        )
        return Gain(difference=found.mean, low=found.low, high=found.high)


def compare(
    validation: Outcomes,
    evaluation: Outcomes,
    questions: Mapping[str, str],
    predictors: Sequence[Predictor],
    *,
    shapes: Sequence[Shape],
    allowances: Sequence[float],
    cost: Cost,
    confidence: float,
    resamples: int,
    seed: int,
) -> Comparison:
    """Measure every predictor, both controls and the oracle.

    Args:
        validation: what predictors learn from and controls are chosen on.
        evaluation: what is measured; on the same grid.
        questions: text by problem of both sets.
        predictors: each with a name of its own.
        shapes: which budgets may be given.
        allowances: mean tokens a problem.
        cost: what they count.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: the sets share problems or differ in their grids, or a name stands for two policies.
        BudgetError: an allowance does not pay the cheapest budget of a shape, or a shape has too few budgets.
    """
    _check(validation, evaluation, predictors)
    policies = [_predicted(predictor, validation, evaluation, questions) for predictor in predictors]
    truth = observe(evaluation, questions, None)
    policies.append(_Policy(ORACLE, None, truth, [view.curves for view in truth]))
    known = validation.curves()
    mean_curve = known.accuracy.mean(axis=0)
    summed_up = 2 * len(shapes) * max(len(predictors), 1)
    one = _Intervals(confidence, resamples, seed)
    all_together = _Intervals(1 - (1 - confidence) / summed_up, resamples, seed)

    rows: list[PolicyRow] = []
    summaries: list[PolicySummary] = []
    for shape in shapes:
        contest = _Contest(evaluation, mean_curve, shape, cost)
        for allowance in allowances:
            rows += [_row(contest, name, allowance, contest.control(allowance, name), one) for name in (UNIFORM, BLIND)]
        for policy in policies:
            paid = contest.measured(policy, allowances)
            rows += [_row(contest, policy.name, allowance, found, one) for allowance, found in paid.items()]
            unpriced = contest.measured(policy, allowances, priced=False) if policy.probing else {}
            summaries.append(
                PolicySummary(
                    cost=cost.value,
                    shape=shape.text,
                    policy=policy.name,
                    paid=list(paid),
                    over_uniform=_gain_over(contest, UNIFORM, paid, all_together),
                    over_blind=_gain_over(contest, BLIND, paid, all_together),
                    unpriced=_gain_over(contest, BLIND, unpriced, all_together),
                    skill=_skill(policy, mean_curve),
                    confidence=all_together.confidence,
                )
            )
    return Comparison(rows=rows, summaries=summaries)


class _Contest:
    """Policies and controls under one shape and one way to count; controls are chosen by the mean validation curve."""

    def __init__(self, evaluation: Outcomes, mean_curve: np.ndarray, shape: Shape, cost: Cost) -> None:
        self.shape, self.cost = shape, cost
        columns = shape.columns(evaluation.budgets)
        self._budgets = evaluation.budgets
        self._values = mean_curve[columns]
        self._totals = np.array([evaluation.budgets[place].total for place in columns], dtype=float)
        curves = evaluation.curves()
        self._accuracy, self._used = curves.accuracy[:, columns], curves.used[:, columns]

    def control(self, spent: float, name: str) -> _Measured:
        """A control that spends as much a problem; where used tokens count, at least what the cheapest budget uses."""
        costs = self._totals
        if self.cost is Cost.USED:
            costs = self._used.mean(axis=0)
            spent = max(spent, float(costs.min()))
        shares = blind_shares(self._values, costs, spent, name)
        allowed = np.full(len(self._accuracy), float(self._totals @ shares))
        return _Measured(self._accuracy @ shares, allowed, self._used @ shares)

    def spent(self, measured: _Measured, allowance: float) -> float:
        """What a policy's controls may spend."""
        return allowance if self.cost is Cost.ALLOWED else float(measured.used.mean())

    def measured(self, policy: _Policy, allowances: Sequence[float], *, priced: bool = True) -> dict[float, _Measured]:
        """A policy by allowance, without those that do not pay its probes and the cheapest budgets.

        Args:
            policy: what predicts.
            allowances: mean tokens a problem.
            priced: whether probes are paid, and count as spent.
        """
        found = {}
        for allowance in allowances:
            with suppress(BudgetError):
                found[allowance] = self._measure(policy, allowance, priced)
        return found

    def _measure(self, policy: _Policy, allowance: float, priced: bool) -> _Measured:
        """Plan every view under the allowance and average over views."""
        everyone = np.arange(len(self._accuracy))
        accuracy, allowed, used, probes, gaps = [], [], [], [], []
        for view, predicted in zip(policy.views, policy.predicted, strict=True):
            price = probe_price(view.asked, policy.probing, self.cost)
            found = plan(
                predicted,
                view.asked,
                self._budgets,
                probing=policy.probing,
                shape=self.shape,
                cost=self.cost,
                allowance=allowance if priced else allowance + price,
            )
            extra = policy.probing.allowed if policy.probing and priced else 0
            accuracy.append(view.curves.accuracy[everyone, found.columns])
            allowed.append([self._budgets[place].total + extra for place in found.columns])
            used.append(view.curves.used[everyone, found.columns] + (view.asked.probe_used if priced else 0))
            probes.append(price if priced else 0.0)
            gaps.append(found.gap)
        # A view whose answers at the chosen budget were all errors says nothing of that problem.
        counts = np.isfinite(accuracy).sum(axis=0)
        mean = np.divide(np.nansum(accuracy, axis=0), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
        return _Measured(
            mean, np.mean(allowed, axis=0), np.mean(used, axis=0), float(np.mean(probes)), float(np.max(gaps))
        )


def _row(contest: _Contest, name: str, allowance: float, measured: _Measured, intervals: _Intervals) -> PolicyRow:
    found = intervals.mean(measured.accuracy)
    spent = contest.spent(measured, allowance)
    over = (
        {}
        if name in (UNIFORM, BLIND)
        else {
            control: intervals.gain(measured.accuracy, contest.control(spent, control).accuracy)
            for control in (UNIFORM, BLIND)
        }
    )
    return PolicyRow(
        cost=contest.cost.value,
        shape=contest.shape.text,
        policy=name,
        allowance=allowance,
        accuracy=found.mean,
        low=found.low,
        high=found.high,
        over_uniform=over.get(UNIFORM),
        over_blind=over.get(BLIND),
        allowed=float(measured.allowed.mean()),
        used=float(measured.used.mean()),
        probes=measured.probes,
        gap=measured.gap,
        n_problems=int(np.isfinite(measured.accuracy).sum()),
    )


def _gain_over(
    contest: _Contest, control: str, measured: Mapping[float, _Measured], intervals: _Intervals
) -> Gain | None:
    """Policy minus control, each problem averaged over the allowances; None without any."""
    pairs = [
        (found.accuracy, contest.control(contest.spent(found, allowance), control).accuracy)
        for allowance, found in measured.items()
    ]
    return intervals.gain(*np.mean(pairs, axis=0)) if pairs else None


def _predicted(
    predictor: Predictor, validation: Outcomes, evaluation: Outcomes, questions: Mapping[str, str]
) -> _Policy:
    known = learnt_from(observe(validation, questions, predictor.probing), validation.budgets)
    forecast = predictor.fit(known)
    views = observe(evaluation, questions, predictor.probing)
    return _Policy(predictor.name, predictor.probing, views, [forecast(view.asked) for view in views])


def _skill(policy: _Policy, mean_curve: np.ndarray) -> float:
    found = np.concatenate([view.curves.accuracy for view in policy.views])
    missed = np.nansum((np.concatenate([curves.accuracy for curves in policy.predicted]) - found) ** 2)
    blind = np.nansum((mean_curve[None, :] - found) ** 2)
    return float(1 - missed / blind) if blind > 0 else 0.0


def _check(validation: Outcomes, evaluation: Outcomes, predictors: Sequence[Predictor]) -> None:
    if validation.budgets != evaluation.budgets:
        raise DataError(
            "validation and evaluation have different grids", remedy="read both at the budgets of common_budgets"
        )
    shared = set(validation.problem_ids) & set(evaluation.problem_ids)
    if shared:
        raise DataError(
            f"{len(shared)} problem(s) stand in validation and evaluation, {min(shared)} among them",
            remedy="learn from problems that are not evaluated",
        )
    names = [UNIFORM, BLIND, ORACLE, *(predictor.name for predictor in predictors)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataError(f"two policies are named {min(twice)}", remedy="give every predictor a name of its own")
