"""What happened in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from elastic.reporting.figures.style import (
    DASHED,
    INK,
    Drawing,
    house_style,
    legend,
    model_handles,
    palette,
    to_svg,
)

Log = Mapping[str, Sequence[Mapping[str, Any]]]

WINDOW = 10
_SIZE = (3.8, 2.9)
_PAIRS = {
    "think-tokens": ("thinking tokens", ("think_tokens_correct", "think_tokens_wrong")),
    "solution-tokens": ("solution tokens", ("solution_tokens_correct", "solution_tokens_wrong")),
}
_SINGLES = {"reward": "mean reward", "entropy": "entropy, nats a token"}
_SHARES = {"forced_share": "forced", "zero_variance_share": "zero variance"}


def _series(rows: Sequence[Mapping[str, Any]], key: str) -> tuple[list[int], list[float]]:
    """Steps and values of a key, where a row has it."""
    found = [(row["step"], row[key]) for row in rows if "monitor" not in row and row.get(key) is not None]
    return [step for step, _ in found], [float(value) for _, value in found]


def _draw(axes: Axes, rows: Sequence[Mapping[str, Any]], key: str, colour: str, style: Any = "-") -> bool:
    """Draw a key step by step (faint) and its trailing mean; say whether there was anything to draw."""
    steps, values = _series(rows, key)
    if not steps:
        return False
    means = pl.Series(values).rolling_mean(WINDOW, min_samples=1).to_list()
    axes.plot(steps, values, color=colour, linewidth=0.8, alpha=0.3)
    axes.plot(steps, means, color=colour, linestyle=style)
    return True


def _finish(figure: Figure, axes: Axes, label: str, handles: Sequence[Sequence[Any]], name: str, alt: str) -> Drawing:
    axes.set_xlabel("step")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    legend(figure, *handles)
    return to_svg(figure, name, alt)


def _ends(log: Log, key: str, unit: str = "") -> str:
    parts = []
    for name, rows in log.items():
        values = _series(rows, key)[1]
        if values:
            first, last = values[:WINDOW], values[-WINDOW:]
            parts.append(f"{name} {sum(first) / len(first):.3g} to {sum(last) / len(last):.3g}{unit}")
    return "; ".join(parts)


def training_curves(log: Log, models: Sequence[str]) -> list[Drawing]:
    """One figure a measure, all rounds in each; a measure that no round logged has no figure.

    Args:
        log: rows of metrics.jsonl by round: steps, and monitor rows, which have the key `monitor`.
        models: every model of the report, for its colour.
    """
    colours = palette(models)
    drawings: list[Drawing] = []
    with house_style():
        for key, label in _SINGLES.items():
            figure = Figure(figsize=_SIZE, layout="constrained")
            axes = figure.subplots()
            drawn = [name for name, rows in log.items() if _draw(axes, rows, key, colours[name])]
            if drawn:
                alt = f"Training: {label} by step, first to last {WINDOW} steps: {_ends(log, key)}."
                drawings.append(_finish(figure, axes, label, [model_handles(colours, drawn)], f"training-{key}", alt))
        for name, (label, keys) in _PAIRS.items():
            drawing = _styled(log, colours, dict(zip(keys, ("correct", "wrong"), strict=True)), label, name)
            drawings += [drawing] if drawing else []
        drawing = _styled(log, colours, _SHARES, "share", "shares")
        drawings += [drawing] if drawing else []
        drawing = _monitors(log, colours)
        drawings += [drawing] if drawing else []
    return drawings


def _styled(log: Log, colours: Mapping[str, str], keys: Mapping[str, str], label: str, name: str) -> Drawing | None:
    """Two keys in one figure: the first solid, the second dashed."""
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    styles: dict[str, Any] = dict(zip(keys, ("-", DASHED), strict=True))
    drawn = [
        round_name
        for round_name, rows in log.items()
        if sum(_draw(axes, rows, key, colours[round_name], styles[key]) for key in keys)
    ]
    if not drawn:
        return None
    if name == "shares":
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    lines = [Line2D([], [], color=INK, linestyle=styles[key], label=text) for key, text in keys.items()]
    handles = [model_handles(colours, drawn), lines]
    words = "; ".join(f"{text}: {_ends(log, key)}" for key, text in keys.items())
    return _finish(figure, axes, label, handles, f"training-{name}", f"Training: {label} by step. {words}.")


def _monitors(log: Log, colours: Mapping[str, str]) -> Drawing | None:
    """Accuracy on the fixed validation slice, a line style a budget."""
    rows = [(name, row) for name, found in log.items() for row in found if row.get("monitor") and "accuracy" in row]
    if not rows:
        return None
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    budgets = list(dict.fromkeys(str(row["monitor"]) for _, row in rows))
    styles: dict[str, Any] = dict(zip(budgets, ["-", DASHED, ":", "-."] * len(budgets), strict=False))
    words = []
    for name in dict.fromkeys(name for name, _ in rows):
        for budget in budgets:
            points = [(r["step"], r["accuracy"]) for n, r in rows if n == name and str(r["monitor"]) == budget]
            if points:
                steps, values = zip(*points, strict=True)
                axes.plot(steps, values, color=colours[name], linestyle=styles[budget], marker="o", markersize=3.5)
                words.append(f"{name} at {budget}: {values[0]:.0%} to {values[-1]:.0%}")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    lines = [Line2D([], [], color=INK, linestyle=styles[budget], label=budget) for budget in budgets]
    handles = [model_handles(colours, dict.fromkeys(name for name, _ in rows)), lines]
    alt = f"Accuracy on a fixed slice of validation during training, by step. {'; '.join(words)}."
    return _finish(figure, axes, "validation slice, accuracy", handles, "training-monitor", alt)
