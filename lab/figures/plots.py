"""Any plot of an analysis, in the house style of the main report, with one legend a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from elastic.reporting.figures.axes import POINTS, log_axis, percent_axis
from elastic.reporting.figures.style import (
    DASHED,
    INK,
    MUTED,
    PAPER,
    Drawing,
    house_style,
    legend,
    palette,
    to_svg,
)
from lab.analysis import Panel, Plot, Series

_COLUMNS = 3
_WIDE = 11.0
_LINES: tuple[Any, ...] = ("-", DASHED, ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
# A legend as wide as the figure: entries a row by panels across.
_ENTRIES = {1: 4, 2: 8, 3: 8}


def draw(plot: Plot) -> Drawing:
    """The plot as an SVG with its alternative text."""
    colours = palette(list(dict.fromkeys(series.colour for panel in plot.panels for series in panel.series)))
    styles = list(dict.fromkeys(series.style for panel in plot.panels for series in panel.series))
    across = 2 if len(plot.panels) == 4 else min(len(plot.panels), _COLUMNS)
    down = -(-len(plot.panels) // across)
    entries = list(colours)
    rows = [entries[i : i + _ENTRIES[across]] for i in range(0, len(entries), _ENTRIES[across])]
    with house_style():
        size = (_WIDE if across > 1 else 5.2, 0.6 + 0.24 * (len(rows) + (len(styles) > 1)) + 2.9 * down)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(down, across, sharex=plot.x_scale != "linear", sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, plot.panels, strict=False):
            _panel(axes, panel, plot, colours, styles)
        for axes in grid.flat[len(plot.panels) :]:
            axes.set_axis_off()
        _axes(grid.flat, plot)
        figure.supxlabel(plot.x_label, fontsize=9.5)
        figure.supylabel(plot.y_label, fontsize=9.5)
        legend(figure, *_handles(plot, colours, styles, rows))
        return to_svg(figure, plot.name, words(plot))


def words(plot: Plot) -> str:
    """What the plot shows, in words: its axes, and where every curve begins and ends."""
    scale = ", log axis" if plot.x_scale == "log" else ""
    curves = [
        f"{', '.join(filter(None, (panel.title, series.colour, series.style)))}: {_ends(series, plot)}"
        for panel in plot.panels
        for series in panel.series
        if series.x
    ]
    return f"{plot.title} {plot.y_label} against {plot.x_label}{scale}. {'; '.join(curves)}."


def _ends(series: Series, plot: Plot) -> str:
    first, last = (f"{_value(series.y[i], plot)} at {_place(series.x[i], plot)}" for i in (0, -1))
    return first if len(series.x) == 1 else f"{first} to {last}"


def _value(value: float, plot: Plot) -> str:
    if plot.y_unit in ("share", "percent"):
        return f"{value:.0%}"
    return f"{100 * value:+.1f} points" if plot.y_unit == "points" else f"{value:.3g}"


def _place(value: float, plot: Plot) -> str:
    return plot.x_names[int(value)] if plot.x_scale == "names" else f"{value:.3g}"


def _look(series: Series, colours: Mapping[str, str], styles: Sequence[str]) -> dict[str, Any]:
    """Line, mark and face of a curve: by its style where there are several, else marks by colour."""
    several = len(styles) > 1
    order = styles.index(series.style) if several else list(colours).index(series.colour)
    return {
        "linestyle": "none" if series.line == "points" else _LINES[order % len(_LINES)] if several else "-",
        "marker": "none" if series.line in ("plain", "steps") else _MARKS[order % len(_MARKS)],
        "markerfacecolor": PAPER if several and order % 2 else colours[series.colour],
        "markersize": 4,
    }


def _panel(axes: Axes, panel: Panel, plot: Plot, colours: Mapping[str, str], styles: Sequence[str]) -> None:
    if plot.zero:
        axes.axhline(0, color=MUTED, linewidth=1)
    for series in panel.series:
        colour = colours[series.colour]
        if series.low is not None and series.high is not None:
            axes.vlines(series.x, series.low, series.high, color=colour, linewidth=2.2, alpha=0.3)
        axes.plot(
            series.x,
            series.y,
            color=colour,
            drawstyle="steps-post" if series.line == "steps" else "default",
            clip_on=False,
            **_look(series, colours, styles),
        )
    axes.set_title(panel.title)


def _axes(every: Any, plot: Plot) -> None:
    values = [x for panel in plot.panels for series in panel.series for x in series.x]
    for axes in every:
        if plot.x_scale == "log" and values:
            log_axis(axes, values)
        elif plot.x_scale == "names":
            axes.set_xticks(range(len(plot.x_names)), plot.x_names)
        if plot.y_unit == "share":
            percent_axis(axes)
        elif plot.y_unit == "percent":
            axes.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))  # whole percents, or the labels would lie
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        elif plot.y_unit == "points":
            axes.yaxis.set_major_formatter(POINTS)


def _handles(
    plot: Plot, colours: Mapping[str, str], styles: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[list[Line2D]]:
    """The entries of the one legend: colours, then line styles where there are several; the plain style has no name."""
    every = [series for panel in plot.panels for series in panel.series]
    if len(styles) == 1:
        first = {series.colour: series for series in reversed(every)}
        return [
            [Line2D([], [], color=colours[name], label=name, **_look(first[name], colours, styles)) for name in row]
            for row in rows
        ]
    shown = [
        [Line2D([], [], color=colours[name], linewidth=3.5, solid_capstyle="butt", label=name) for name in row]
        for row in rows
    ]
    lines = []
    for style in filter(None, styles):
        look = _look(next(series for series in every if series.style == style), colours, styles)
        face = PAPER if look["markerfacecolor"] == PAPER else INK
        lines.append(Line2D([], [], color=INK, label=style, **look | {"markerfacecolor": face}))
    return [*shown, lines]
