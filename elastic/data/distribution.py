"""Figures of the present data, and their distance from the version of it that was accepted last.

Shares are compared by the total variation distance: half the sum of the absolute differences, 0 for equal shares and 1
for shares that have no value in common. It is the part of the rows that would have to change their value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from elastic.contracts.distribution import Distribution, FrameFigures
from elastic.contracts.params.check import DriftBounds
from elastic.data.answer_kinds import answer_kind

ACCEPTED = Path("data/accepted")
_NAMED = 3


def accepted_path(profile: str, gate: str) -> Path:
    """Where the figures of a profile's accepted version stand."""
    return ACCEPTED / profile / f"{gate}.json"


def _shares(values: pl.Series) -> dict[str, float]:
    counts = values.fill_null("none").value_counts(normalize=True)
    return {str(value): round(share, 6) for value, share in sorted(counts.iter_rows())}


def _problem_figures(frame: pl.DataFrame, *, code: pl.Expr) -> FrameFigures:
    """Figures of problems: how many, how long their questions are, where they come from, what answers them."""
    chars = frame["question"].str.len_chars().mean()
    domains = frame.select(pl.when(code).then(pl.lit("code")).otherwise(pl.lit("math"))).to_series()
    kinds = [answer_kind(answer, domain) for answer, domain in zip(frame["answer"], domains, strict=True)]
    shares = {"source": _shares(frame["source"]), "answer kind": _shares(pl.Series(kinds, dtype=pl.String))}
    if "bucket" in frame.columns:
        shares["bucket"] = _shares(frame["bucket"])
    means = {} if frame.is_empty() else {"question length": round(float(chars), 6)}  # type: ignore[arg-type]
    return FrameFigures(rows=len(frame), means=means, shares=shares)


def curated_figures(splits: Mapping[str, pl.DataFrame]) -> Distribution:
    """Figures of the curated splits.

    Args:
        splits: frames Problems by split.
    """
    figures = {name: _problem_figures(frame, code=pl.col("domain") == "code") for name, frame in splits.items()}
    return Distribution(gate="curated", frames=figures)


def bucketed_figures(rates: pl.DataFrame, sets: Mapping[str, pl.DataFrame]) -> Distribution:
    """Figures of the probed problems and of what was cut from them.

    Args:
        rates: a frame PassRates.
        sets: frames TrainingSet by name.
    """
    mean = rates["pass_rate"].mean()
    probed = FrameFigures(
        rows=len(rates),
        means={} if mean is None else {"pass rate": round(float(mean), 6)},  # type: ignore[arg-type]
        shares={"source": _shares(rates["source"]), "bucket": _shares(rates["bucket"])},
    )
    figures = {name: _problem_figures(frame, code=pl.col("tests").is_not_null()) for name, frame in sets.items()}
    return Distribution(gate="bucketed", frames={"rates": probed, **figures})


@dataclass(frozen=True)
class Shift:
    """How one figure of a frame has moved.

    Attributes:
        figure: its name.
        value: present / accepted, or a total variation distance.
        low, high: what is allowed; None leaves a side open.
        detail: then and now, in words.
    """

    figure: str
    value: float
    low: float | None
    high: float
    detail: str


def _ratio(figure: str, then: float, now: float, change: float) -> Shift:
    value = 1.0 if then == now else now / (then or 1.0)
    said = f"{then:g}, now {now:g}"
    return Shift(f"{figure}, present / accepted", round(value, 6), max(1 - change, 0.0), 1 + change, said)


def _distance(figure: str, then: Mapping[str, float], now: Mapping[str, float], most: float) -> Shift:
    moved = {name: now.get(name, 0.0) - then.get(name, 0.0) for name in {*then, *now}}
    furthest = sorted(moved, key=lambda name: (-round(abs(moved[name]), 6), name))[:_NAMED]
    said = (f"{name} {then.get(name, 0):.1%}, now {now.get(name, 0):.1%}" for name in furthest)
    distance = sum(map(abs, moved.values())) / 2
    return Shift(f"shares by {figure}, distance", round(distance, 6), None, most, "; ".join(said))


def shifts(accepted: Distribution, present: Distribution, bounds: DriftBounds) -> dict[str, list[Shift]]:
    """What has moved, by frame; a frame without rows then and now has nothing to compare."""
    empty = FrameFigures(rows=0, means={}, shares={})
    found: dict[str, list[Shift]] = {}
    for name in sorted({*accepted.frames, *present.frames}):
        then, now = accepted.frames.get(name, empty), present.frames.get(name, empty)
        if not (then.rows or now.rows):
            continue
        found[name] = [_ratio("rows", then.rows, now.rows, bounds.max_row_change)]
        if then.rows and now.rows:
            both = sorted(then.means.keys() & now.means.keys())
            found[name] += [
                _ratio(f"mean {mean}", then.means[mean], now.means[mean], bounds.max_mean_change) for mean in both
            ]
            kinds = sorted(then.shares.keys() & now.shares.keys())
            found[name] += [
                _distance(kind, then.shares[kind], now.shares[kind], bounds.max_share_distance) for kind in kinds
            ]
    return found
