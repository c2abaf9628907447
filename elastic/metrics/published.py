"""Our figure beside a published one: it agrees, is above, is below, or is not comparable, and why.

Published figures come without intervals. For a share over a known number of problems, its uncertainty is that of a
binomial over the problems (Wilson's interval), and that of the difference follows from both intervals (Newcombe 1998,
Statistics in Medicine 17:873, method 10). Both take the problems as drawn at random, although they are the same ones;
the difference is therefore less certain here than it is, and "agrees" only says that these figures do not tell the two
apart. Any other published figure is taken as exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from scipy.stats import norm

from elastic.budget import Budget
from elastic.contracts.evaluation_records import EvaluationRecord, SummaryRow
from elastic.contracts.reference import Measure, Published, ShareMeasure
from elastic.metrics.intervals import Interval

Verdict = Literal["agrees", "above", "below", "not comparable"]
_LENGTHS = ("tokens", "early_stop_tokens_change")


@dataclass(frozen=True)
class Measured:
    """A figure of ours with what decides whether it may be compared.

    Attributes:
        measure: what it is.
        interval: its mean and interval over problems, in the measure's unit.
        model: by the name that published figures call it; that a checkpoint is that model is for its user to say.
        problems: name of the set, as in data/sources; `n_problems` of it were graded.
        budget, limit: separate budgets, or the limit of a whole response.
        setting: what else it was measured under; empty for separate budgets and for no budget.
        samples, temperature, top_p: of sampling.
    """

    measure: Measure
    interval: Interval
    model: str
    problems: str
    n_problems: int
    budget: Budget | None
    limit: int | None
    setting: str
    samples: int
    temperature: float
    top_p: float


@dataclass(frozen=True)
class Compared:
    """A figure of ours and a published one.

    Attributes:
        ours, published: the two.
        verdict: of the difference, unless it means nothing.
        difference: ours minus the published one, with its interval; None where they are not comparable.
        reasons: why they are not comparable.
        notes: what the difference rests on, and what is known against the published figure.
    """

    ours: Measured
    published: Published
    verdict: Verdict
    difference: Interval | None
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def measured(row: SummaryRow, record: EvaluationRecord, *, model: str, problems: str) -> list[Measured]:
    """Accuracy and majority vote of a row of an evaluation.

    Args:
        row: of the evaluation's summary.
        record: of the evaluation.
        model: what published figures call the model.
        problems: what they call the problems: the name of a source, not of a benchmark.
    """
    plain = row.method in ("separate", "unconstrained")
    budget = Budget(row.think, row.solution) if row.think is not None and row.solution is not None else None
    figures: list[tuple[Measure, Interval]] = [
        ("accuracy", Interval(row.accuracy, row.ci_low, row.ci_high)),
        ("majority", Interval(row.majority, row.majority_low, row.majority_high)),
    ]
    return [
        Measured(
            measure=measure,
            interval=interval,
            model=model,
            problems=problems,
            n_problems=row.n_problems,
            budget=budget,
            limit=row.limit,
            setting="" if plain else f"{row.method} {row.setting}".strip(),
            samples=row.n_samples,
            temperature=record.protocol.temperature,
            top_p=record.protocol.top_p,
        )
        for measure, interval in figures
    ]


def compare(ours: Measured, published: Published, *, confidence: float) -> Compared:
    """Lay a figure of ours beside a published one.

    Args:
        ours: with its interval at `confidence`.
        published: a figure of a file of data/reference.
        confidence: of the interval of the difference.
    """
    reasons = _reasons(ours, published)
    if reasons:
        return Compared(ours, published, "not comparable", None, reasons, published.contradictions)
    theirs, note = _uncertainty(published, confidence)
    mean = ours.interval.mean - theirs.mean
    low = mean - math.hypot(ours.interval.mean - ours.interval.low, theirs.high - theirs.mean)
    high = mean + math.hypot(ours.interval.high - ours.interval.mean, theirs.mean - theirs.low)
    verdict: Verdict = "above" if low > 0 else "below" if high < 0 else "agrees"
    read_off = ("the published figure was read off a plot",) if published.confidence == "figure" else ()
    others = ("the published figure is as others report it",) if published.confidence == "notes" else ()
    notes = (note, *read_off, *others, *published.contradictions)
    return Compared(ours, published, verdict, Interval(mean, low, high), (), notes)


def _reasons(ours: Measured, published: Published) -> tuple[str, ...]:
    """Everything that keeps the two apart."""
    protocol = published.protocol
    reasons = []
    if ours.measure != published.measure:
        reasons.append(f"another measure: {ours.measure} here, {published.measure} there")
    if ours.problems != published.problems:
        reasons.append(f"other problems: {ours.problems} here, {published.problems or 'several sets'} there")
    elif published.n_problems is not None and ours.n_problems != published.n_problems:
        reasons.append(f"{ours.n_problems} problems were graded here, {published.n_problems} there")
    if ours.model != published.model:
        reasons.append(f"another model: {ours.model} here, {published.model} there")
    if (ours.budget, ours.limit) != (published.budget, published.limit):
        reasons.append(f"another budget: {_limits(ours)} here, {_limits(published)} there")
    if ours.setting != published.setting:
        reasons.append(f"another setting: {ours.setting or 'none'} here, {published.setting or 'none'} there")
    if protocol.samples is None:
        reasons.append("how many samples stand behind the published figure is not stated")
    for name, here, there in (
        ("temperature", ours.temperature, protocol.temperature),
        ("top-p", ours.top_p, protocol.top_p),
    ):
        if there is None:
            reasons.append(f"the published {name} is not stated")
        elif here != there:
            reasons.append(f"another {name}: {here:g} here, {there:g} there")
    if ours.measure in _LENGTHS and protocol.tokens != "sampled":
        reasons.append(f"tokens are sampled ones without the free delimiter here; there: {protocol.tokens}")
    return tuple(reasons)


def _limits(figure: Measured | Published) -> str:
    if figure.budget:
        return str(figure.budget)
    return f"up to {figure.limit}" if figure.limit else "not stated"


def _uncertainty(published: Published, confidence: float) -> tuple[Interval, str]:
    """Wilson's interval of a published share, in the share's own place; and what was assumed, in words."""
    value, problems = published.value, published.n_problems
    if published.measure not in get_args(ShareMeasure) or problems is None or not 0 <= value <= 1:
        return Interval(value, value, value), "the published figure has no interval and is taken as exact"
    z = float(norm.ppf((1 + confidence) / 2))
    centre = (value + z**2 / (2 * problems)) / (1 + z**2 / problems)
    half = z / (1 + z**2 / problems) * math.sqrt(value * (1 - value) / problems + (z / (2 * problems)) ** 2)
    return (
        Interval(value, max(0.0, centre - half), min(1.0, centre + half)),
        f"the published figure's uncertainty is taken as that of a binomial over its {problems} problems",
    )
