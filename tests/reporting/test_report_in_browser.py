"""The report in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chromium import MARKS, contrast, opened, started

pytestmark = MARKS


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from started()


@pytest.fixture(scope="module")
def address(page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("browser") / "index.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_its_window_without_a_console_message(browser: Any, address: str, width: int) -> None:
    opened(browser, address, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('svg, img')].map(e => e.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert len(sizes) == 14
    assert all(w > 250 and h > 150 for w, h in sizes)
    assert browser.get_log("browser") == []


def test_text_of_figures_can_be_read_on_a_phone(browser: Any, address: str) -> None:
    opened(browser, address, 400)
    heights = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].filter(e => e.textContent.trim()).map(e => {"
        " const m = e.getScreenCTM(); return e.getBBox().height * Math.hypot(m.a, m.b); })"
    )
    assert min(heights) >= 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_differs_from_paper_in_both_schemes(browser: Any, address: str, scheme: str) -> None:
    opened(browser, address, 1280, scheme)
    assert contrast(browser, "body", "color") >= 7
    assert contrast(browser, "svg text", "fill") >= 7
    assert contrast(browser, ".note", "color") >= 4.5
    assert contrast(browser, ".swatch", "backgroundColor") >= 3
