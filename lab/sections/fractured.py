"""Fractured sampling: whether answers from unfinished thinking buy more than further paths (arXiv 2505.12992)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.depths import at_depths, depth_count, evenly_spaced
from elastic.metrics.lattice import Lattice, lattice_of
from elastic.metrics.log_linear import fit_log_linear
from elastic.metrics.pass_curves import (
    Curve,
    along_depths,
    along_draws,
    along_paths,
    at_cost,
    curve_table,
    over_paths,
    path_hits,
)
from elastic.metrics.planning import Choice, best_under, candidates
from lab.analysis import Column, Entry, Measured, Panel, Plot, Section, Table
from lab.evidence import Evidence
from lab.paired import Difference, Family
from lab.tables import ENDINGS, endings, entry, series, verdicts

FRACTURED = "fractured"
DEPTHS, DRAWS = (1, 4, 16), (1, 4)
Config = tuple[int, int]


def section(evidence: Evidence) -> Section:
    """The section."""
    frames = {model: evidence.answers(model, "few", strategy=FRACTURED) for model in evidence.models}
    lattices = {model: lattice_of(frame) for model, frame in frames.items()}
    configs = _configs(next(iter(lattices.values())))
    curves = {
        (model, config): along_paths(lattice, depths=config[0], draws=config[1])
        for model, lattice in lattices.items()
        for config in configs
    }
    points = {key: curve_table([curve], **evidence.params.sampling) for key, curve in curves.items()}
    plain = configs[0]
    paths = _doublings(next(iter(lattices.values())).shape[1])
    family = Family("fractured", evidence.params)
    for model in evidence.models:
        for path in paths:
            cost = float(curves[model, plain].costs[path - 1])
            control = _at(curves[model, plain], cost)
            for config in configs[1:]:
                values = _at(curves[model, config], cost)
                if values is not None and control is not None:
                    family.add((model, config, path), values, control)
    plans = {
        (model, path): plan
        for model in evidence.models
        for path, plan in _planned(evidence, model, lattices[model], paths[1:]).items()
    }
    for (model, path), plan in plans.items():
        control = _at(curves[model, plain], plan.cost)
        if control is not None:
            family.add((model, "planned", path), plan.values, control)
    found = family.corrected()
    problems, n, depths, draws = next(iter(lattices.values())).shape
    return Section(
        key="fractured",
        question="Do answers from unfinished thinking buy more than further paths?",
        finding=_finding(evidence, found),
        notes=[
            f"{problems} problems, n = {n} thinking paths, H = {depths} depths, m = {draws} answers a depth. pass@k is "
            "unbiased: it averages over every choice of paths. Cost is B = n (C_think + m H C_solution) tokens a "
            "problem.",
            "At equal cost, a configuration is read off its curve over ln B; where its cheapest point costs more, or "
            "its dearest less, nothing is compared.",
            "The planner picks (n, H, m) on validation by pass@k under a cost, and is measured on these problems "
            "against plain paths at the same cost.",
            "Published: pass@k is a straight line over ln B, whose slope along H is at least that along n and m. "
            "Slopes here are over stretches of B that differ, and fall as pass@k nears 100%, so that they are not "
            "tested.",
        ],
        plots=[_plot(evidence, points)],
        tables=[
            _equal_cost(evidence, found, configs, paths, curves),
            _plans(plans, found),
            _slopes(evidence, lattices),
            _points(evidence, frames, points),
        ],
    )


def _configs(lattice: Lattice) -> list[Config]:
    """(H, m) of the curves that the lattice holds, the plain one first."""
    _, _, depths, draws = lattice.shape
    return [(h, m) for h in DEPTHS for m in DRAWS if h <= depths and m <= draws]


def _doublings(paths: int) -> list[int]:
    """1, 2, 4 ... up to the number of paths."""
    return [2**power for power in range(paths.bit_length()) if 2**power <= paths]


def _at(curve: Curve, cost: float) -> pl.DataFrame | None:
    """pass@k by problem at a cost; None where the curve does not reach it."""
    try:
        values = at_cost(curve, cost)
    except DataError:
        return None
    frame = pl.DataFrame({"problem_id": curve.problems, "value": values})
    return frame.filter(pl.col("value").is_not_nan())


@dataclass(frozen=True)
class _Plan:
    """What the planner chose on validation under a cost there, and what it is worth and costs on test."""

    allowed: float
    chosen: Choice
    cost: float
    values: pl.DataFrame


def _planned(evidence: Evidence, model: str, lattice: Lattice, paths: list[int]) -> dict[int, _Plan]:
    """The choice at the cost of so many plain paths, as far as validation has as many."""
    params = evidence.params
    frame = evidence.answers(model, "validation", strategy=FRACTURED)
    there = lattice_of(frame)
    last = evenly_spaced(there.shape[2], 1)
    found = candidates(frame, "pass", shuffles=1, seed=params.seed)
    plans = {}
    for path in paths:
        if path <= there.shape[1]:
            allowed = there.cost(path, last, 1)
            chosen = best_under(found, allowed, **params.sampling)
            hits = over_paths(path_hits(lattice, chosen.depths, chosen.draws))[:, chosen.paths - 1]
            values = pl.DataFrame({"problem_id": lattice.problems, "value": hits}).filter(pl.col("value").is_not_nan())
            plans[path] = _Plan(allowed, chosen, lattice.cost(chosen.paths, chosen.depths, chosen.draws), values)
    return plans


def _plans(plans: Mapping[tuple[str, int], _Plan], found: Mapping[Any, Difference]) -> Table:
    rows: list[list[Entry]] = []
    for (model, path), plan in plans.items():
        chosen, difference = plan.chosen, found.get((model, "planned", path))
        size = f"{chosen.paths}, {len(chosen.depths)} {chosen.spacing}, {chosen.draws}"
        rows.append(
            [model, plan.allowed, size, entry(chosen.value), plan.cost, float(plan.values["value"].to_numpy().mean()),
             difference.entry if difference else None, len(plan.values)]
        )  # fmt: skip
    return Table(
        title="Planned on validation, measured on test",
        detail="pass@k; the last columns are of test",
        columns=[
            Column(name="model", unit="label"),
            Column(name="B allowed", unit="tokens"),
            Column(name="n, H, m", unit="text"),
            Column(name="on validation", unit="share"),
            Column(name="B", unit="tokens"),
            Column(name="pass@k", unit="share"),
            Column(name="− plain at that B", unit="points"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _finding(evidence: Evidence, found: Mapping[Any, Difference]) -> str:
    parts = []
    for model in evidence.models:
        rows = [row for key, row in found.items() if key[0] == model and key[1] != "planned"]
        parts.append(f"{model}, {verdicts(rows) if rows else 'no cost in common'}")
    return (
        "More depths or answers against plain sampling (H = 1, m = 1) at equal cost, after Holm's correction: "
        f"{'; '.join(parts)}."
    )


def _measured(points: pl.DataFrame) -> list[Measured]:
    return [Measured(**row) for row in points.select("value", "low", "high").iter_rows(named=True)]


def _plot(evidence: Evidence, points: Mapping[tuple[str, Config], pl.DataFrame]) -> Plot:
    panels = []
    for model in evidence.models:
        drawn = [
            series(f"H = {depths}", table["cost"], _measured(table), style=f"m = {draws}")
            for (name, (depths, draws)), table in points.items()
            if name == model
        ]
        panels.append(Panel(title=model, series=drawn))
    return Plot(
        name="fractured",
        title="pass@k against what it costs.",
        caption="A curve joins 1 to n thinking paths, each answered m times at H depths; intervals over problems.",
        x_label="cost B, tokens a problem (used; prompts and prefill free)",
        y_label="pass@k",
        x_scale="log",
        y_unit="percent",
        panels=panels,
    )


def _equal_cost(
    evidence: Evidence,
    found: Mapping[Any, Difference],
    configs: list[Config],
    paths: list[int],
    curves: Mapping[tuple[str, Config], Curve],
) -> Table:
    rows: list[list[Entry]] = []
    for model in evidence.models:
        for path in paths:
            cost = float(curves[model, configs[0]].costs[path - 1])
            differences = [found.get((model, config, path)) for config in configs[1:]]
            if any(differences):
                rows.append([model, path, cost, *(row.entry if row else None for row in differences)])
    return Table(
        title="pass@k minus that of plain paths at the same cost",
        detail="points; a dash where a configuration has no point at that cost",
        columns=[
            Column(name="model", unit="label"),
            Column(name="plain paths", unit="count"),
            Column(name="B", unit="tokens"),
            *(Column(name=f"H = {depths}, m = {draws}", unit="points") for depths, draws in configs[1:]),
        ],
        rows=rows,
    )


def _slopes(evidence: Evidence, lattices: Mapping[str, Lattice]) -> Table:
    rows: list[list[Entry]] = []
    for model in evidence.models:
        lattice = lattices[model]
        for curve in (along_paths(lattice), along_depths(lattice), along_draws(lattice)):
            fit = fit_log_linear(curve.costs.tolist(), np.nanmean(curve.values, axis=0).tolist())
            first, last = float(curve.costs[0]), float(curve.costs[-1])
            ends = [float(np.nanmean(curve.values[:, place])) for place in (0, -1)]
            rows.append(
                [model, curve.axis, len(curve.sizes), first, last, *ends, *((fit.b, fit.r2) if fit else (None,) * 2)]
            )
    return Table(
        title="pass@k = c + C ln B along one axis at a time",
        detail="along n, H and m, with one of the others",
        columns=[
            Column(name="model", unit="label"),
            Column(name="axis", unit="text"),
            Column(name="points", unit="count"),
            Column(name="B from", unit="tokens"),
            Column(name="to", unit="tokens"),
            Column(name="pass@k from", unit="share"),
            Column(name="to", unit="share"),
            Column(name="C", unit="change"),
            Column(name="R²", unit="number"),
        ],
        rows=rows,
    )


def _points(
    evidence: Evidence, frames: Mapping[str, pl.DataFrame], points: Mapping[tuple[str, Config], pl.DataFrame]
) -> Table:
    rows: list[list[Entry]] = []
    for (model, (depths, draws)), table in points.items():
        chosen = evenly_spaced(depth_count(frames[model]), depths)
        answers = at_depths(frames[model], chosen).filter(pl.col("draw") < draws)
        shares = endings(answers, f"{model}, H = {depths}, m = {draws}", evidence.params)
        for n, cost, reached in zip(table["n"], table["cost"], _measured(table), strict=True):
            rows.append([model, n, depths, draws, cost, reached, *shares[:-1], n])
    return Table(
        title="Every point",
        detail="how answers ended is of all answers at these depths and draws; samples are thinking paths",
        columns=[
            Column(name="model", unit="label"),
            *(Column(name=name, unit="count") for name in ("n", "H", "m")),
            Column(name="B", unit="tokens"),
            Column(name="pass@k", unit="share"),
            *ENDINGS,
        ],
        rows=rows,
        folded=True,
    )
