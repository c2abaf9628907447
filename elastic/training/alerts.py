"""Signs of a collapse: entropy, reward or accuracy falling off, thinking that shrinks to nothing.

The Art of Efficient Reasoning (arXiv 2602.20945) sees such runs: hard prompts alone end in an entropy spike and a
collapse, and leaving the wrong samples out of the loss collapses after some 400 steps. Bounds are params; a mean over
a window of steps is held against them, so that one noisy step alerts nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from elastic.contracts.params.train import Alerts

_WATCHED = ("entropy", "reward", "accuracy", "think_tokens")


class CollapseWatch:
    """Takes the figures of every step and says what has collapsed, once a kind."""

    def __init__(self, bounds: Alerts) -> None:
        self.bounds = bounds
        self._latest = {name: deque[float](maxlen=bounds.window) for name in _WATCHED}
        self._best: dict[str, float] = {}
        self._first_think: float | None = None
        self._said: set[str] = set()

    def observe(self, figures: Mapping[str, Any]) -> list[str]:
        """The alerts that this step raises, in words."""
        for name in _WATCHED:
            if figures.get(name) is not None:
                self._latest[name].append(float(figures[name]))
        means = {
            name: sum(values) / len(values)
            for name, values in self._latest.items()
            if len(values) == self.bounds.window
        }
        alerts = []
        for name, text in self._collapsed(means):
            if name not in self._said:
                self._said.add(name)
                alerts.append(text)
        for name, mean in means.items():
            self._best[name] = max(mean, self._best.get(name, mean))
        if self._first_think is None and "think_tokens" in means:
            self._first_think = means["think_tokens"]
        return alerts

    def _collapsed(self, means: Mapping[str, float]) -> list[tuple[str, str]]:
        bounds, found = self.bounds, []
        if "entropy" in means and means["entropy"] < bounds.min_entropy:
            found.append(("entropy", f"entropy fell to {means['entropy']:.4f} nats, below {bounds.min_entropy:g}"))
        for name, fall in (("reward", bounds.max_reward_fall), ("accuracy", bounds.max_accuracy_fall)):
            best = self._best.get(name)
            if name in means and best is not None and best > 0 and means[name] < best * (1 - fall):
                found.append((name, f"{name} fell from {best:.3f} to {means[name]:.3f}, by more than {fall:.0%}"))
        first = self._first_think
        if first and means.get("think_tokens", first) < first * bounds.min_think_share:
            found.append(("think_tokens", f"mean thinking fell from {first:.1f} to {means['think_tokens']:.1f} tokens"))
        return found
