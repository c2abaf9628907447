"""The stage decide: which round is promoted, on validation traces only, and whether a wider one is worth running.

    python -m stages.decide

Elastic Reasoning (E1), iterative training: t* grew over rounds from 1K to 3K tokens, and it did not help; so a pipeline
must be able to see that. Departures: E1 chose its checkpoint by accuracy on the problems of its headline test; here a
round must gain by the lower bound of a paired interval on a split of its own, and must not pay for it without a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from elastic.budget import Budget
from elastic.contracts.frames import Scored, read_frame
from elastic.contracts.params.common import validate
from elastic.contracts.params.decide import DecideParams
from elastic.contracts.params.score import ScoreParams
from elastic.contracts.params.train import RoundParams, RoundsBlock
from elastic.contracts.records import Comparison, Decision, write_json
from elastic.errors import DataError
from elastic.metrics.accuracy import mean_accuracies, pair_problems, problem_accuracies
from elastic.metrics.intervals import paired_difference
from elastic.metrics.table import CELL
from elastic.seeding import stream_seed
from stages.common import Context, exit_with_message, params_block, run_stage

BASE = "base"
DECISION = Path("results/decision.json")
SCORES = Path("results/scores/validation")
# Accuracies are ratios of counts; a difference this small is none.
_EPSILON = 1e-9


@dataclass(frozen=True)
class SolutionBudget:
    """s, and the share of the base's `closed` unconstrained solutions that it would cut (1 where there are none)."""

    tokens: int
    cut_share: float
    closed: int


@dataclass(frozen=True)
class Measures:
    """What is compared of a model: accuracies by problem (`problem_accuracies`), each under its name.

    Attributes:
        grid: the mean over the separate budgets at s.
        unconstrained: without a budget.
        budgets: each separate budget at s, by rising t.
    """

    grid: tuple[str, pl.DataFrame]
    unconstrained: tuple[str, pl.DataFrame]
    budgets: list[tuple[str, pl.DataFrame]]

    @property
    def all(self) -> list[tuple[str, pl.DataFrame]]:
        """Every measure; the two of the rule first."""
        return [self.grid, self.unconstrained, *self.budgets]


def choose_solution_budget(base: pl.DataFrame, max_truncated_share: float) -> SolutionBudget:
    """The smallest s of the grid that would cut at most this share of the base's solutions; the largest if none does.

    A solution that the limit of its own trace cut counts as cut at every s.

    Args:
        base: scored validation traces of the base.
        max_truncated_share: 0 to 1.
    """
    grid = base.filter(pl.col("method") == "separate")["solution_budget"].unique().sort().to_list()
    closed = base.filter((pl.col("method") == "unconstrained") & (pl.col("closed") == "natural"))
    choices = []
    for tokens in grid:
        cut = closed.filter((pl.col("n_solution") > tokens) | (pl.col("finish") == "budget"))
        choices.append(SolutionBudget(tokens, len(cut) / len(closed) if len(closed) else 1.0, len(closed)))
    fitting = [choice for choice in choices if choice.cut_share <= max_truncated_share + _EPSILON]
    return (fitting or choices[-1:])[0]


def measure(scored: pl.DataFrame, solution: int) -> Measures:
    """The measures of one model, those under separate budgets at the solution budget `solution`."""
    separate = scored.filter((pl.col("method") == "separate") & (pl.col("solution_budget") == solution))
    free = scored.filter(pl.col("method") == "unconstrained")
    budgets = {
        think: problem_accuracies(separate.filter(pl.col("think_budget") == think))
        for think in separate["think_budget"].unique().sort().to_list()
    }
    return Measures(
        (f"mean over the grid at s = {solution}", mean_accuracies(list(budgets.values()))),
        (f"unconstrained, limit {free['limit'][0]}", problem_accuracies(free)),
        [(f"separate {Budget(think, solution)}", accuracies) for think, accuracies in budgets.items()],
    )


def compare(
    model: str, control: str, measures: Mapping[str, Measures], params: DecideParams, score: ScoreParams
) -> list[Comparison]:
    """Every measure of `model` against `control`, paired by problem; the two of the rule first."""
    made = []
    for (name, ours), (_, theirs) in zip(measures[model].all, measures[control].all, strict=True):
        values, control_values = pair_problems(ours, theirs)
        interval = paired_difference(
            values,
            control_values,
            confidence=score.confidence,
            resamples=score.resamples,
            seed=stream_seed(params.seed, model, control, name),
        )
        made.append(
            Comparison(
                model=model,
                control=control,
                measure=name,
                difference=interval.mean,
                ci_low=interval.low,
                ci_high=interval.high,
                n_problems=len(values),
            )
        )
    return made


def passes(comparisons: list[Comparison], params: DecideParams) -> bool:
    """The rule of promotion (DecideParams) on the comparisons of a round with its control."""
    grid, unconstrained, *_ = comparisons
    return grid.ci_low > params.min_gain and unconstrained.difference >= -params.max_unconstrained_loss - _EPSILON


def decide(
    scored: Mapping[str, pl.DataFrame], rounds: Mapping[str, RoundParams], params: DecideParams, score: ScoreParams
) -> Decision:
    """Choose s, promote a round or the base, and say whether the last round was worth its steps.

    Args:
        scored: scored validation traces by model, the base's among them.
        rounds: in the order of the chain.
        params: the rule.
        score: confidence and resamples of the intervals.
    """
    solution = choose_solution_budget(scored[BASE], params.max_truncated_share)
    measures = {model: measure(frame, solution.tokens) for model, frame in scored.items()}
    made: dict[tuple[str, str], list[Comparison]] = {}

    def against(model: str, control: str) -> list[Comparison]:
        if (model, control) not in made:
            made[model, control] = compare(model, control, measures, params, score)
        return made[model, control]

    promoted, worthwhile, steps = BASE, False, []
    for name, block in rounds.items():
        worthwhile = passes(against(name, block.prev), params)
        grid, unconstrained, *_ = against(name, promoted)
        better = passes(against(name, promoted), params)
        steps.append(
            f"{name} over {promoted}: {_points(grid.difference)} [{_points(grid.ci_low)}, {_points(grid.ci_high)}], "
            f"unconstrained {_points(unconstrained.difference)}: {'promoted' if better else 'not promoted'}."
        )
        promoted = name if better else promoted
    return Decision(
        promoted=promoted,
        rule=" ".join([_words(solution, params), *steps]),
        solution_budget=solution.tokens,
        comparisons=[comparison for comparisons in made.values() for comparison in comparisons],
        next_round_worthwhile=worthwhile,
    )


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _words(solution: SolutionBudget, params: DecideParams) -> str:
    fits = solution.cut_share <= params.max_truncated_share + _EPSILON
    which = "the smallest" if fits else "the largest, since none is"
    return (
        f"s = {solution.tokens}: {which} of the grid that would cut at most {100 * params.max_truncated_share:g} % of "
        f"the base's {solution.closed} closed unconstrained solutions (it cuts {100 * solution.cut_share:.1f} %). A "
        "round takes the place of the model promoted so far if the lower bound of its paired gain in mean accuracy "
        f"over the validation grid is above {100 * params.min_gain:g} points and it loses at most "
        f"{100 * params.max_unconstrained_loss:g} points unconstrained."
    )


def _read(folder: Path, models: list[str]) -> dict[str, pl.DataFrame]:
    """Scored validation traces by model.

    Raises:
        DataError: a model's file is missing or breaks its contract, or models were sampled on different grids.
    """
    scored = {model: read_frame(Scored, folder / model / "scored.parquet") for model in models}
    grids = {model: set(frame.select(CELL).unique().rows()) for model, frame in scored.items()}
    for model, grid in grids.items():
        if grid != grids[BASE] or not {"separate", "unconstrained"} <= {cell[0] for cell in grid}:
            raise DataError(
                "not sampled on the base's grid, or not both separately and unconstrained",
                where=str(folder / model),
                remedy="run `dvc repro`, which samples and scores every model on the present grid",
            )
    return scored


def run(
    params: DecideParams,
    score: ScoreParams,
    rounds: Mapping[str, RoundParams],
    scores: Path,
    out: Path,
    context: Context,
) -> None:
    """Read the scored traces in the folder `scores` and write the decision to `out`.

    Raises:
        DataError: a model's scores are missing, or models were sampled on different grids.
    """
    decision = decide(_read(scores, [BASE, *rounds]), rounds, params, score)
    write_json(out, decision)
    context.facts = {"promoted": decision.promoted, "solution_budget": decision.solution_budget}
    context.say(decision.rule)


def main() -> None:
    """Read params, decide, write the record."""
    params = validate(DecideParams, params_block("decide"), where="decide")
    score = validate(ScoreParams, params_block("score"), where="score")
    rounds = validate(RoundsBlock, {"rounds": params_block("rounds")}, where="").rounds
    run_stage(
        "decide",
        {"decide": params, "score": score, "rounds": RoundsBlock(rounds=rounds)},
        [SCORES / model for model in (BASE, *rounds)],
        [DECISION],
        lambda context: run(params, score, rounds, SCORES, DECISION, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
