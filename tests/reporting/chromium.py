"""Debian's chromium, headless, for pages (`apt-get install chromium chromium-driver`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")

MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM.exists() and DRIVER.exists()),
        reason="no chromium or no chromedriver: apt-get install chromium chromium-driver",
    ),
]


def started() -> Iterator[Any]:
    """A browser, for as long as it is used."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


def opened(browser: Any, address: str, width: int, scheme: str = "light") -> None:
    """Open a page in a window of some width, in a colour scheme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(address)


def contrast(browser: Any, selector: str, style: str) -> float:
    """The least contrast of the elements of a selector with the page, by a style of theirs (WCAG 2.1)."""
    return float(
        browser.execute_script(
            """
            const luminance = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
                return (x + 0.05) / (y + 0.05); };
            const paper = getComputedStyle(document.body).backgroundColor;
            return Math.min(...[...document.querySelectorAll(arguments[0])].map(e =>
                ratio(getComputedStyle(e)[arguments[1]], paper)));
            """,
            selector,
            style,
        )
    )
