"""The figures of the comparison, one a question, in the house style of the main report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from compare.findings import Cell, Findings, Measure
from compare.params import BASE
from elastic.metrics.intervals import Interval
from elastic.reporting.figures.axes import POINTS, percent_axis
from elastic.reporting.figures.style import DASHED, INK, MUTED, OKABE_ITO, PAPER, Drawing, house_style, legend, to_svg

USED = "mean tokens of a response"
_COLUMNS = 4
_MARKS = ("o", "s", "^", "D", "v", "P")


def _curve(findings: Findings, recipe: str) -> tuple[list[float], list[Interval]]:
    """Mean tokens and accuracy under every budget, by rising t, without the unconstrained cell."""
    cells = [cell for cell in findings.cells if cell is not None]
    return (
        [float(findings.mean(recipe, "tokens", cell).mean()) for cell in cells],
        [findings.interval(recipe, "accuracy", cell) for cell in cells],
    )


def _draw(axes: Axes, findings: Findings, recipe: str, colour: str, line: object, *, full: bool) -> None:
    xs, rows = _curve(findings, recipe)
    free = float(findings.mean(recipe, "tokens", None).mean())
    reached = findings.interval(recipe, "accuracy", None)
    axes.plot(xs, [row.mean for row in rows], color=colour, linestyle=line, linewidth=1.6 if full else 1.1)
    axes.plot(
        free, reached.mean, "D", color=colour, markersize=5 if full else 3.5, markerfacecolor=colour if full else PAPER
    )
    if full:
        axes.vlines([*xs, free], [r.low for r in [*rows, reached]], [r.high for r in [*rows, reached]],
                    color=colour, linewidth=2.4, alpha=0.3)  # fmt: skip
        for cell in findings.cells:
            tokens, accuracy = (findings.each_seed(recipe, measure, cell) for measure in ("tokens", "accuracy"))
            axes.plot(tokens, accuracy, "o", color=colour, markersize=2.6)


def accuracy_by_tokens(findings: Findings, labels: Mapping[str, str], control: str) -> Drawing:
    """Accuracy against tokens used: a panel a recipe, beside the base and the control."""
    recipes = [recipe for recipe in labels if recipe not in (BASE, control)]
    rows = -(-len(recipes) // _COLUMNS)
    with house_style():
        figure = Figure(figsize=(10.4, 0.8 + 2.15 * rows), layout="constrained")
        grid = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
        for axes, recipe in zip(grid.flat, recipes, strict=False):
            _draw(axes, findings, BASE, MUTED, "-", full=False)
            _draw(axes, findings, control, OKABE_ITO["vermillion"], DASHED, full=False)
            _draw(axes, findings, recipe, OKABE_ITO["blue"], "-", full=True)
            axes.set_title(labels[recipe])
            percent_axis(axes, step=0.25)
        for axes in grid.flat[len(recipes) :]:
            axes.set_axis_off()
        figure.supxlabel(USED, fontsize=9.5)
        figure.supylabel("accuracy", fontsize=9.5)
        lines = [
            Line2D([], [], color=OKABE_ITO["blue"], label="the recipe (points: each seed)"),
            Line2D([], [], color=OKABE_ITO["vermillion"], linestyle=DASHED, label=labels[control]),
            Line2D([], [], color=MUTED, label=labels[BASE]),
            Line2D([], [], color=INK, marker="D", linestyle="none", label="without a budget"),
        ]
        legend(figure, lines)
        words = "; ".join(
            f"{label}: {findings.mean(recipe, 'accuracy', None).mean():.0%} at "
            f"{findings.mean(recipe, 'tokens', None).mean():.0f}"
            for recipe, label in labels.items()
        )
        return to_svg(
            figure,
            "accuracy-by-tokens",
            f"Accuracy against {USED} under every thinking budget, a panel a recipe. Without a budget: {words} tokens.",
        )


@dataclass(frozen=True)
class Panel:
    """One column of a dot plot: what is measured at which budget, and how its axis reads."""

    title: str
    measure: Measure
    cell: Cell
    percent: bool = False


def dots(findings: Findings, labels: Mapping[str, str], panels: Sequence[Panel], name: str) -> Drawing:
    """A dot plot: a row a recipe, sorted by the first panel; intervals as bars, every seed as a small point."""
    first = panels[0]
    order = sorted(labels, key=lambda recipe: findings.interval(recipe, first.measure, first.cell).mean)
    with house_style():
        figure = Figure(figsize=(2.2 + 3.9 * len(panels), 0.9 + 0.24 * len(order)), layout="constrained")
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=True):
            for y, recipe in enumerate(order):
                colour = {BASE: INK, findings.params.control: OKABE_ITO["vermillion"]}.get(recipe, OKABE_ITO["blue"])
                row = findings.interval(recipe, panel.measure, panel.cell)
                axes.hlines(y, row.low, row.high, color=colour, linewidth=3, alpha=0.35)
                seeds = findings.each_seed(recipe, panel.measure, panel.cell)
                axes.plot(seeds, [y] * len(seeds), "o", color=colour, markersize=2.6)
                axes.plot(row.mean, y, "o", color=colour, markersize=5.5, markerfacecolor=PAPER)
            axes.axvline(findings.interval(BASE, panel.measure, panel.cell).mean, color=MUTED, linewidth=0.9, zorder=0)
            axes.set_title(panel.title)
            if panel.percent:
                axes.xaxis.set_major_formatter(PercentFormatter(1))
        grid.flat[0].set_yticks(range(len(order)), [labels[recipe] for recipe in order])
        words = "; ".join(
            f"{panel.title}: "
            + ", ".join(
                f"{labels[recipe]} {_figure(findings.interval(recipe, panel.measure, panel.cell).mean, panel)}"
                for recipe in reversed(order)
            )
            for panel in panels
        )
        return to_svg(figure, name, f"A row a recipe, with intervals over problems and a point a seed. {words}.")


def _figure(value: float, panel: Panel) -> str:
    return f"{value:.0%}" if panel.percent else f"{value:.2f}" if panel.measure == "adaptation" else f"{value:.0f}"


def gain_by_budget(findings: Findings, recipe: str, control: str) -> Drawing:
    """Recipe minus control in points under every budget and without one, with every pair of equal rank of seeds."""
    cells = findings.cells
    with house_style():
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color=MUTED, linewidth=1)
        for x, cell in enumerate(cells):
            row = findings.difference(recipe, control, cell)
            axes.vlines(x, row.low, row.high, color=OKABE_ITO["blue"], linewidth=3, alpha=0.35)
            face = OKABE_ITO["blue"] if row.claimed else PAPER
            axes.plot(x, row.difference, "o", color=OKABE_ITO["blue"], markersize=6, markerfacecolor=face)
            pairs = zip(
                findings.each_seed(recipe, "accuracy", cell),
                findings.each_seed(control, "accuracy", cell),
                strict=False,
            )
            gains = [mine - theirs for mine, theirs in pairs]
            axes.plot([x + 0.18] * len(gains), gains, "o", color=MUTED, markersize=2.8)
        axes.set_xticks(range(len(cells)), ["none" if cell is None else str(cell) for cell in cells])
        axes.set_xlabel("thinking budget t")
        axes.set_ylabel("points of accuracy")
        axes.yaxis.set_major_formatter(POINTS)
        marks = [
            Line2D([], [], color=OKABE_ITO["blue"], marker="o", markerfacecolor=face, linestyle="none", label=label)
            for label, face in (("claimed", OKABE_ITO["blue"]), ("not claimed", PAPER))
        ]
        legend(
            figure, [*marks, Line2D([], [], color=MUTED, marker="o", markersize=3, linestyle="none", label="each seed")]
        )
        words = ", ".join(
            f"{100 * findings.difference(recipe, control, cell).difference:+.1f} at "
            + ("no budget" if cell is None else f"t = {cell}")
            for cell in cells
        )
        return to_svg(
            figure, "gain-by-budget", f"{recipe} minus {control} in points of accuracy by thinking budget: {words}."
        )


def trained_budgets(findings: Findings, labels: Mapping[str, str], trained: Mapping[str, int]) -> Drawing:
    """Accuracy by evaluated budget for the same recipe trained at several t*, beside the base.

    Args:
        findings: of the comparison.
        labels: of the recipes.
        trained: t* of each, rising.
    """
    colours = ("sky", "blue", "green", "orange", "purple", "vermillion")
    cells = [cell for cell in findings.cells if cell is not None]
    with house_style():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        base = [float(findings.mean(BASE, "accuracy", cell).mean()) for cell in cells]
        axes.plot(range(len(cells)), base, color=MUTED, linestyle=DASHED)
        handles = [Line2D([], [], color=MUTED, linestyle=DASHED, label=labels[BASE])]
        for number, (recipe, think) in enumerate(trained.items()):
            colour, mark = OKABE_ITO[colours[number % len(colours)]], _MARKS[number % len(_MARKS)]
            rows = [findings.interval(recipe, "accuracy", cell) for cell in cells]
            axes.vlines(
                range(len(cells)), [r.low for r in rows], [r.high for r in rows], color=colour, linewidth=2.2, alpha=0.3
            )
            axes.plot(range(len(cells)), [r.mean for r in rows], color=colour, marker=mark, markersize=4.5)
            handles.append(Line2D([], [], color=colour, marker=mark, label=f"t* = {think}"))
        axes.set_xticks(range(len(cells)), [str(cell) for cell in cells])
        axes.set_xlabel("thinking budget t")
        axes.set_ylabel("accuracy")
        percent_axis(axes, step=0.25)
        legend(figure, handles)
        words = "; ".join(
            f"t* = {think}: "
            + ", ".join(f"{findings.mean(recipe, 'accuracy', cell).mean():.0%} at {cell}" for cell in cells)
            for recipe, think in trained.items()
        )
        return to_svg(figure, "trained-budgets", f"Accuracy by thinking budget for several training budgets: {words}.")
