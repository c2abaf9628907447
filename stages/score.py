"""The stage score: verdicts of sampled traces, and the budget table of one model on one split.

    python -m stages.score MODEL SPLIT

Elastic Reasoning (E1), appendix B: accuracy is the mean over all samples of a problem, then over problems. Departures:
every figure has an interval over problems, tokens are counted by phase, and traces whose grading failed are left out
and counted instead of counting as wrong. Traces are read, never sampled, so a better grader samples nothing again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from elastic.answers.frames import gold_columns, grade_within
from elastic.contracts.frames import EVALUATED_SPLITS, HAS_DELIMITER, Problems, Scored, Traces, read_frame, write_frame
from elastic.contracts.params.common import validate
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.score import ScoreParams
from elastic.contracts.records import write_json
from elastic.errors import DataError, ParamsError
from elastic.metrics.table import CELL, budget_table
from stages.common import Context, exit_with_message, params_block, run_stage, staged


def _read(traces: Path, problems: Path, model: str, split: str) -> pl.DataFrame:
    """The traces with what judges them and with `solution`, which is null where a trace never got as far as one.

    Raises:
        DataError: the traces are not those of this model on these problems.
    """
    sampled = read_frame(Traces, traces)
    known = read_frame(Problems, problems)
    for rows, what in (
        (sampled.filter((pl.col("model") != model) | (pl.col("split") != split)), "traces of another model or split"),
        (sampled.filter(~pl.struct("problem_id", *CELL, "sample").is_first_distinct()), "traces that stand twice"),
        (sampled.join(known, on="problem_id", how="anti"), f"traces of problems that are not in {problems}"),
        (known.join(sampled, on="problem_id", how="anti"), f"problems of {problems} without traces"),
    ):
        if len(rows):
            raise DataError(
                f"{len(rows)} {what}, the first of problem {rows['problem_id'][0]}",
                where=str(traces),
                remedy="run `dvc repro`, which samples the present split",
            )
    golds = gold_columns(known)
    return sampled.join(golds, on="problem_id", how="left", maintain_order="left").with_columns(
        solution=pl.when(HAS_DELIMITER).then("solution_text")
    )


def run(
    params: ScoreParams,
    grading: GradingParams,
    model: str,
    split: str,
    traces: Path,
    problems: Path,
    out: Path,
    context: Context,
) -> None:
    """Grade `traces` against `problems` and write `scored.parquet` and `grid.json` into the folder `out`.

    Raises:
        DataError: the traces are not those of this model on these problems.
        GraderError: too many errors.
    """
    graded, facts = grade_within(
        _read(traces, problems, model, split),
        grading.evaluation,
        params.max_error_share,
        where=context.stage,
        key="score.max_error_share",
        progress=context.progress,
    )
    context.facts |= {**facts, "graded": len(graded)}
    scored = graded.select(Scored.to_schema().columns.keys())
    context.say(f"{len(scored)} traces graded; intervals over {params.resamples} resamples")
    table = budget_table(scored, confidence=params.confidence, resamples=params.resamples, seed=params.seed)
    with staged(out) as folder:
        write_frame(Scored, scored, folder / "scored.parquet")
        write_json(folder / "grid.json", [row.model_dump(mode="json") for row in table])


def main() -> None:
    """Read params, score the model and split named on the command line, write the record."""
    if len(sys.argv) != 3 or sys.argv[2] not in EVALUATED_SPLITS:
        raise ParamsError(
            f"name a model and one of the splits {', '.join(EVALUATED_SPLITS)}",
            where="python -m stages.score",
            remedy="as in `python -m stages.score base test`",
        )
    model, split = sys.argv[1:]
    params = validate(ScoreParams, params_block("score"), where="score")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    traces = Path("results/traces") / split / model / "traces.parquet"
    problems = Path("data/curated") / f"{split}.parquet"
    out = Path("results/scores") / split / model
    run_stage(
        f"score-base@{split}" if model == "base" else f"score@{model}-{split}",
        {"score": params, "grading": grading},
        [traces, problems],
        [out],
        lambda context: run(params, grading, model, split, traces, problems, out, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
