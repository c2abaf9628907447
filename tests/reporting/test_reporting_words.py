from __future__ import annotations

from elastic.reporting.words import count, interval, percent, points, share, signed, tokens


def test_figures_are_written_for_people() -> None:
    assert percent(0.2734) == "27.3%"
    assert percent(1, 0) == "100%"
    assert share(0.0) == "0"
    assert share(0.004) == "0.4%"
    assert points(0.258) == "+25.8"
    assert points(-0.02) == "−2.0"
    assert interval(-0.021, 0.306) == "−2.1 to +30.6"
    assert interval(-26.0, -22.5, 1) == "−26.0 to −22.5"
    assert tokens(51.23) == "51.2"
    assert tokens(6825.4) == "6,825"
    assert count(12345) == "12,345"


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert signed(-0.04) == "0.0"
    assert signed(0.04) == "0.0"
    assert signed(-0.06) == "−0.1"
