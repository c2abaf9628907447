"""The report of the comparison: index.html and summary.md for people, summary.json for machines.

Run it alone, in this folder: `python -m compare.report`. Seconds come from records/, which differ from run to run; a
record whose outputs are no longer those on disk is not shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from compare import figures
from compare.claims import Judged, ask, judge, read_claims
from compare.figures import Panel
from compare.findings import Cell, Difference, Findings, Measure, Run, measured
from compare.params import (
    BASE,
    SPLIT,
    AllowanceBlock,
    EvaluateParams,
    GrpoRecipe,
    ReportParams,
    RunsBlock,
    ShortestRecipe,
    recipe_named,
)
from elastic.contracts.frames import Scored, read_frame
from elastic.contracts.params.common import validate
from elastic.contracts.records import write_json
from elastic.errors import DataError
from elastic.reporting.templates import templates
from stages.common import Context, current_record, exit_with_message, params_block, run_stage

SCORES = Path("results/scores") / SPLIT
TRAINING = Path("reports/training")
OUTPUT = Path("reports")
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Reached:
    """What it took one run to answer, at the main budget, as well as the base does without one.

    Attributes:
        name: of the run.
        tokens: sampled in training until then, in its whole chain; None where it never did.
        spent: sampled in all.
        seconds: of the chain until then, in proportion to its tokens; None without records.
        whole: seconds in all.
    """

    name: str
    tokens: int | None
    spent: int
    seconds: float | None
    whole: float | None


@dataclass(frozen=True)
class Row:
    """One recipe in the main table."""

    recipe: str
    label: str
    seeds: int
    at_main: Difference | None
    free: Difference | None
    shorter: Difference | None


@dataclass(frozen=True)
class Report:
    """Everything that the page, the table and the summary say."""

    params: ReportParams
    solution: int
    limit: int
    allowance: int
    problems: int
    samples: int
    labels: dict[str, str]
    findings: Findings
    rows: list[Row]
    judged: list[Judged]
    reached: dict[str, list[Reached]]
    target: float
    length_errors: dict[str, tuple[int, float]]
    trained: dict[str, int]


def read_runs(runs: RunsBlock) -> tuple[list[Run], dict[str, pl.DataFrame]]:
    """All measured models, the base first, on the problems that the base was graded on; and their scored traces."""
    names: dict[str, tuple[str, int | None]] = {BASE: (BASE, None)}
    names |= {name: (run.recipe, run.seed) for name, run in runs.ends.items()}
    scored = {name: read_frame(Scored, SCORES / name / "scored.parquet") for name in names}
    problems = scored[BASE]["problem_id"].unique().sort().to_list()
    return [measured(name, *names[name], scored=frame, problems=problems) for name, frame in scored.items()], scored


def reached(name: str, runs: RunsBlock, budget: str, target: float) -> Reached:
    """Look for the first look of the monitor at `budget` with at least the accuracy `target`, along the run's chain.

    Raises:
        DataError: a run left no log.
    """
    spent, at = 0, None
    seconds: float | None = 0.0
    for link in runs.chain(name):
        path = TRAINING / link / "metrics.jsonl"
        if not path.exists():
            raise DataError("no such file", where=str(path), remedy="run `dvc repro`, which trains the run")
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            spent += int(row.get("sampled_tokens", 0)) + int(row.get("monitor_tokens", 0))
            if at is None and row.get("monitor") == budget and row["step"] > 0 and row["accuracy"] >= target:
                at = spent
        record = current_record(f"train@{link}")
        seconds = seconds + record.seconds if seconds is not None and record else None
    until = seconds * at / spent if seconds is not None and at is not None else None
    return Reached(name, at, spent, until, seconds)


def length_error(scored: pl.DataFrame, asked: int) -> float:
    """Mean distance of a response from the length that was asked for, as a share of it, without a budget."""
    free = scored.filter(method="unconstrained")
    return float(((free["n_think"] + free["n_solution"] - asked).abs() / asked).mean())  # type: ignore[arg-type]


def assemble(
    runs: RunsBlock,
    recipes: Mapping[str, GrpoRecipe | ShortestRecipe],
    allowance: int,
    evaluate: EvaluateParams,
    params: ReportParams,
) -> Report:
    """Everything that the report says, from what lies on disk."""
    models, scored = read_runs(runs)
    findings = Findings(models, params)
    main, control = params.main, params.control
    used = [recipe for recipe in findings.by_recipe if recipe != BASE]
    labels = {BASE: "base", **{recipe: recipes[recipe].label for recipe in used}}
    rows = [Row(BASE, labels[BASE], 1, None, None, None)]
    for recipe in used:
        against = BASE if recipe == control else control
        cells: list[tuple[Cell, Measure]] = [(main, "accuracy"), (None, "accuracy"), (None, "tokens")]
        gains = [findings.difference(recipe, against, *cell) for cell in cells]
        rows.append(Row(recipe, labels[recipe], len(findings.by_recipe[recipe]), *gains))
    if "e1" in used and control in used:
        for cell in findings.cells:
            findings.difference("e1", control, cell)
    if {"e1", "e1_faithful"} <= set(used):
        for cell in (main, None):
            findings.difference("e1_faithful", "e1", cell)
    claims = read_claims(_FOLDER / "claims.yaml")
    ask(claims, findings)
    findings.correct()
    target = float(findings.mean(BASE, "accuracy", None).mean())
    solution = evaluate.grid.solution[0]
    asked = {name: recipe.asked for name, recipe in recipes.items() if isinstance(recipe, GrpoRecipe) and recipe.asked}
    trained = {
        recipe: recipes[recipe].budget.think
        for recipe in used
        if recipe == "e1" or (recipe.startswith("e1_t") and recipe[4:].isdigit())
    }
    return Report(
        params=params,
        solution=solution,
        limit=evaluate.grid.limit,
        allowance=allowance,
        problems=len(findings.difficulty),
        samples=evaluate.grid.samples,
        labels=labels,
        findings=findings,
        rows=rows,
        judged=[judge(claim, findings) for claim in claims],
        reached={
            recipe: [reached(run.name, runs, f"{main}+{solution}", target) for run in findings.by_recipe[recipe]]
            for recipe in used
        },
        target=target,
        length_errors={
            run.name: (asked[run.recipe], length_error(scored[run.name], asked[run.recipe]))
            for run in models
            if run.recipe in asked
        },
        trained=dict(sorted(trained.items(), key=lambda item: item[1])),
    )


def summary_of(report: Report) -> dict[str, Any]:
    """The report for machines; seconds and other things that differ from run to run are left out."""
    findings = report.findings
    measures: tuple[Measure, ...] = ("accuracy", "tokens")
    return {
        "allowance": report.allowance,
        "problems": report.problems,
        "samples": report.samples,
        "solution_budget": report.solution,
        "limit": report.limit,
        "recipes": {
            recipe: {
                "label": report.labels[recipe],
                "seeds": [run.seed for run in findings.by_recipe[recipe]],
                "adaptation_ratio": findings.interval(recipe, "adaptation", None)._asdict(),
                "cells": [
                    {
                        "think": cell,
                        **{measure: findings.interval(recipe, measure, cell)._asdict() for measure in measures},
                        **{f"{measure}_by_seed": findings.each_seed(recipe, measure, cell) for measure in measures},
                    }
                    for cell in findings.cells
                ],
                "tokens_to_match_base": findings.tokens_to_match(recipe, _base_at_main(report)),
                "training": [
                    {"run": row.name, "sampled_tokens": row.spent, "tokens_to_reach": row.tokens}
                    for row in report.reached.get(recipe, [])
                ],
            }
            for recipe in report.labels
        },
        "differences": [{**asdict(row), "claimed": row.claimed} for row in findings.differences.values()],
        "claims": [
            {"claim": row.claim.claim, "outcome": row.outcome, "here": row.here, "seeds": row.seeds}
            for row in report.judged
        ],
        "length_errors": {name: {"asked": a, "error": e} for name, (a, e) in report.length_errors.items()},
    }


def _base_at_main(report: Report) -> float:
    return float(report.findings.mean(BASE, "accuracy", report.params.main).mean())


def _render(name: str, report: Report, **more: Any) -> str:
    environment = templates(_FOLDER, html=name.endswith("html.j2"))
    return environment.get_template(name).render(
        report=report,
        findings=report.findings,
        params=report.params,
        base=BASE,
        base_at_main=_base_at_main(report),
        **more,
    )


def draw(report: Report) -> dict[str, Markup]:
    """The figures by name, as SVG."""
    findings, labels, main, control = report.findings, report.labels, report.params.main, report.params.control
    drawn = {
        "by_tokens": figures.accuracy_by_tokens(findings, labels, control),
        "at_main": figures.dots(
            findings,
            labels,
            [Panel(f"accuracy at t = {main}", "accuracy", main, percent=True), Panel("tokens there", "tokens", main)],
            "at-main",
        ),
        "free": figures.dots(
            findings,
            labels,
            [Panel("tokens, no budget", "tokens", None), Panel("accuracy, no budget", "accuracy", None, percent=True)],
            "free",
        ),
        "adaptation": figures.dots(
            findings, labels, [Panel("tokens on hard / tokens on easy problems", "adaptation", None)], "adaptation"
        ),
    }
    if ("e1", control, main, "accuracy") in findings.differences:
        drawn["gain"] = figures.gain_by_budget(findings, "e1", control)
    if len(report.trained) > 1:
        drawn["trained"] = figures.trained_budgets(findings, labels, report.trained)
    return {name: Markup(drawing.svg) for name, drawing in drawn.items()}


def run(report: Report, output: Path) -> None:
    """Write the page, the table and the summary into the folder `output`."""
    texts = {
        "index.html": _render("page.html.j2", report, drawings=draw(report)),
        "summary.md": _render("summary.md.j2", report),
    }
    output.mkdir(parents=True, exist_ok=True)
    write_json(output / "summary.json", summary_of(report))
    for name, text in texts.items():
        temporary = output / f".{name}.partial"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, output / name)


def main() -> None:
    """Read params and what the runs left, write the report."""
    runs = validate(RunsBlock, {"runs": params_block("runs")}, where="").runs
    block, raw = RunsBlock(runs=runs), params_block("recipes")
    recipes = {name: recipe_named(name, raw) for name in raw}
    allowance = validate(AllowanceBlock, {"allowance": params_block("allowance")}, where="")
    evaluate = validate(EvaluateParams, params_block("evaluate"), where="evaluate")
    params = validate(ReportParams, params_block("report"), where="report")

    def work(context: Context) -> None:
        report = assemble(block, recipes, allowance.allowance, evaluate, params)
        run(report, OUTPUT)
        said = [row.outcome for row in report.judged]
        context.facts = {"differences": len(report.findings.differences), "claims": len(said)}
        context.say(", ".join(f"{said.count(outcome)} claims {outcome}" for outcome in sorted(set(said))))

    names = ("index.html", "summary.json", "summary.md")
    run_stage(
        "report",
        {"runs": block, "allowance": allowance, "evaluate": evaluate, "report": params},
        [SCORES, TRAINING, _FOLDER / "claims.yaml"],
        [OUTPUT / name for name in names],
        work,
    )


if __name__ == "__main__":
    exit_with_message(main)
