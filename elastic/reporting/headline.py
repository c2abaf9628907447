"""The result in one sentence and a few figures: what a reader should know who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastic.budget import Budget
from elastic.contracts.records import GridRow
from elastic.reporting.comparisons import Paired, paired_tokens
from elastic.reporting.evidence import BASE, Evidence


@dataclass(frozen=True)
class Headline:
    """What the report opens with.

    Attributes:
        subject: the promoted round; the last round when the base stays.
        promoted: whether the subject is promoted.
        budget: where it is read: the measured budget nearest to the subject's training budget.
        gain: accuracy of the subject minus base at `budget`.
        subject_row, base_row: rows at `budget`.
        free_gain: accuracy of the subject minus base without budgets.
        free_tokens: mean tokens of the subject minus base without budgets.
        saved: share of the base's tokens that the subject saves without budgets.
        better, worse, compared: budgets at which the subject differs from base after the correction, of how many.
        sentence: the result.
    """

    subject: str
    promoted: bool
    budget: Budget
    gain: Paired
    subject_row: GridRow
    base_row: GridRow
    free_gain: Paired
    free_tokens: Paired
    saved: float
    better: int
    worse: int
    compared: int
    sentence: str


def build_headline(evidence: Evidence, rounds: Sequence[Paired]) -> Headline:
    """Read the result off the test split.

    Args:
        evidence: of the run.
        rounds: comparisons of every round with base, as `round_differences` makes them.
    """
    promoted = evidence.decision.promoted != BASE
    subject = evidence.decision.promoted if promoted else evidence.models[-1]
    budget = evidence.measured(subject)
    against_base = {row.budget: row for row in rounds if (row.model, row.control) == (subject, BASE)}
    gain = against_base[budget]
    subject_row, base_row = evidence.at(subject, budget), evidence.at(BASE, budget)
    free_base = evidence.unconstrained(BASE)
    free_tokens = paired_tokens(evidence, subject, BASE)
    budgeted = [row for row in against_base.values() if row.budget]
    return Headline(
        subject=subject,
        promoted=promoted,
        budget=budget,
        gain=gain,
        subject_row=subject_row,
        base_row=base_row,
        free_gain=against_base[None],
        free_tokens=free_tokens,
        saved=-free_tokens.difference / (free_base.mean_think_tokens + free_base.mean_solution_tokens),
        better=sum(bool(row.holds) and row.difference > 0 for row in budgeted),
        worse=sum(bool(row.holds) and row.difference < 0 for row in budgeted),
        compared=len(budgeted),
        sentence=_sentence(subject, promoted, budget, gain, subject_row, base_row),
    )


def _sentence(subject: str, promoted: bool, budget: Budget, gain: Paired, row: GridRow, base: GridRow) -> str:
    if not promoted:
        return f"No round replaces {BASE}: the rule, read on validation, promotes none."
    where = f"Within {budget.think} thinking tokens, {subject} solves {row.accuracy:.0%} of the test problems"
    if gain.low > 0:
        return f"{where}; {BASE} solves {base.accuracy:.0%}."
    if gain.high < 0:
        return f"{where}; {BASE} solves more, {base.accuracy:.0%}."
    return f"{where}, {BASE} {base.accuracy:.0%}: too close to tell apart."
