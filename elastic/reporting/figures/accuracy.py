"""Accuracy against tokens and budgets: the figures that carry the result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from elastic.contracts.records import GridRow
from elastic.metrics.log_linear import LogLinear
from elastic.reporting.comparisons import Paired
from elastic.reporting.figures.axes import POINTS, log_axis, percent_axis
from elastic.reporting.figures.style import (
    INK,
    METHOD_LINES,
    METHOD_MARKS,
    MUTED,
    PAPER,
    Drawing,
    house_style,
    legend,
    model_handles,
    palette,
    to_svg,
)

USED = "mean thinking + solution tokens used"
BUDGET = "thinking budget t"
_SIZE = (5.0, 3.7)

Curves = Mapping[str, Mapping[str, Sequence[GridRow]]]


def used(row: GridRow) -> float:
    """Mean tokens of both phases."""
    return row.mean_think_tokens + row.mean_solution_tokens


def _accuracy_axis(axes: Axes) -> None:
    percent_axis(axes)
    axes.set_ylabel("accuracy")


def _used_axis(axes: Axes, values: Sequence[float]) -> None:
    log_axis(axes, values)
    axes.set_xlabel(USED)


def _intervals(axes: Axes, xs: Sequence[float], rows: Sequence[GridRow], colour: str) -> None:
    axes.vlines(xs, [row.ci_low for row in rows], [row.ci_high for row in rows], color=colour, linewidth=2.4, alpha=0.3)


def _method_handle(method: str) -> Line2D:
    return Line2D(
        [],
        [],
        color=INK,
        linestyle=METHOD_LINES[method] if method != "unconstrained" else "none",
        marker=METHOD_MARKS[method],
        markerfacecolor=PAPER if method == "truncate" else INK,
        label=method,
    )


def accuracy_by_tokens(curves: Curves, confidence: float) -> Drawing:
    """Accuracy against the tokens used, every model under every method.

    Args:
        curves: rows by model and method, each by rising t.
        confidence: of the intervals.
    """
    colours = palette(list(curves))
    methods = list(next(iter(curves.values())))
    with house_style():
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        for model, by_method in curves.items():
            for method, rows in by_method.items():
                xs = [used(row) for row in rows]
                _intervals(axes, xs, rows, colours[model])
                axes.plot(
                    xs,
                    [row.accuracy for row in rows],
                    color=colours[model],
                    linestyle=METHOD_LINES[method],
                    marker=METHOD_MARKS[method],
                    markerfacecolor=PAPER if method == "truncate" else colours[model],
                    markersize=6 if method == "unconstrained" else 4.5,
                )
        _used_axis(axes, [used(row) for by in curves.values() for rows in by.values() for row in rows])
        _accuracy_axis(axes)
        legend(figure, model_handles(colours), [_method_handle(method) for method in methods])
        words = "; ".join(
            f"{model}, {method}: {_range([row.accuracy for row in rows])} at {_tokens(rows)}"
            for model, by_method in curves.items()
            for method, rows in by_method.items()
        )
        return to_svg(
            figure,
            "accuracy-by-tokens",
            f"Accuracy against {USED}, log axis, with {confidence:.0%} intervals. {words}.",
        )


def accuracy_by_budget(curves: Mapping[str, Sequence[GridRow]], trained: Mapping[str, int], s: int) -> Drawing:
    """Accuracy against the thinking budget, under separate budgets.

    Args:
        curves: rows by model, by rising t.
        trained: t that each round was trained at.
        s: the solution budget of every row.
    """
    colours = palette(list(curves))
    with house_style():
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        for model, rows in curves.items():
            xs = [row.think or 0 for row in rows]
            _intervals(axes, xs, rows, colours[model])
            axes.plot(xs, [row.accuracy for row in rows], color=colours[model], marker="o", markersize=4.5)
        for model, think in trained.items():
            axes.axvline(think, color=colours[model], linewidth=1, linestyle=METHOD_LINES["unconstrained"], zorder=0)
        axes.set_xlabel(BUDGET)
        axes.set_xticks(sorted({row.think or 0 for rows in curves.values() for row in rows}))
        _accuracy_axis(axes)
        legend(
            figure, model_handles(colours), [Line2D([], [], color=INK, linewidth=1, linestyle=":", label="trained at")]
        )
        words = "; ".join(f"{model} {_range([row.accuracy for row in rows])}" for model, rows in curves.items())
        return to_svg(
            figure, "accuracy-by-budget", f"Accuracy against {BUDGET} at s = {s}, from the smallest t on: {words}."
        )


def log_linear(curves: Mapping[str, Sequence[GridRow]], fits: Mapping[str, LogLinear | None]) -> Drawing:
    """Separate budgets with the fit accuracy = a + b ln(tokens) of each model."""
    colours = palette(list(curves))
    with house_style():
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        handles = []
        for model, rows in curves.items():
            xs = [used(row) for row in rows]
            axes.plot(xs, [row.accuracy for row in rows], "o", color=colours[model], markersize=5)
            label, fit = model, fits[model]
            if fit is not None:
                ends = [min(xs), max(xs)]
                axes.plot(ends, [fit.a + fit.b * math.log(x) for x in ends], color=colours[model], linewidth=1.4)
                label = f"{model}, R² {fit.r2:.2f}"
            handles.append(Line2D([], [], color=colours[model], marker="o", label=label))
        _used_axis(axes, [used(row) for rows in curves.values() for row in rows])
        _accuracy_axis(axes)
        legend(figure, handles)
        words = "; ".join(
            f"{model}: a = {fit.a:.3f}, b = {fit.b:.3f}, R² = {fit.r2:.2f}" if fit else f"{model}: no fit"
            for model, fit in fits.items()
        )
        return to_svg(figure, "log-linear", f"Accuracy against {USED}, log axis, with straight-line fits. {words}.")


def separate_minus_truncate(paired: Mapping[str, Sequence[Paired]], threshold: float) -> Drawing:
    """What separate budgets gain over plain truncation at equal totals, a point a model and budget.

    Args:
        paired: differences by model, by rising t; `unfinished` of each is set.
        threshold: share of unfinished truncation traces above which a point is filled.
    """
    colours = palette(list(paired))
    thinks = sorted({row.budget.think for rows in paired.values() for row in rows if row.budget})
    with house_style():
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color=MUTED, linewidth=1)
        width = 0.6 / max(len(paired), 1)
        for number, (model, rows) in enumerate(paired.items()):
            for row in rows:
                if row.budget is None:
                    continue
                x = thinks.index(row.budget.think) + (number - (len(paired) - 1) / 2) * width
                axes.vlines(x, row.low, row.high, color=colours[model], linewidth=2.4, alpha=0.4)
                face = colours[model] if (row.unfinished or 0) > threshold else PAPER
                axes.plot(x, row.difference, "o", color=colours[model], markerfacecolor=face, markersize=5)
        axes.set_xticks(range(len(thinks)), [str(think) for think in thinks])
        axes.set_xlabel(BUDGET)
        axes.yaxis.set_major_formatter(POINTS)
        axes.set_ylabel("separate − truncate, points")
        many, few = f"over {threshold:.0%} unfinished", "fewer"
        marks = [
            Line2D([], [], color=INK, marker="o", markerfacecolor=face, linestyle="none", label=label)
            for label, face in ((many, INK), (few, PAPER))
        ]
        legend(figure, model_handles(colours), marks)
        words = "; ".join(
            f"{model}: "
            + ", ".join(f"{100 * row.difference:+.1f} at t = {row.budget.think}" for row in rows if row.budget)
            for model, rows in paired.items()
        )
        return to_svg(
            figure,
            "separate-minus-truncate",
            f"Accuracy of separate budgets minus plain truncation at equal totals, in points, by {BUDGET}. {words}.",
        )


def _range(values: Sequence[float]) -> str:
    first, last = values[0], values[-1]
    return f"{first:.0%}" if len(values) == 1 else f"{first:.0%} to {last:.0%}"


def _tokens(rows: Sequence[GridRow]) -> str:
    first, last = used(rows[0]), used(rows[-1])
    return f"{first:.0f} tokens" if len(rows) == 1 else f"{first:.0f} to {last:.0f} tokens"
