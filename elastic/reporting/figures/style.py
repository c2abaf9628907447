"""One look for every figure: Okabe-Ito colours, one a model; line styles, one a method; ink that follows the page.

Colours go into the SVG as CSS variables, so that a figure follows the page's light and dark scheme. Text stays text,
in the page's font, and can be searched and copied.

Palette: M. Okabe and K. Ito, "Color Universal Design" (2008), distinguishable with every common colour blindness.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html import escape
from itertools import chain, zip_longest
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

INK, MUTED, RULE, PAPER = "#010101", "#020202", "#030303", "#040404"
_VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"}

OKABE_ITO = {
    "black": "#000001",  # pure black would be left out of the SVG, as its default, and not follow the page
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "yellow": "#f0e442",
}
_VARIABLES |= {colour: f"--{name}" for name, colour in OKABE_ITO.items()}
_MODEL_COLOURS = ("black", "blue", "vermillion", "green", "purple", "orange", "sky", "yellow")

DASHED = (0, (4, 2))
METHOD_LINES: dict[str, Any] = {"separate": "-", "truncate": DASHED, "unconstrained": ":"}
METHOD_MARKS = {"separate": "o", "truncate": "s", "unconstrained": "D"}

_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "elastic",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.labelpad": 7,
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.7,
    "lines.markersize": 5,
    "hatch.linewidth": 0.7,
    "hatch.color": PAPER,
}


@dataclass(frozen=True)
class Drawing:
    """A finished figure: `svg` to put into a page, and `alt`, what it shows in words."""

    svg: str
    alt: str


def palette(models: Sequence[str]) -> dict[str, str]:
    """A colour for each model, in the order given; more than eight models share colours."""
    return {model: OKABE_ITO[_MODEL_COLOURS[i % len(_MODEL_COLOURS)]] for i, model in enumerate(models)}


def css_name(colour: str) -> str:
    """The CSS variable that a colour of the palette becomes."""
    return _VARIABLES[colour]


def house_style() -> AbstractContextManager[None]:
    """matplotlib's settings inside a figure of the house."""
    return rc_context(_RC)


def model_handles(colours: Mapping[str, str], names: Iterable[str] | None = None) -> list[Any]:
    """Legend entries of models, by their colour."""
    chosen = colours if names is None else names
    return [Line2D([], [], color=colours[name], linewidth=3.5, solid_capstyle="butt", label=name) for name in chosen]


def legend(figure: Figure, *rows: Sequence[Any]) -> None:
    """The figure's one legend, above it: each argument is a row of entries."""
    blank = Line2D([], [], linestyle="none", label=" ")
    columns = chain.from_iterable(zip_longest(*rows, fillvalue=blank))  # matplotlib fills columns first
    figure.legend(
        handles=list(columns), loc="outside upper left", ncols=max(map(len, rows)), columnspacing=1.6, borderaxespad=0.2
    )


def to_svg(figure: Figure, name: str, alt: str) -> Drawing:
    """Render a figure as an inline SVG whose bytes depend on its content alone.

    Args:
        figure: the figure.
        name: unique on the page; prefixes every id of the SVG.
        alt: what the figure shows, in words.
    """
    stream = io.StringIO()
    figure.savefig(
        stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda match: _variable(match.group()), svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r"<style.*?</style>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 role="img" aria-label="{escape(alt, quote=True)}"', svg, count=1)
    return Drawing(svg, alt)


def _variable(colour: str) -> str:
    variable = _VARIABLES.get(colour)
    return f"var({variable})" if variable else colour
