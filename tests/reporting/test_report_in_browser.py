"""The report in a real browser: Debian's chromium, headless (`apt-get install chromium chromium-driver`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM.exists() and DRIVER.exists()),
        reason="no chromium or no chromedriver: apt-get install chromium chromium-driver",
    ),
]
webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: pip install selenium")


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("browser") / "index.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def opened(browser: webdriver.Chrome, address: str, width: int, scheme: str = "light") -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(address)


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_its_window_without_a_console_message(
    browser: webdriver.Chrome, address: str, width: int
) -> None:
    opened(browser, address, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('svg, img')].map(e => e.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert len(sizes) == 14
    assert all(w > 250 and h > 150 for w, h in sizes)
    assert browser.get_log("browser") == []


def test_text_of_figures_can_be_read_on_a_phone(browser: webdriver.Chrome, address: str) -> None:
    opened(browser, address, 400)
    heights = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].filter(e => e.textContent.trim()).map(e => {"
        " const m = e.getScreenCTM(); return e.getBBox().height * Math.hypot(m.a, m.b); })"
    )
    assert min(heights) >= 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_differs_from_paper_in_both_schemes(browser: webdriver.Chrome, address: str, scheme: str) -> None:
    opened(browser, address, 1280, scheme)
    contrasts = browser.execute_script(
        """
        const luminance = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05); };
        const paper = getComputedStyle(document.body).backgroundColor;
        return {
            text: ratio(getComputedStyle(document.body).color, paper),
            figure: ratio(getComputedStyle(document.querySelector('svg text')).fill, paper),
            note: ratio(getComputedStyle(document.querySelector('.note')).color, paper),
            models: [...document.querySelectorAll('.swatch')].map(e =>
                ratio(getComputedStyle(e).backgroundColor, paper)),
        };
        """
    )
    assert contrasts["text"] >= 7
    assert contrasts["figure"] >= 7
    assert contrasts["note"] >= 4.5
    assert min(contrasts["models"]) >= 3
