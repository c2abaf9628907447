from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest
from made_runs import random_run

from elastic.contracts.evaluation import CELL
from elastic.contracts.prices import Price
from elastic.errors import DataError
from elastic.metrics.cost import money, spent_by_run, tokens_by_cell
from elastic.metrics.lattice import lattice_of

PRICE = Price(currency="USD", input=2.0, cached=0.5, output=10.0, source="by hand", date=datetime.date(2026, 1, 1))


def answer(problem: str, sample: int, **fields: Any) -> dict[str, Any]:
    plain = {
        "run": "fractured", "method": "fractured", "setting": "", "think_budget": 32, "solution_budget": 8,
        "limit": None, "problem_id": problem, "sample": sample, "depth": 1, "draw": 0, "n_think": 10, "n_solution": 4,
        "n_forced": 1, "n_probe": 0, "closed": "forced",
    }  # fmt: skip
    return plain | fields


def answers(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema_overrides={"limit": pl.Int64})


# Two problems, one path each, two depths with two draws; the second thinks twice as long.
FRACTURED = answers(
    *(
        answer(problem, 0, depth=depth, draw=draw, n_think=10 * long * depth, n_solution=4 + depth, n_probe=probe)
        for problem, long, probe in (("a", 1, 0), ("b", 2, 3))
        for depth in (1, 2)
        for draw in (0, 1)
    )
)
COSTS = pl.DataFrame(
    {
        "run": ["fractured"] * 2,
        "problem_id": ["a", "b"],
        "sampled_tokens": [42, 62],
        "prefilled_tokens": [25, 30],
        "seconds": [1.0, 3.0],
    }
)


def test_b_is_as_the_paper_counts_it() -> None:
    """C_think = (20 + 40) / 2, C_solution = (5 + 5 + 6 + 6) / 4: B = 1 (30 + 2 * 2 * 5.5)."""
    (row,) = tokens_by_cell(FRACTURED).to_dicts()
    figures = {"n_problems": 2, "paths": 1, "answers": 4, "c_think": 30, "c_solution": 5.5, "b": 52}
    kinds = {"thinking": 30, "solution": 22, "forced": 4, "probe": 6}
    assert {name: row[name] for name in figures | kinds} == figures | kinds


def test_b_is_the_cost_of_the_whole_lattice() -> None:
    run = random_run(12, 3, 4, 2, seed=1).with_columns(
        n_forced=1, n_probe=0, run=pl.lit("r"), method=pl.lit("m"), setting=pl.lit(""), think_budget=9,
        solution_budget=9, limit=None,
    )  # fmt: skip
    assert tokens_by_cell(run)["b"].item() == pytest.approx(lattice_of(run).cost(3, (1, 2, 3, 4), 2))


def test_cells_are_counted_apart_and_failed_gradings_count() -> None:
    short = answers(answer("a", 0, think_budget=8, n_think=8), answer("a", 1, think_budget=8, n_think=2))
    table = tokens_by_cell(pl.concat([short, FRACTURED]).with_columns(verdict=pl.lit("error")))
    assert table["think_budget"].to_list() == [8, 32]
    assert table.filter(think_budget=8).select("paths", "answers", "thinking", "b").row(0) == (2, 1, 10, 18)


def test_what_was_spent_stands_beside_b() -> None:
    (row,) = spent_by_run(FRACTURED, COSTS).to_dicts()
    assert row == {
        "run": "fractured", "n_problems": 2, "b": 52, "probe": 6, "sampled": 52, "prefilled": 27.5, "seconds_p50": 2.0,
        "seconds_p95": pytest.approx(2.9),
    }  # fmt: skip
    with pytest.raises(DataError, match="1 problems have no cost, first b"):
        spent_by_run(FRACTURED, COSTS.head(1))
    with pytest.raises(DataError, match="1 problems have no answer, first b"):
        spent_by_run(FRACTURED.filter(problem_id="a"), COSTS)


def thinking_of(frame: pl.DataFrame, prompt: int) -> pl.DataFrame:
    paths = frame.select("run", "setting", "problem_id", "sample").unique(maintain_order=True)
    return paths.with_columns(prompt_ids=pl.lit([1] * prompt, dtype=pl.List(pl.Int64)))


def test_money_by_hand() -> None:
    """Problem a: given are 5 for its path and 4 answers of 5 + 10, 10, 20, 20; 25 of these 85 were read anew."""
    bill = money(FRACTURED, thinking_of(FRACTURED, 5), COSTS, PRICE)
    assert bill["input_tokens"].to_list() == [25, 30]
    assert bill["cached_tokens"].to_list() == [5 + 4 * 5 + 60 - 25, 5 + 4 * 5 + 120 - 30]
    assert bill["output_tokens"].to_list() == [42, 62]
    assert bill["money"].to_list() == pytest.approx([(50 + 30 + 420) / 1e6, (60 + 57.5 + 620) / 1e6])
    whole = money(FRACTURED, thinking_of(FRACTURED, 5), COSTS, PRICE.model_copy(update={"cached": None}))
    assert whole["money"].to_list() == pytest.approx([(170 + 420) / 1e6, (290 + 620) / 1e6])


def test_one_request_gives_an_only_answer_that_nothing_forced() -> None:
    plain = answers(answer("a", 0, closed="natural"), answer("a", 1, closed="natural"), answer("b", 0))
    bill = money(plain, thinking_of(plain, 5), COSTS.with_columns(prefilled_tokens=5), PRICE)
    assert bill["cached_tokens"].to_list() == [2 * 5 - 5, 5 + 15 - 5]


def test_thinking_that_is_missing_is_named() -> None:
    with pytest.raises(DataError, match="thinking of sample 0 of problem b is missing"):
        money(FRACTURED, thinking_of(FRACTURED, 5).filter(problem_id="a"), COSTS, PRICE)


def test_the_cell_is_the_contracts() -> None:
    assert tokens_by_cell(FRACTURED).columns[: len(CELL)] == CELL
