"""Where the tokens go, phase by phase, and how phases end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from elastic.contracts.records import GridRow
from elastic.reporting.figures.accuracy import BUDGET
from elastic.reporting.figures.style import (
    MUTED,
    OKABE_ITO,
    PAPER,
    RULE,
    Drawing,
    house_style,
    legend,
    model_handles,
    palette,
    to_svg,
)

_ENDINGS = {
    "natural": ("natural_share", OKABE_ITO["green"]),
    "forced": ("forced_share", OKABE_ITO["orange"]),
    "EOS in thinking": ("eos_in_think_share", OKABE_ITO["purple"]),
    "never closed": ("unclosed_share", RULE),
}


def _label(row: GridRow) -> str:
    return f"{row.think}" if row.think is not None else f"none\n({row.limit})"


def tokens_by_phase(curves: Mapping[str, Sequence[GridRow]]) -> Drawing:
    """Stacked mean tokens of both phases, a bar a model, grouped by budget.

    Args:
        curves: rows by model: separate budgets by rising t, then the unconstrained one.
    """
    colours = palette(list(curves))
    first = next(iter(curves.values()))
    with house_style():
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        axes = figure.subplots()
        width = 0.78 / len(curves)
        phases = {"thinking": 1.0, "solution": 0.4}
        for number, (model, rows) in enumerate(curves.items()):
            xs = [i + (number - (len(curves) - 1) / 2) * width for i in range(len(rows))]
            thinking = [row.mean_think_tokens for row in rows]
            solution = [row.mean_solution_tokens for row in rows]
            bottom = [0.0] * len(rows)
            for values, opacity in zip((thinking, solution), phases.values(), strict=True):
                axes.bar(xs, values, width * 0.9, bottom=bottom, color=PAPER)
                axes.bar(xs, values, width * 0.9, bottom=bottom, color=colours[model], alpha=opacity)
                bottom = values
        axes.set_xticks(range(len(first)), [_label(row) for row in first])
        axes.set_xlabel(f"{BUDGET} (none: unconstrained, up to the limit in brackets)")
        axes.set_ylabel("mean tokens a trace")
        shades = [Patch(color=MUTED, alpha=opacity, label=name) for name, opacity in phases.items()]
        legend(figure, [*model_handles(colours), *shades])
        words = "; ".join(
            f"{model}: "
            + ", ".join(
                f"{r.mean_think_tokens:.0f}+{r.mean_solution_tokens:.0f} at {_label(r).split()[0]}" for r in rows
            )
            for model, rows in curves.items()
        )
        return to_svg(figure, "tokens-by-phase", f"Mean thinking + solution tokens by {BUDGET}. {words}.")


def endings(curves: Mapping[str, Sequence[GridRow]]) -> Drawing:
    """How thinking ended, a panel a model, as shares of traces.

    Args:
        curves: rows by model: separate budgets by rising t, then the unconstrained one.
    """
    with house_style():
        figure = Figure(figsize=(11, 3.7), layout="constrained")
        panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
        for axes, (model, rows) in zip(panels, curves.items(), strict=True):
            bottom = [0.0] * len(rows)
            for field, colour in _ENDINGS.values():
                shares = [getattr(row, field) for row in rows]
                axes.bar(range(len(rows)), shares, 0.82, bottom=bottom, color=colour)
                bottom = [low + share for low, share in zip(bottom, shares, strict=True)]
            axes.set_title(model)
            axes.set_xticks(range(len(rows)), [_label(row) for row in rows])
            axes.set_xlabel(BUDGET)
            axes.set_ylim(0, 1)
        panels[0].yaxis.set_major_formatter(PercentFormatter(1))
        panels[0].set_ylabel("share of traces")
        legend(figure, [Patch(color=colour, label=name) for name, (_, colour) in _ENDINGS.items()])
        words = "; ".join(
            f"{model}: forced " + ", ".join(f"{row.forced_share:.0%} at {_label(row).split()[0]}" for row in rows)
            for model, rows in curves.items()
        )
        return to_svg(figure, "endings", f"How thinking ended, as shares of traces, by {BUDGET}. {words}.")
