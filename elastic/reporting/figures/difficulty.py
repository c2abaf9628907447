"""How hard the problems are that were probed, by bucket of their pass rate and by source."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from elastic.reporting.figures.style import OKABE_ITO, PAPER, RULE, Drawing, house_style, legend, to_svg

NOT_GRADED = "not graded"


def bucket_histogram(rates: pl.DataFrame, buckets: Sequence[str]) -> Drawing:
    """Training problems by difficulty, kept and left out.

    Args:
        rates: a frame PassRates.
        buckets: from never to always solved.
    """
    kept, left = (
        [rates.filter((pl.col("bucket") == bucket) & (pl.col("kept") == wanted)).height for bucket in buckets]
        for wanted in (True, False)
    )
    with house_style():
        figure = Figure(figsize=(5.0, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.bar(buckets, kept, 0.7, color=OKABE_ITO["sky"])
        axes.bar(buckets, left, 0.7, bottom=kept, color=RULE)
        for x, (a, b) in enumerate(zip(kept, left, strict=True)):
            axes.annotate(
                f"{(a + b) / max(rates.height, 1):.0%}", (x, a + b), (0, 3), textcoords="offset points", ha="center"
            )
        axes.margins(y=0.12)
        axes.set_ylabel("training problems")
        legend(figure, [Patch(color=OKABE_ITO["sky"], label="kept"), Patch(color=RULE, label="left out")])
        words = "; ".join(f"{b}: {k} kept, {x} left out" for b, k, x in zip(buckets, kept, left, strict=True))
        return to_svg(figure, "buckets", f"Training problems by bucket of the base's pass rate. {words}.")


def _colours(buckets: Sequence[str]) -> dict[str, tuple[str, float]]:
    """Colour and opacity of each bucket: the ends, which teach nothing, in hues of their own; between them, the easier
    the fuller.
    """
    never, *between, always = buckets
    steps = {name: 0.35 + 0.5 * number / max(len(between) - 1, 1) for number, name in enumerate(between)}
    return {
        never: (OKABE_ITO["vermillion"], 1.0),
        **{name: (OKABE_ITO["sky"], opacity) for name, opacity in steps.items()},
        always: (OKABE_ITO["green"], 1.0),
        NOT_GRADED: (RULE, 1.0),
    }


def buckets_by_source(rates: pl.DataFrame, buckets: Sequence[str]) -> Drawing:
    """Shares of the buckets in each source, a bar a source, the largest first.

    Args:
        rates: a frame PassRates.
        buckets: from never to always solved.
    """
    counts = rates.with_columns(pl.col("bucket").fill_null(NOT_GRADED)).group_by("source", "bucket").len()
    found = {(source, bucket): number for source, bucket, number in counts.iter_rows()}
    totals = dict(rates.group_by("source").len().sort(["len", "source"], descending=[True, False]).iter_rows())
    colours = _colours(buckets)
    shown = [name for name in colours if name in buckets or any(bucket == name for _, bucket in found)]
    with house_style():
        figure = Figure(figsize=(5.0, 1.5 + 0.42 * len(totals)), layout="constrained")
        axes = figure.subplots()
        axes.grid(visible=False)
        left = [0.0] * len(totals)
        for name in shown:
            shares = [found.get((source, name), 0) / total for source, total in totals.items()]
            colour, opacity = colours[name]
            axes.barh(range(len(totals)), shares, 0.66, left=left, color=PAPER)
            axes.barh(
                range(len(totals)), shares, 0.66, left=left, color=colour, alpha=opacity, edgecolor=PAPER, linewidth=0.8
            )
            left = [start + share for start, share in zip(left, shares, strict=True)]
        axes.set_yticks(range(len(totals)), [f"{source} ({total:,})" for source, total in totals.items()])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel("share of the source's problems")
        legend(figure, [Patch(facecolor=colours[name][0], alpha=colours[name][1], label=name) for name in shown])
        words = "; ".join(
            f"{source}: " + ", ".join(f"{name} {found.get((source, name), 0)}" for name in shown) for source in totals
        )
        return to_svg(
            figure, "buckets-by-source", f"Problems of each source by bucket of the base's pass rate. {words}."
        )
