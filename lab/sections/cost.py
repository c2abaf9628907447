"""What answers cost: tokens by kind, the papers' budget B beside what was really spent, seconds, money."""

from __future__ import annotations

import polars as pl

from elastic.budget import Budget
from elastic.contracts.prices import PRICES, Price, read_price
from elastic.metrics.cost import money, spent_by_run, tokens_by_cell
from lab.analysis import Column, Entry, Section, Table
from lab.evidence import Evidence
from lab.kinds import kinds_of
from lab.tables import listed

SETS = ("test", "few")


def section(evidence: Evidence) -> Section:
    """The section."""
    price = read_price(evidence.params.price, evidence.pipeline / PRICES)
    spent = pl.concat(_spent(evidence, model, name, price) for name in SETS for model in evidence.models)
    nested = spent.filter((pl.col("run") == "nested") & (pl.col("model") == evidence.base)).row(0, named=True)
    times = nested["b"] / nested["sampled"]
    return Section(
        key="cost",
        question="What do answers cost?",
        finding=(
            f"One nested run of {evidence.base} stands for separate budgets, truncation and no budget, which would "
            f"cost B = {nested['b']:,.0f} tokens a problem apart, and samples {nested['sampled']:,.0f}, {times:.1f} "
            "times fewer."
        ),
        notes=[
            "B = n (C_think + m H C_solution) counts thinking once a path and no prompt, probe or prefill. Really "
            "spent are tokens drawn from the model and given tokens that it read, a shared prefix once; all budgets of "
            "a run together.",
            "Forced tokens were inserted and cost nothing to draw. Seconds are of the engine on the machine that ran "
            "it, with whatever else it did, and a problem shares its batch: they compare runs of one machine only.",
            f"Money is by {evidence.params.price} of data/prices.yaml: {price.input:g} {price.currency} a million "
            f"tokens read, {price.output:g} drawn and {price.input if price.cached is None else price.cached:g} sent "
            f"again to a server whose cache holds them, which no column counts (of {price.date.isoformat()}); a model "
            "of this size has no price of its own.",
        ],
        tables=[_by_run(spent, price), _by_cell(evidence)],
    )


def _spent(evidence: Evidence, model: str, name: str, price: Price) -> pl.DataFrame:
    answers, costs = evidence.answers(model, name), evidence.costs(model, name)
    paid = money(answers, evidence.thinking(model, name), costs, price).group_by("run").agg(pl.col("money").mean())
    found = spent_by_run(answers, costs).join(paid, on="run", validate="1:1")
    return found.select(model=pl.lit(model), set=pl.lit(name), **{column: pl.col(column) for column in found.columns})


def _by_run(spent: pl.DataFrame, price: Price) -> Table:
    rows: list[list[Entry]] = [
        [
            *(row[name] for name in ("model", "set", "run", "b", "probe", "sampled", "prefilled")),
            *(row["seconds_p50"], row["seconds_p95"], 1000 * row["money"], row["n_problems"]),
        ]
        for row in spent.iter_rows(named=True)
    ]
    return Table(
        title="What every run really spent, a problem",
        detail="all budgets and samples of the run together",
        columns=[
            Column(name="model", unit="label"),
            Column(name="set", unit="text"),
            Column(name="run", unit="text"),
            Column(name="B", unit="tokens"),
            Column(name="probes", unit="tokens"),
            Column(name="sampled", unit="tokens"),
            Column(name="prefilled", unit="tokens"),
            Column(name="seconds, p50", unit="seconds"),
            Column(name="p95", unit="seconds"),
            Column(name=f"{price.currency} for 1,000 problems", unit="money"),
            Column(name="problems", unit="count"),
        ],
        rows=rows,
    )


def _by_cell(evidence: Evidence) -> Table:
    rows: list[list[Entry]] = []
    main = evidence.main
    for model in evidence.models:
        answers = evidence.answers(model, "test")
        for kind in kinds_of(answers):
            for name, budget, cell in kind.cells(answers, main.solution):
                if budget is None or budget.think == main.think:
                    [found] = tokens_by_cell(cell).iter_rows(named=True)
                    kinds = ("paths", "thinking", "solution", "forced", "probe", "b")
                    rows.append([model, kind.label, _where(name, budget), *(found[key] for key in kinds)])
    return Table(
        title=f"Tokens by kind, at t = {main.think} and where a strategy chooses",
        detail=f"a problem, all samples together; models {listed(evidence.models)}",
        columns=[
            Column(name="model", unit="label"),
            Column(name="strategy", unit="text"),
            Column(name="budget", unit="text"),
            Column(name="paths", unit="number"),
            *(Column(name=name, unit="tokens") for name in ("thinking", "solution", "forced", "probes", "B")),
        ],
        rows=rows,
        folded=True,
    )


def _where(name: str, budget: Budget | None) -> str:
    return str(budget) if budget else name
