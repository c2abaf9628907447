"""Axes that figures share: accuracy in percent, tokens on a log scale, differences in points."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullLocator, PercentFormatter

POINTS = FuncFormatter(lambda value, _: f"{100 * value:+.0f}" if value else "0")


def percent_axis(axes: Axes, step: float = 0.2) -> None:
    """The y axis from 0 to 100 %."""
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_locator(MultipleLocator(step))
    axes.yaxis.set_major_formatter(PercentFormatter(1))


def log_axis(axes: Axes, values: Sequence[float]) -> None:
    """The x axis on a log scale around `values`, with plain numbers, the fewer a decade the more decades there are."""
    wide = max(values) / min(values)
    steps = (1, 2, 3, 4, 5, 6, 8) if wide < 4 else (1, 2, 3, 5) if wide < 30 else (1, 3)
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 1.12, max(values) * 1.12)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
