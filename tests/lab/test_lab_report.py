"""The page and the Markdown of an analysis: whole, self-contained, and with nothing measured anew."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elastic.contracts.records import read_record, write_json
from lab.analysis import Analysis, Column, Entry, Measured, Panel, Plot, Series, Table, Unit
from lab.analysis_params import ReportParams
from lab.figures.plots import draw, words
from lab.report import between, run, written

PARAMS = ReportParams(title="A made laboratory")


@pytest.fixture(scope="session")
def folder(analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("lab-report")
    run(analysis, PARAMS, output)
    return output


@pytest.fixture(scope="session")
def page(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


class _Tags(HTMLParser):
    """Tags that are left open, ids, and what the page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in ("meta", "link", "br", "path", "use", "img"):
            self.open.append(tag)
        self.ids += [str(found["id"])] if found.get("id") else []
        self.links += [str(found[name]) for name in ("href", "src", "xlink:href") if found.get(name)]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass


def test_an_analysis_survives_its_file(analysis: Analysis, tmp_path: Path) -> None:
    write_json(tmp_path / "analysis.json", analysis)
    assert read_record(Analysis, tmp_path / "analysis.json") == analysis


def test_page_and_table_say_every_finding(analysis: Analysis, folder: Path) -> None:
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md")]
    for text in texts:
        plain = text.replace("&#39;", "'").replace("&gt;", ">")
        for section in analysis.sections:
            assert section.finding in plain
            assert section.question in plain
    assert texts[0].count("<table>") == sum(len(section.tables) for section in analysis.sections)
    assert texts[0].count("<svg") == sum(len(section.plots) for section in analysis.sections)


def test_the_page_needs_nothing_else(page: str) -> None:
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert len(set(tags.ids)) == len(tags.ids)
    assert "<script" not in page
    assert "@import" not in page
    outside = [link for link in tags.links if not link.startswith(("#", "data:")) and link != "summary.md"]
    assert outside == []
    assert {link[1:] for link in tags.links if link.startswith("#")} <= set(tags.ids)


def test_every_figure_has_words_and_says_what_its_axis_counts(analysis: Analysis, page: str) -> None:
    labels = re.findall(r'role="img" aria-label="([^"]*)"', page)
    plots = [plot for section in analysis.sections for plot in section.plots]
    assert len(labels) == len(plots)
    for plot in plots:
        assert len({plot.x_label, plot.y_label}) == 2
        if "tokens" in plot.x_label:
            assert "used" in plot.x_label or "limit" in plot.x_label
        if "budget" in plot.x_label:
            assert "limit" in plot.x_label


def test_equal_analyses_give_equal_bytes(analysis: Analysis, folder: Path, tmp_path: Path) -> None:
    run(analysis, PARAMS, tmp_path)
    for name in ("index.html", "summary.md"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("entry", "unit", "value", "ends"),
    [
        (Measured(value=0.5, low=0.4, high=0.6), "share", "50.0%", "40.0% to 60.0%"),
        (Measured(value=-0.031, low=-0.05, high=0.01), "points", "−3.1", "−5.0 to +1.0"),
        (Measured(value=-7.25, low=-9, high=-5), "tokens change", "−7.2", "−9.0 to −5.0"),
        (Measured(value=40.0, low=None, high=55.0), "tokens", "40.0", "up to 55.0"),
        (Measured(value=40.0, low=30.0, high=None), "tokens", "40.0", "from 30.0"),
        (0.0, "share", "0", ""),
        (12345, "count", "12,345", ""),
        (0.5, "seconds", "0.500", ""),
        (None, "points", "–", ""),
        ("r1", "label", "r1", ""),
    ],
)
def test_entries_are_written_by_their_unit(entry: Entry, unit: Unit, value: str, ends: str) -> None:
    assert (written(entry, unit), between(entry, unit)) == (value, ends)


def test_a_row_that_does_not_fill_its_table_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 entries in a table of 2 columns"):
        Table(title="t", columns=[Column(name="a", unit="text"), Column(name="b", unit="count")], rows=[["x"]])


def plot(**changes: object) -> Plot:
    curves = [
        Series(colour=model, style=style, x=[1, 10, 100], y=[0.1, 0.2, 0.4], low=[0, 0.1, 0.3], high=[0.2, 0.3, 0.5])
        for model in ("base", "r1")
        for style in ("m = 1", "m = 4")
    ]
    plain = {"x_label": "tokens used", "y_label": "accuracy", "x_scale": "log", "panels": [{"series": curves}]}
    return Plot.model_validate({"name": "p", "title": "T.", "caption": "c", **plain, **changes})


def test_one_legend_names_every_colour_and_every_line() -> None:
    svg = draw(plot()).svg
    for name in ("base", "r1", "m = 1", "m = 4", "tokens used", "accuracy"):
        assert svg.count(f">{name}</text>") == 1
    assert svg.count('id="p-legend_1"') == 1
    assert "var(--blue)" in svg
    assert "#" not in re.sub(r"(href=\"|url\()#", "", svg)


def test_words_say_where_every_curve_begins_and_ends() -> None:
    assert words(plot()).startswith("T. accuracy against tokens used, log axis. base, m = 1: 10% at 1 to 40% at 100; ")
    named = plot(x_scale="names", x_names=["few", "some", "many"], y_unit="points",
                 panels=[Panel(title="here", series=[Series(colour="r1", x=[0, 2], y=[-0.01, 0.02])])])  # fmt: skip
    assert words(named).endswith("here, r1: -1.0 points at few to +2.0 points at many.")
