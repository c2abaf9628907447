"""A collapse is said once, by the mean of a window, and a steady or noisy run is left alone."""

from __future__ import annotations

import pytest

from elastic.contracts.params.train import Alerts
from elastic.training.alerts import CollapseWatch

GOOD = {"entropy": 0.5, "reward": 0.8, "accuracy": 0.8, "think_tokens": 40.0}


def alerts(changes: list[dict[str, float]], *, window: int = 2) -> list[str]:
    watch = CollapseWatch(Alerts(window=window))
    return [text for change in changes for text in watch.observe(GOOD | change)]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"entropy": 0.001}, "entropy fell to 0.0010 nats"),
        ({"reward": 0.3}, "reward fell from 0.800 to 0.300"),
        ({"accuracy": 0.0}, "accuracy fell from 0.800 to 0.000"),
        ({"think_tokens": 1.0}, "mean thinking fell from 40.0 to 1.0 tokens"),
    ],
)
def test_each_kind_of_collapse_is_said_once(bad: dict[str, float], says: str) -> None:
    said = alerts([{}, {}, bad, bad, bad, bad])
    assert len(said) == 1
    assert says in said[0]


def test_one_bad_step_within_a_window_alerts_nobody() -> None:
    assert alerts([{}] * 5 + [{"reward": 0.0, "accuracy": 0.0}] + [{}] * 5, window=5) == []


def test_a_run_that_improves_alerts_nobody() -> None:
    assert (
        alerts([{"reward": step / 10, "accuracy": step / 10, "think_tokens": 40 - 3 * step} for step in range(10)])
        == []
    )


def test_a_step_without_a_figure_does_not_count_for_it() -> None:
    watch = CollapseWatch(Alerts(window=1))
    assert watch.observe({"reward": None, "entropy": 0.5}) == []
