"""The lab's page in a real browser, on a phone and on a desk, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chromium import MARKS, contrast, opened, started

from lab.analysis import Analysis
from lab.analysis_params import ReportParams
from lab.report import run

pytestmark = MARKS


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from started()


@pytest.fixture(scope="module")
def address(analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("lab-browser")
    run(analysis, ReportParams(title="A made laboratory"), folder)
    return (folder / "index.html").as_uri()


@pytest.mark.parametrize("width", [380, 1280])
def test_the_page_fits_its_window_and_its_figures_can_be_read(
    browser: Any, address: str, width: int, analysis: Analysis
) -> None:
    opened(browser, address, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect()).map(r => [r.width, r.height])"
    )
    assert len(sizes) == sum(len(section.plots) for section in analysis.sections)
    assert all(w > 250 and h > 150 for w, h in sizes)
    heights = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].filter(e => e.textContent.trim()).map(e => {"
        " const m = e.getScreenCTM(); return e.getBBox().height * Math.hypot(m.a, m.b); })"
    )
    assert min(heights) >= 8.9
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_differs_from_paper_in_both_schemes(browser: Any, address: str, scheme: str) -> None:
    opened(browser, address, 1280, scheme)
    assert contrast(browser, "body", "color") >= 7
    assert contrast(browser, "svg text", "fill") >= 7
    assert contrast(browser, ".note", "color") >= 4.5
    assert contrast(browser, ".swatch", "backgroundColor") >= 3
