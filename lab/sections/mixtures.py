"""Accuracy and tokens as hard problems are mixed into easy ones (ALP, arXiv 2506.05256, figure of mixtures)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.metrics.allocation import sample_halves
from elastic.metrics.intervals import Interval
from elastic.metrics.mixtures import PUBLISHED, Design, MixtureCurve, mixture_curve
from elastic.metrics.problems import problem_means
from lab.analysis import Column, Entry, Panel, Plot, Section, Table
from lab.evidence import Evidence, cell
from lab.tables import entry, listed, series

POINTS = 7


def section(evidence: Evidence) -> Section:
    """The section."""
    params = evidence.params
    judged, _ = sample_halves(evidence.answers(evidence.base, "test").filter(pl.col("method") == "separate"))
    easier, harder = _halves(problem_means(judged))
    curves: dict[tuple[str, Design], MixtureCurve] = {}
    for model in evidence.models:
        _, measured = sample_halves(cell(evidence.answers(model, "test"), "unconstrained"))
        means = problem_means(measured)
        for design in PUBLISHED:
            curves[model, design] = mixture_curve(
                means.join(easier, on="problem_id", how="semi"),
                means.join(harder, on="problem_id", how="semi"),
                size=design.size,
                hard_counts=design.hard_counts(POINTS),
                **params.sampling,
            )
    return Section(
        key="mixtures",
        question="What do hard problems in the mix cost?",
        finding=_finding(evidence, curves),
        notes=[
            f"The easier and the harder half of the test problems by {evidence.base}'s solve rate over its grid of "
            "budgets stand in for MATH and AIME: 0 to 12% hard problems in sets of 500, 0 to 60% in sets of 100, "
            "without a budget. One half of the samples says which problems are hard, the other is measured. Nothing is "
            "sampled anew; a pool smaller than a set needs is drawn from with replacement.",
            "Published: with 0 to 60% of AIME, ALP's accuracy goes from 0.89 to 0.52 and its tokens from about 500 to "
            "2,200. The problems are others, so only the shape compares.",
        ],
        plots=[_plot(curves, "tokens"), _plot(curves, "accuracy")],
        tables=[_table(curves)],
    )


def _halves(means: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Problems of the easier and of the harder half, ties by id."""
    ordered = means.sort(["accuracy", "problem_id"], descending=[True, False]).select("problem_id")
    return ordered.head(len(ordered) // 2), ordered.slice(len(ordered) // 2)


def _finding(evidence: Evidence, curves: Mapping[tuple[str, Design], MixtureCurve]) -> str:
    design = PUBLISHED[-1]
    parts = []
    for model in evidence.models:
        first, last = curves[model, design].points[0], curves[model, design].points[-1]
        parts.append(
            f"{model} tokens from {first.tokens.mean:.1f} to {last.tokens.mean:.1f}{_apart(first.tokens, last.tokens)} "
            f"and accuracy from {first.accuracy.mean:.0%} to {last.accuracy.mean:.0%}"
            f"{_apart(first.accuracy, last.accuracy)}"
        )
    return f"From no hard problems to {design.most:.0%} of {design.size}: {'; '.join(parts)}."


def _apart(first: Interval, last: Interval) -> str:
    return "" if last.low > first.high or last.high < first.low else " (within the intervals)"


def _plot(curves: Mapping[tuple[str, Design], MixtureCurve], measure: str) -> Plot:
    panels = []
    for design in PUBLISHED:
        rows = [
            series(
                model,
                [100 * point.hard_share for point in curve.points],
                [entry(getattr(point, measure)) for point in curve.points],
            )
            for (model, of), curve in curves.items()
            if of == design
        ]
        panels.append(Panel(title=f"sets of {design.size}", series=rows))
    share = measure == "accuracy"
    return Plot(
        name=f"mixtures-{measure}",
        title="Accuracy by the share of hard problems." if share else "Tokens by the share of hard problems.",
        caption="Expectation over drawn sets, with intervals over problems.",
        x_label="hard problems, % of the set",
        y_label="accuracy" if share else "mean tokens used (thinking + solution)",
        y_unit="percent" if share else "number",
        panels=panels,
    )


def _table(curves: Mapping[tuple[str, Design], MixtureCurve]) -> Table:
    rows: list[list[Entry]] = []
    for (model, design), curve in curves.items():
        for point in curve.points:
            drawn = point.drawn_accuracy, point.drawn_tokens
            rows.append(
                [
                    model,
                    design.size,
                    point.hard_share,
                    *(entry(found) for found in (point.accuracy, point.tokens, *drawn)),
                    curve.easy_pool,
                    curve.hard_pool,
                    listed(curve.replaced) if curve.replaced else "none",
                ]
            )
    return Table(
        title="Every mixture",
        detail="over problems, and where one drawn set lies; how answers ended is in the first section",
        columns=[
            Column(name="model", unit="label"),
            Column(name="size", unit="count"),
            Column(name="hard", unit="share"),
            Column(name="accuracy", unit="share"),
            Column(name="tokens", unit="tokens"),
            Column(name="accuracy of a set", unit="share"),
            Column(name="tokens of a set", unit="tokens"),
            Column(name="easy problems", unit="count"),
            Column(name="hard problems", unit="count"),
            Column(name="pools drawn from with replacement", unit="text"),
        ],
        rows=rows,
        folded=True,
    )
