"""The lab's report: one page for people, and its findings and tables in Markdown.

Run it alone, in this folder: `python -m lab.report`. It reads analysis.json and measures nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from markupsafe import Markup

from elastic.contracts.params.common import validate
from elastic.contracts.records import read_record
from elastic.reporting.figures.style import css_name, palette
from elastic.reporting.templates import templates
from elastic.reporting.words import count, interval, percent, points, share, signed, tokens
from lab.analysis import Analysis, Entry, Measured, Unit
from lab.analysis_params import ReportParams
from lab.figures.plots import draw
from stages.common import Context, exit_with_message, params_block, run_stage

ANALYSIS, OUTPUT = Path("analysis.json"), Path("reports")
_FOLDER = Path(__file__).parent
_NONE = "–"


def figure(value: float, unit: Unit) -> str:
    """A number as people read it, by its unit."""
    if unit == "share":
        return share(value)
    if unit == "points":
        return points(value)
    if unit in ("tokens change", "change"):
        return signed(value, 1 if unit == "tokens change" else 3)
    if unit == "tokens":
        return tokens(value)
    if unit == "count":
        return count(round(value))
    return {"seconds": f"{value:.3f}", "money": f"{value:,.2f}"}.get(unit, f"{value:.2f}")


def between(entry: Entry, unit: Unit) -> str:
    """The interval of an entry; empty without one."""
    if not isinstance(entry, Measured) or (entry.low is None and entry.high is None):
        return ""
    if entry.low is None or entry.high is None:
        known = entry.high if entry.low is None else entry.low
        return f"{'up to' if entry.low is None else 'from'} {figure(known or 0.0, unit)}"
    if unit == "points":
        return interval(entry.low, entry.high)
    if unit == "share":
        return f"{percent(entry.low)} to {percent(entry.high)}"
    return f"{figure(entry.low, unit)} to {figure(entry.high, unit)}"


def written(entry: Entry, unit: Unit) -> str:
    """An entry without its interval; a dash for none."""
    if entry is None or entry == "":
        return _NONE
    if isinstance(entry, str):
        return entry
    value = entry.value if isinstance(entry, Measured) else entry
    return percent(value) if unit == "share" and isinstance(entry, Measured) else figure(float(value), unit)


def render(name: str, analysis: Analysis, params: ReportParams, **more: Any) -> str:
    """The template `name` of this folder, as text."""
    environment = templates(_FOLDER, html=name.endswith("html.j2"))
    environment.globals |= {"between": between, "written": written}
    return environment.get_template(name).render(analysis=analysis, params=params, **more)


def run(analysis: Analysis, params: ReportParams, output: Path) -> None:
    """Write the page and the table into the folder `output`."""
    drawings = {plot.name: draw(plot) for section in analysis.sections for plot in section.plots}
    colours = {model: css_name(colour) for model, colour in palette(analysis.models).items()}
    texts = {
        "index.html": render(
            "page.html.j2",
            analysis,
            params,
            drawings={name: Markup(drawing.svg) for name, drawing in drawings.items()},
            colours=colours,
        ),
        "summary.md": render("summary.md.j2", analysis, params),
    }
    output.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        temporary = output / f".{name}.partial"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, output / name)


def main() -> None:
    """Read the analysis, write the report and the record."""
    params = validate(ReportParams, params_block("report"), where="report")

    def work(context: Context) -> None:
        analysis = read_record(Analysis, ANALYSIS)
        run(analysis, params, OUTPUT)
        context.facts = {"sections": len(analysis.sections)}
        context.say(f"see {(OUTPUT / 'index.html').resolve()}")

    run_stage("report", {"report": params}, [ANALYSIS], [OUTPUT / name for name in ("index.html", "summary.md")], work)


if __name__ == "__main__":
    exit_with_message(main)
