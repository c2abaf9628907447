"""What do adaptive budgets gain over the same budget for all? `python -m bench.adaptive` where a pipeline has run.

Reads the scored answers of every model on validation and test, the curated questions and the pass rates of the stage
bucket; samples nothing. The tables go to standard output as Markdown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from elastic.adaptive.compare import compare
from elastic.adaptive.evidence import Probing
from elastic.adaptive.outcomes import Outcomes, common_budgets, read_outcomes
from elastic.adaptive.plan import Cost
from elastic.adaptive.predict_agreement import Agreement
from elastic.adaptive.predict_features import QuestionFeatures
from elastic.adaptive.predict_length import QuestionLength
from elastic.adaptive.predict_log_linear import LogLinearLaw
from elastic.adaptive.predictor import Predictor
from elastic.adaptive.records import Comparison, Gain
from elastic.adaptive.shape import Shape
from elastic.budget import Budget
from elastic.contracts.frames import PassRates, Problems, Scored, read_frame
from elastic.contracts.params.profile import Profile, load_profile
from elastic.contracts.records import Decision, read_record

SCORES, CURATED, RATES = Path("results/scores"), Path("data/curated"), Path("data/bucketed/rates.parquet")
DECISION, PARAMS = Path("results/decision.json"), Path("params.yaml")
# Where allowances lie between the cheapest and the dearest budget with the decided solution budget.
SHARES = (0.25, 0.5, 0.75)


def predictors(budgets: Sequence[Budget]) -> list[Predictor]:
    """All predictors; those that probe ask as little as they can: the first depths, the least solution budget."""
    depths = sorted({budget.think for budget in budgets})
    least = min(budget.solution for budget in budgets)
    training = read_frame(Problems, CURATED / "training.parquet").select("problem_id", "question")
    rates = read_frame(PassRates, RATES).filter(pl.col("graded") > 0).join(training, on="problem_id").sort("problem_id")
    return [
        Agreement(Probing((depths[0],), least, paths=2)),
        LogLinearLaw(Probing((depths[0], depths[1]), least)),
        QuestionLength(),
        QuestionFeatures(tuple(rates["question"]), rates["pass_rate"].to_numpy(), rates["graded"].to_numpy()),
    ]


def allowances(validation: Outcomes, shape: Shape, cost: Cost) -> list[float]:
    """Tokens a problem, rounded, between the cheapest and the dearest budget of the shape on validation."""
    columns = shape.columns(validation.budgets)
    totals = [validation.budgets[place].total for place in columns]
    costs = totals if cost is Cost.ALLOWED else validation.curves().used.mean(axis=0)[columns]
    return [float(round(np.min(costs) + share * np.ptp(costs))) for share in SHARES]


def compared(model: str, profile: Profile, solution: int, cost: Cost) -> Comparison:
    """One model of the pipeline, learnt on validation and measured on test."""
    splits = ("validation", "test")
    answers = [read_frame(Scored, SCORES / split / model / "scored.parquet") for split in splits]
    problems = pl.concat(read_frame(Problems, CURATED / f"{split}.parquet") for split in splits)
    budgets = common_budgets(answers)
    validation, test = (read_outcomes(frame, budgets) for frame in answers)
    fixed = Shape(f"s={solution}")
    return compare(
        validation,
        test,
        dict(problems.select("problem_id", "question").iter_rows()),
        predictors(budgets),
        shapes=[fixed, Shape("free")],
        allowances=allowances(validation, fixed, cost),
        cost=cost,
        confidence=profile.score.confidence,
        resamples=profile.score.resamples,
        seed=profile.score.seed,
    )


def _points(gain: Gain | None) -> str:
    return f"{100 * gain.difference:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]" if gain else "–"


def table(model: str, found: Comparison) -> str:
    """Summaries over allowances, then accuracy by allowance and policy, as Markdown."""
    confidence = 100 * found.summaries[0].confidence
    lines = [
        f"### {model}, tokens {found.rows[0].cost}\n",
        f"Over the allowances, intervals of {confidence:.1f} %, with which all predictors hold together:\n",
        "| budgets | policy | over blind, points | over uniform, points | over blind with free probes | skill | paid |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {s.shape} | {s.policy} | {_points(s.over_blind)} | {_points(s.over_uniform)} | {_points(s.unpriced)} "
        f"| {s.skill:+.2f} | {', '.join(f'{allowance:g}' for allowance in s.paid) or 'none'} |"
        for s in found.summaries
    ]
    lines += ["", "| budgets | tokens a problem | policy | accuracy | over blind, points | allowed | used | probes |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    lines += [
        f"| {r.shape} | {r.allowance:g} | {r.policy} | {100 * r.accuracy:.1f} % [{100 * r.low:.1f}, "
        f"{100 * r.high:.1f}] | {_points(r.over_blind)} | {r.allowed:.1f} | {r.used:.1f} | {r.probes:.1f} |"
        for r in found.rows
    ]
    lines += ["", f"Largest bound on what a choice missed: {100 * max(r.gap for r in found.rows):.2f} points.", ""]
    return "\n".join(lines)


def main() -> None:
    """Print both ways to count tokens, for every model."""
    profile = load_profile(PARAMS)
    solution = read_record(Decision, DECISION).solution_budget
    for model in ("base", *profile.rounds):
        for cost in Cost:
            print(table(model, compared(model, profile, solution, cost)))


if __name__ == "__main__":
    main()
