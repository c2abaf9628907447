"""The log-linear law: its fit, its residuals, and what a wanted accuracy costs (after arXiv 2505.12992)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from elastic.budget import Budget
from elastic.errors import DataError
from elastic.metrics.log_linear import LogLinear, PredictedTokens, fit_log_linear, predict_tokens, residuals
from elastic.metrics.problems import problem_means
from lab.analysis import Column, Entry, Measured, Panel, Plot, Section, Series, Table
from lab.evidence import Evidence, cell, grid_of
from lab.tables import ENDINGS, endings, listed, mean


@dataclass(frozen=True)
class _Law:
    """Separate budgets of one model: tokens and accuracy by row and problem, and the line through their means."""

    budgets: list[Budget]
    tokens: np.ndarray
    accuracies: np.ndarray
    fit: LogLinear | None

    @property
    def spent(self) -> list[float]:
        """Mean tokens of every row."""
        return self.tokens.mean(axis=1).tolist()

    @property
    def reached(self) -> list[float]:
        """Accuracy of every row."""
        return self.accuracies.mean(axis=1).tolist()

    @property
    def missed(self) -> list[float]:
        """Residual of every row; none without a line."""
        return residuals(self.fit, self.spent, self.reached).tolist() if self.fit else []


def section(evidence: Evidence) -> Section:
    """The section."""
    answers = {model: evidence.answers(model, "test") for model in evidence.models}
    laws = {model: _law(frame, evidence.main.solution) for model, frame in answers.items()}
    return Section(
        key="log-linear",
        question="Is accuracy a straight line over the logarithm of tokens?",
        finding=_finding(laws),
        notes=[
            f"Least squares over the separate budgets at s = {evidence.main.solution} with thinking, of accuracy over "
            "ln of mean tokens used. The line describes the tokens it was fitted over and says nothing beyond; a "
            "wanted accuracy outside them has no price.",
        ],
        plots=[_plot(laws), _residual_plot(laws)],
        tables=[_fits(laws), _prices(evidence, laws), _rows(evidence, answers, laws)],
    )


def _law(answers: pl.DataFrame, solution: int) -> _Law:
    budgets = [budget for budget in grid_of(answers) if budget.solution == solution and budget.think > 0]
    means = [problem_means(cell(answers, "separate", budget)) for budget in budgets]
    shared = means[0].select("problem_id")
    for frame in means[1:]:
        shared = shared.join(frame, on="problem_id", how="semi")
    ordered = [shared.join(frame, on="problem_id", how="left", maintain_order="left") for frame in means]
    tokens, accuracies = (np.array([frame[name].to_numpy() for frame in ordered]) for name in ("tokens", "accuracy"))
    return _Law(
        budgets, tokens, accuracies, fit_log_linear(tokens.mean(axis=1).tolist(), accuracies.mean(axis=1).tolist())
    )


def _finding(laws: Mapping[str, _Law]) -> str:
    parts = []
    for model, law in laws.items():
        if law.fit is None:
            parts.append(f"{model} has too few budgets for a line")
            continue
        worst = max(law.missed, key=abs)
        parts.append(f"{model} R² {law.fit.r2:.2f} (off by up to {100 * abs(worst):.0f} points)")
    return f"Straight lines over ln(tokens): {listed(parts)}."


def _plot(laws: Mapping[str, _Law]) -> Plot:
    curves = []
    for model, law in laws.items():
        curves.append(Series(colour=model, style="measured", line="points", x=law.spent, y=law.reached))
        if law.fit:
            ends = [min(law.spent), max(law.spent)]
            line = [law.fit.a + law.fit.b * float(np.log(end)) for end in ends]
            curves.append(Series(colour=model, style="fitted line", line="plain", x=ends, y=line))
    return Plot(
        name="log-linear",
        title="The law and what it is fitted to.",
        caption="Separate budgets; a straight line on this axis is the logarithmic law.",
        x_label="mean tokens used (thinking + solution)",
        y_label="accuracy",
        x_scale="log",
        panels=[Panel(series=curves)],
    )


def _residual_plot(laws: Mapping[str, _Law]) -> Plot:
    return Plot(
        name="log-linear-residuals",
        title="What the line misses.",
        caption="Residuals of one sign in the middle and of the other at the ends say that the law is not logarithmic.",
        x_label="mean tokens used (thinking + solution)",
        y_label="accuracy above the line, points",
        x_scale="log",
        y_unit="points",
        zero=True,
        panels=[
            Panel(series=[Series(colour=model, x=law.spent, y=law.missed) for model, law in laws.items() if law.fit])
        ],
    )


def _fits(laws: Mapping[str, _Law]) -> Table:
    rows: list[list[Entry]] = []
    for model, law in laws.items():
        figures: list[Entry] = [law.fit.a, law.fit.b, law.fit.r2] if law.fit else [None] * 3
        rows.append([model, *figures, max(law.missed, key=abs, default=None), len(law.budgets)])
    return Table(
        title="accuracy = a + b ln(tokens)",
        columns=[
            Column(name="model", unit="label"),
            Column(name="a", unit="change"),
            Column(name="b", unit="change"),
            Column(name="R²", unit="number"),
            Column(name="largest residual", unit="points"),
            Column(name="budgets", unit="count"),
        ],
        rows=rows,
    )


def _prices(evidence: Evidence, laws: Mapping[str, _Law]) -> Table:
    rows: list[list[Entry]] = []
    for model, law in laws.items():
        totals = np.array([[budget.total] * law.tokens.shape[1] for budget in law.budgets], dtype=float)
        for wanted in evidence.params.wanted:
            used, why = _priced(evidence, wanted, law.tokens, law.accuracies)
            budget, _ = _priced(evidence, wanted, totals, law.accuracies)
            rows.append([model, wanted, _entry(used), _entry(budget), why])
    return Table(
        title="What a wanted accuracy costs",
        detail="read off the line, with the interval where both ends were measured; a budget is t + s",
        columns=[
            Column(name="model", unit="label"),
            Column(name="accuracy", unit="share"),
            Column(name="tokens used", unit="tokens"),
            Column(name="budget", unit="tokens"),
            Column(name="otherwise", unit="text"),
        ],
        rows=rows,
    )


def _priced(
    evidence: Evidence, wanted: float, tokens: np.ndarray, accuracies: np.ndarray
) -> tuple[PredictedTokens | None, str]:
    """The price of an accuracy, or why it has none."""
    params = evidence.params
    try:
        return predict_tokens(wanted, tokens, accuracies, **params.sampling), ""
    except DataError as error:
        return None, error.what


def _entry(found: PredictedTokens | None) -> Entry:
    if found is None:
        return None
    return Measured(value=found.tokens, low=found.low, high=found.high)


def _rows(evidence: Evidence, answers: Mapping[str, pl.DataFrame], laws: Mapping[str, _Law]) -> Table:
    rows: list[list[Entry]] = []
    for model, law in laws.items():
        missed: Sequence[float | None] = law.missed or [None] * len(law.budgets)
        for budget, spent, off in zip(law.budgets, law.spent, missed, strict=True):
            found = cell(answers[model], "separate", budget)
            reached = mean(problem_means(found), evidence.params, "accuracy")
            shares = endings(found, f"{model}, {budget}", evidence.params)
            rows.append([model, str(budget), spent, reached, off, *shares])
    return Table(
        title="Every budget and its residual",
        columns=[
            Column(name="model", unit="label"),
            Column(name="budget", unit="text"),
            Column(name="tokens", unit="tokens"),
            Column(name="accuracy", unit="share"),
            Column(name="above the line", unit="points"),
            *ENDINGS,
        ],
        rows=rows,
        folded=True,
    )
