"""The stage bucket: pass rates of the training problems, difficulty buckets, and the order of training.

    python -m stages.bucket

Traces are graded here with the grader of rewards and sampled by the stage probe, so a better grader samples nothing
again. Pass rates are written unfiltered; what trains is a second frame, and a slice that was cut from it for the
monitor of training a third (empty unless bucket.validation asks for problems).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

from elastic.answers.frames import gold_columns, grade_within
from elastic.contracts.frames import PassRates, Problems, Traces, TrainingSet, read_frame, write_frame
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.params.common import validate
from elastic.contracts.params.grading import GradingParams
from elastic.data.difficulty import histogram, near_groups, pass_rates, training_order, validation_slice
from elastic.errors import DataError
from stages.common import Context, exit_with_message, params_block, run_stage, staged

TRACES = Path("data/probed/traces.parquet")
TRAINING = Path("data/curated/training.parquet")
BUCKETED = Path("data/bucketed")
FILES = ("rates.parquet", "training.parquet", "validation.parquet")


def _read(traces: Path, training: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The traces with their golds, and the problems.

    Raises:
        DataError: traces and problems do not belong together.
    """
    problems = read_frame(Problems, training)
    sampled = read_frame(Traces, traces)
    stray = sampled.filter((pl.col("method") != "separate") | (pl.col("split") != "training"))
    foreign = sampled.join(problems, on="problem_id", how="anti")
    doubled = sampled.filter(pl.struct("problem_id", "sample").is_first_distinct().not_())
    bare = problems.join(sampled, on="problem_id", how="anti")
    for rows, what in (
        (stray, "traces of another split or method than training and separate, the first of problem"),
        (foreign, f"traces of problems that are not in {training}, the first of"),
        (doubled, "traces stand twice, the first of problem"),
        (bare, f"problems of {training} without traces, the first"),
    ):
        if len(rows):
            raise DataError(
                f"{len(rows)} {what} {rows['problem_id'][0]}",
                where=str(traces),
                remedy="run `dvc repro`, which probes the present training split",
            )
    golds = gold_columns(problems).join(problems.select("problem_id", "source"), on="problem_id")
    return sampled.join(golds, on="problem_id", how="left", maintain_order="left"), problems


def _cut(kept: pl.DataFrame, params: BucketParams, context: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What trains, and the slice that validates, each with ranks from 0 on in the order of `kept`.

    Raises:
        DataError: nothing would be left to train on, or near duplicates leave nothing to validate with.
    """
    asked = params.validation.problems
    if not asked:
        return kept, kept.clear()
    if asked >= len(kept):
        raise DataError(
            f"{asked} problems are asked for, but only {len(kept)} are kept in all",
            where="bucket.validation.problems",
            remedy="lower it, or keep more at bucket.keep and bucket.rates",
        )
    groups = near_groups(kept["question"].to_list(), params.validation.near)
    taken = validation_slice(kept.with_columns(pl.Series("group", groups)), params)
    if not taken:
        raise DataError(
            f"the smallest group of near duplicates has {min(Counter(groups).values())} problems, over {asked}",
            where="bucket.validation",
            remedy="raise bucket.validation.near.threshold or bucket.validation.problems",
        )
    inside = pl.col("problem_id").is_in(taken)
    if len(taken) < asked:
        context.say(f"{len(taken)} of {asked} problems validate: the others are near duplicates of what trains")
    context.facts["validation"] = len(taken)
    training, validation = (
        kept.filter(part).with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int64)) for part in (~inside, inside)
    )
    return training, validation


def run(
    params: BucketParams,
    grading: GradingParams,
    context: Context,
    *,
    traces: Path = TRACES,
    training: Path = TRAINING,
    out: Path = BUCKETED,
) -> None:
    """Grade `traces` and write rates, the training set and its validation slice into the folder `out`.

    Raises:
        DataError: traces and problems do not belong together, or no problem is kept.
        GraderError: too many errors.
    """
    sampled, problems = _read(traces, training)
    graded, facts = grade_within(
        sampled.rename({"solution_text": "solution"}),
        grading.training,
        params.max_error_share,
        where="bucket",
        key="bucket.max_error_share",
        progress=context.progress,
    )
    rates = pass_rates(graded.select("problem_id", "source", "verdict"), params)
    counts = histogram(rates, params)
    shown = ", ".join(f"{name} {count}" for name, count in counts.items())
    ordered = training_order(rates, params)
    context.facts |= {**facts, "buckets": counts, "kept": len(ordered)}
    if ordered.is_empty():
        raise DataError(
            f"no problem is kept; problems by bucket: {shown}",
            where="bucket",
            remedy="widen bucket.keep or bucket.rates, or probe at a budget that the base can answer in",
        )
    questions = problems.select("problem_id", "question", "answer", "policy", "tests")
    wanted = ordered.join(questions, on="problem_id", how="left", maintain_order="left")
    training_set, validation = _cut(wanted.select(list(TrainingSet.to_schema().columns)), params, context)
    context.say(f"{shown}; {len(training_set)} problems train, {len(validation)} validate")
    with staged(out) as folder:
        for frame, model, name in zip(
            (rates, training_set, validation), (PassRates, TrainingSet, TrainingSet), FILES, strict=True
        ):
            write_frame(model, frame, folder / name, empty=name == "validation.parquet")


def main() -> None:
    """Run the stage on params.yaml."""
    params = validate(BucketParams, params_block("bucket"), where="bucket")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    run_stage(
        "bucket",
        {"bucket": params, "grading": grading},
        [TRACES, TRAINING],
        [BUCKETED / name for name in FILES],
        lambda context: run(params, grading, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
