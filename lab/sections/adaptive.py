"""A budget for every problem by predicted difficulty, against one budget for all under the same allowance."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from elastic.adaptive.compare import ORACLE, compare
from elastic.adaptive.evidence import Probing
from elastic.adaptive.outcomes import common_budgets, read_outcomes
from elastic.adaptive.plan import Cost
from elastic.adaptive.predict_agreement import Agreement
from elastic.adaptive.predict_features import QuestionFeatures
from elastic.adaptive.predict_log_linear import LogLinearLaw
from elastic.adaptive.predictor import Predictor
from elastic.adaptive.records import Comparison, Gain, PolicyRow
from elastic.adaptive.shape import Shape
from elastic.adaptive.uniform import BLIND, UNIFORM
from elastic.budget import Budget
from elastic.reporting.words import points
from lab.analysis import Column, Entry, Measured, Panel, Plot, Section, Table
from lab.evidence import Evidence, cell
from lab.tables import ENDINGS, endings, listed, series

# Probes answer at the first thinking depths of the grid: how many depths, of how many paths.
AGREEMENT, LAW = (1, 2), (2, 1)
_TOGETHER = "each model and way to count"


def section(evidence: Evidence) -> Section:
    """The section."""
    found: dict[tuple[str, Cost], Comparison] = {
        (model, cost): _compared(evidence, model, cost) for model in evidence.models for cost in Cost
    }
    summaries = [row for comparison in found.values() for row in comparison.summaries]
    n_summaries = len([row for row in summaries if row.policy != ORACLE])
    return Section(
        key="adaptive",
        question="Does a budget for every problem beat one budget for all?",
        finding=_finding(found, n_summaries),
        notes=[
            "Each problem gets a (t, s) of the grid so that the predicted accuracy of the whole set is greatest under "
            "an allowance of mean tokens a problem: as allowed (t + s) or as really used. Difficulty is predicted "
            "without the test problems' golds: from the agreement of early probes, from that and the log-linear law, "
            "or from the question by pass rates of training problems. Probes are paid out of the allowance.",
            "Uniform gives the same budget to all, mixing two neighbouring ones to spend the allowance exactly; blind "
            "mixes the two that are best to mix and still knows nothing of a problem. The oracle plans from the "
            "outcomes it is measured on: a bound, not a policy.",
            "A summary averages a policy over the allowances that it can pay. Its intervals hold together for all "
            "policies, shapes and both controls of one model and one way to count (Bonferroni); the oracle and probes "
            "that cost nothing are looks beside and not tested.",
        ],
        plots=[_plot(evidence, found, cost) for cost in Cost],
        tables=[*(_summaries(found, cost) for cost in reversed(Cost)), _rows(evidence, found), _uniform(evidence)],
    )


def predictors(evidence: Evidence, budgets: tuple[Budget, ...]) -> list[Predictor]:
    """All predictors; probes have the smallest solution budget, and the first thinking budgets above 0."""
    depths = sorted({budget.think for budget in budgets} - {0})
    solution = min(budget.solution for budget in budgets)
    training = evidence.training()
    return [
        Agreement(Probing(tuple(depths[: AGREEMENT[0]]), solution, AGREEMENT[1])),
        LogLinearLaw(Probing(tuple(depths[: LAW[0]]), solution, LAW[1])),
        QuestionFeatures(tuple(training["question"]), training["pass_rate"].to_numpy(), training["graded"].to_numpy()),
    ]


def _compared(evidence: Evidence, model: str, cost: Cost) -> Comparison:
    params = evidence.params
    answers = [evidence.answers(model, name, strategy="nested") for name in ("validation", "test")]
    budgets = common_budgets(answers)
    validation, test = (read_outcomes(frame, budgets) for frame in answers)
    problems = pl.concat(evidence.questions(name).select("problem_id", "question") for name in ("validation", "test"))
    return compare(
        validation,
        test,
        dict(problems.iter_rows()),
        predictors(evidence, budgets),
        shapes=[Shape(text) for text in params.shapes],
        allowances=params.allowances,
        cost=cost,
        **params.sampling,
    )


def _finding(found: Mapping[tuple[str, Cost], Comparison], tried: int) -> str:
    better, worse = [], []
    for (model, cost), comparison in found.items():
        for row in comparison.summaries:
            gain = row.over_blind
            if row.policy == ORACLE or gain is None or row.over_uniform is None:
                continue
            where = f"{row.policy} ({model}, tokens {cost.value}, {row.shape}) {points(gain.difference)} points"
            if gain.low > 0 and row.over_uniform.low > 0:
                better.append((gain.difference, where))
            if gain.high < 0:
                worse.append((gain.difference, where))
    if not better:
        return (
            f"No adaptive policy beats both controls at equal allowance after the correction of {_TOGETHER}, of "
            f"{tried} tried; "
            f"{len(worse)} are worse than a blind mixture of budgets."
        )
    best = max(better)[1]
    return (
        f"{len(better)} of {tried} adaptive policies beat both controls at equal allowance after the correction of "
        f"{_TOGETHER}, at most {best} over the blind mixture; {len(worse)} are worse than it."
    )


def _plot(evidence: Evidence, found: Mapping[tuple[str, Cost], Comparison], cost: Cost) -> Plot:
    panels = []
    for shape in evidence.params.shapes:
        for model in evidence.models:
            rows = [row for row in found[model, cost].rows if row.shape == shape]
            curves = []
            for policy in dict.fromkeys(row.policy for row in rows):
                own = [row for row in rows if row.policy == policy]
                spent = [row.allowed if cost is Cost.ALLOWED else row.used for row in own]
                curves.append(series(policy, spent, [_reached(row) for row in own]))
            panels.append(Panel(title=f"{model}, {shape}", series=curves))
    used = "mean tokens used" if cost is Cost.USED else "mean tokens allowed (t + s, a limit)"
    return Plot(
        name=f"adaptive-{cost.value}",
        title=f"Accuracy at equal allowance, tokens {cost.value}.",
        caption="A panel a model and a set of budgets; a point an allowance, with intervals over problems.",
        x_label=f"{used}, probes included",
        y_label="accuracy",
        x_scale="log",
        panels=panels,
    )


def _reached(row: PolicyRow) -> Measured:
    return Measured(value=row.accuracy, low=row.low, high=row.high)


def _gain(found: Gain | None, *, tested: bool) -> Entry:
    if found is None:
        return None
    holds = (found.low > 0 or found.high < 0) if tested else None
    return Measured(value=found.difference, low=found.low, high=found.high, holds=holds)


def _summaries(found: Mapping[tuple[str, Cost], Comparison], cost: Cost) -> Table:
    rows: list[list[Entry]] = []
    for (model, counted), comparison in found.items():
        for row in comparison.summaries if counted is cost else []:
            tested = row.policy != ORACLE
            gains = [_gain(gain, tested=tested) for gain in (row.over_uniform, row.over_blind)]
            free = _gain(row.unpriced, tested=False)
            rows.append([model, row.shape, row.policy, *gains, free, row.skill, len(row.paid)])
    return Table(
        title=f"Adaptive budgets over the allowances, tokens {cost.value}",
        detail="points over the same spending without knowledge of problems",
        columns=[
            Column(name="model", unit="label"),
            Column(name="budgets", unit="text"),
            Column(name="policy", unit="text"),
            Column(name=f"− {UNIFORM}", unit="points"),
            Column(name=f"− {BLIND}", unit="points"),
            Column(name=f"− {BLIND}, probes free", unit="points"),
            Column(name="skill", unit="change"),
            Column(name="allowances paid", unit="count"),
        ],
        rows=rows,
        folded=cost is Cost.ALLOWED,
    )


def _rows(evidence: Evidence, found: Mapping[tuple[str, Cost], Comparison]) -> Table:
    rows: list[list[Entry]] = []
    for (model, cost), comparison in found.items():
        for row in comparison.rows:
            gains = [_gain(gain, tested=False) for gain in (row.over_uniform, row.over_blind)]
            spent = [row.allowed, row.used, row.probes, row.n_problems]
            rows.append([model, cost.value, row.shape, row.allowance, row.policy, _reached(row), *gains, *spent])
    return Table(
        title="Every allowance",
        detail=f"models {listed(evidence.models)}; how answers ended is that of their budgets, in the table below",
        columns=[
            Column(name="model", unit="label"),
            *(Column(name=name, unit="text") for name in ("tokens", "budgets")),
            Column(name="allowance", unit="tokens"),
            Column(name="policy", unit="text"),
            Column(name="accuracy", unit="share"),
            Column(name=f"− {UNIFORM}", unit="points"),
            Column(name=f"− {BLIND}", unit="points"),
            *(Column(name=name, unit="tokens") for name in ("allowed", "used", "probes")),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
        folded=True,
    )


def _uniform(evidence: Evidence) -> Table:
    rows: list[list[Entry]] = []
    for model in evidence.models:
        answers = evidence.answers(model, "test", strategy="nested")
        budgets = common_budgets([answers, evidence.answers(model, "validation", strategy="nested")])
        for budget in budgets:
            own = cell(answers, "separate", budget)
            rows.append([model, str(budget), *endings(own, f"{model}, {budget}", evidence.params)])
    return Table(
        title="How answers ended at the budgets that a policy may give",
        columns=[Column(name="model", unit="label"), Column(name="budget", unit="text"), *ENDINGS],
        rows=rows,
        folded=True,
    )
