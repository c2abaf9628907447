"""The stage decide on hand-made scored traces with outcomes worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filled_frames import filled

from elastic.contracts.frames import Scored, write_frame
from elastic.contracts.params.decide import DecideParams
from elastic.contracts.params.score import ScoreParams
from elastic.contracts.params.train import RoundParams
from elastic.contracts.records import Comparison, Decision, read_record
from elastic.errors import DataError
from stages.common import Context
from stages.decide import choose_solution_budget, decide, run

PARAMS = DecideParams(min_gain=0.0, max_unconstrained_loss=0.02, max_truncated_share=0.05, seed=7)
SCORE = ScoreParams(confidence=0.95, resamples=1000, max_error_share=0.01, seed=6)
PROBLEMS, THINK, SOLUTION, LIMIT = 100, [8, 16], [4, 6], 60


def round_from(prev: str) -> RoundParams:
    return RoundParams.model_validate({"prev": prev, "budget": "8+4", "steps": 1, "learning_rate": 1e-4})


def rows(model: str, solved: dict[str, int], n_solution: int = 3, **changes: Any) -> list[dict[str, Any]]:
    """One trace a problem and cell; the first `solved[cell]` problems are solved, `grid` standing for every budget."""
    cells = [("separate", think, solution, None) for think in THINK for solution in SOLUTION]
    made = []
    for method, think, solution, limit in [*cells, ("unconstrained", None, None, LIMIT)]:
        count = solved["free"] if limit else solved.get(f"{think}", solved.get("grid", 0))
        for problem in range(PROBLEMS):
            made.append(
                {
                    "problem_id": f"{problem:016x}",
                    "model": model,
                    "method": method,
                    "think_budget": think,
                    "solution_budget": solution,
                    "limit": limit,
                    "n_solution": n_solution if limit else 3,
                    "verdict": "correct" if problem < count else "wrong",
                }
                | (changes if limit else {})
            )
    return made


def frame(made: list[dict[str, Any]]) -> pl.DataFrame:
    return filled(Scored, made)


def decided(scores: dict[str, dict[str, int]], prevs: dict[str, str], params: DecideParams = PARAMS) -> Decision:
    scored = {model: frame(rows(model, solved)) for model, solved in scores.items()}
    return decide(scored, {name: round_from(prev) for name, prev in prevs.items()}, params, SCORE)


def only(decision: Decision, model: str, control: str, start: str) -> Comparison:
    [found] = [
        c for c in decision.comparisons if (c.model, c.control) == (model, control) and c.measure.startswith(start)
    ]
    return found


BASE_SOLVES = {"grid": 30, "free": 80}


def test_a_gain_promotes_and_every_measure_is_compared_with_prev() -> None:
    decision = decided({"base": BASE_SOLVES, "r1": {"8": 50, "16": 60, "free": 79}}, {"r1": "base"})
    assert decision.promoted == "r1"
    assert decision.next_round_worthwhile
    assert decision.solution_budget == 4
    assert [(c.measure, round(c.difference, 9), c.n_problems) for c in decision.comparisons] == [
        ("mean over the grid at s = 4", 0.25, 100),
        ("unconstrained, limit 60", -0.01, 100),
        ("separate 8+4", 0.2, 100),
        ("separate 16+4", 0.3, 100),
    ]
    assert all(c.ci_low < c.difference < c.ci_high for c in decision.comparisons)
    assert "r1 over base: +25.0 [" in decision.rule
    assert "unconstrained -1.0: promoted." in decision.rule


def test_no_gain_promotes_nothing() -> None:
    decision = decided({"base": BASE_SOLVES, "r1": BASE_SOLVES}, {"r1": "base"})
    assert (decision.promoted, decision.next_round_worthwhile) == ("base", False)
    grid = only(decision, "r1", "base", "mean over the grid")
    assert grid.difference == 0
    assert grid.ci_low < 0 < grid.ci_high
    assert decision.rule.endswith("not promoted.")


def test_a_gain_that_may_be_chance_promotes_nothing() -> None:
    decision = decided({"base": BASE_SOLVES, "r1": {"grid": 31, "free": 80}}, {"r1": "base"})
    grid = only(decision, "r1", "base", "mean over the grid")
    assert grid.difference == pytest.approx(0.01)
    assert grid.ci_low <= 0
    assert decision.promoted == "base"


def test_a_gain_below_the_one_that_is_asked_for_promotes_nothing() -> None:
    scores = {"base": BASE_SOLVES, "r1": {"grid": 50, "free": 80}}
    assert decided(scores, {"r1": "base"}).promoted == "r1"
    assert decided(scores, {"r1": "base"}, PARAMS.model_copy(update={"min_gain": 0.25})).promoted == "base"


@pytest.mark.parametrize(("free", "promoted"), [(78, "r1"), (77, "base")])
def test_a_gain_that_costs_too_much_without_a_budget_promotes_nothing(free: int, promoted: str) -> None:
    """80 of 100 problems are solved by the base: 78 loses just the 2 points that are allowed, 77 loses 3."""
    decision = decided({"base": BASE_SOLVES, "r1": {"grid": 90, "free": free}}, {"r1": "base"})
    assert decision.promoted == promoted
    assert decision.next_round_worthwhile is (promoted == "r1")


def test_a_second_round_without_a_gain_leaves_the_first_promoted() -> None:
    first = {"grid": 60, "free": 80}
    decision = decided({"base": BASE_SOLVES, "r1": first, "r2": first}, {"r1": "base", "r2": "r1"})
    assert (decision.promoted, decision.next_round_worthwhile) == ("r1", False)
    assert {(c.model, c.control) for c in decision.comparisons} == {("r1", "base"), ("r2", "r1")}


def test_a_round_is_measured_against_the_model_promoted_so_far_too() -> None:
    """r1 loses without a budget, so r2 is held against the base; a next round hangs on r2 over its prev r1."""
    scores = {"base": BASE_SOLVES, "r1": {"grid": 60, "free": 60}, "r2": {"grid": 62, "free": 80}}
    decision = decided(scores, {"r1": "base", "r2": "r1"})
    assert (decision.promoted, decision.next_round_worthwhile) == ("r2", False)
    assert only(decision, "r2", "base", "mean").difference == pytest.approx(0.32)
    assert only(decision, "r2", "r1", "mean").difference == pytest.approx(0.02)


@pytest.mark.parametrize(("longer", "budget"), [(0, 4), (5, 4), (6, 6), (100, 6)])
def test_s_is_the_smallest_that_cuts_few_enough_of_the_bases_solutions(longer: int, budget: int) -> None:
    """All solutions have 3 tokens but `longer` of 100, which have 5: s = 4 cuts those, s = 6 none."""
    made = frame(rows("base", BASE_SOLVES)).with_columns(
        n_solution=pl.when((pl.col("method") == "unconstrained") & (pl.col("problem_id") < f"{longer:016x}"))
        .then(5)
        .otherwise("n_solution")
    )
    chosen = choose_solution_budget(made, 0.05)
    assert chosen.tokens == budget
    assert chosen.cut_share == (longer / 100 if budget == 4 else 0)
    assert chosen.closed == 100


def test_solutions_that_their_limit_cut_count_as_cut_and_unclosed_traces_do_not_count() -> None:
    cut = frame(rows("base", BASE_SOLVES, finish="budget"))
    unclosed = frame(rows("base", BASE_SOLVES, n_solution=50, closed="never"))
    assert choose_solution_budget(cut, 0.05).cut_share == 1
    assert choose_solution_budget(unclosed, 0.05).closed == 0
    fine = frame(rows("base", BASE_SOLVES))
    assert choose_solution_budget(pl.concat([fine, unclosed]), 0.0).tokens == 4


def test_where_no_s_is_long_enough_the_largest_is_taken_and_the_rule_says_so() -> None:
    scored = {"base": frame(rows("base", BASE_SOLVES, n_solution=9)), "r1": frame(rows("r1", BASE_SOLVES))}
    decision = decide(scored, {"r1": round_from("base")}, PARAMS, SCORE)
    assert decision.solution_budget == 6
    assert "s = 6: the largest, since none is" in decision.rule
    assert "(it cuts 100.0 %)" in decision.rule


def test_errors_are_left_out_of_what_is_compared() -> None:
    base = frame(rows("base", {"grid": 0, "free": 0}))
    lost = base["problem_id"] < f"{50:016x}"
    model = base.with_columns(model=pl.lit("r1"), verdict=pl.when(lost).then(pl.lit("error")).otherwise("verdict"))
    decision = decide({"base": base, "r1": model}, {"r1": round_from("base")}, PARAMS, SCORE)
    assert {(c.difference, c.n_problems) for c in decision.comparisons} == {(0.0, 50)}


def write(folder: Path, model: str, made: pl.DataFrame) -> None:
    write_frame(Scored, made, folder / model / "scored.parquet")


def test_models_come_from_params_and_equal_scores_give_equal_bytes(tmp_path: Path) -> None:
    for model, solved in {
        "base": BASE_SOLVES,
        "r1": {"grid": 60, "free": 80},
        "stale": {"grid": 99, "free": 99},
    }.items():
        write(tmp_path, model, frame(rows(model, solved)))
    out, seen = tmp_path / "decision.json", set()
    for _ in range(2):
        context = Context("decide", tmp_path)
        run(PARAMS, SCORE, {"r1": round_from("base")}, tmp_path, out, context)
        seen.add(out.read_bytes())
    assert len(seen) == 1
    assert read_record(Decision, out).promoted == "r1" == context.facts["promoted"]


def test_a_missing_model_and_another_grid_are_errors_that_name_the_model(tmp_path: Path) -> None:
    write(tmp_path, "base", frame(rows("base", BASE_SOLVES)))
    for made, message in (
        (None, "r1/scored.parquet: no such file"),
        (
            frame(rows("r1", BASE_SOLVES)).filter(pl.col("think_budget").is_null() | (pl.col("think_budget") == 8)),
            "grid",
        ),
    ):
        if made is not None:
            write(tmp_path, "r1", made)
        with pytest.raises(DataError, match=message):
            run(PARAMS, SCORE, {"r1": round_from("base")}, tmp_path, tmp_path / "out.json", Context("decide", tmp_path))
    assert not (tmp_path / "out.json").exists()
