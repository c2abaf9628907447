"""The problems of the lab: the pipeline's test and validation splits, a part of test, and a second family.

    python -m lab.problems

The second family was taught to the base and never trained on; its held-out problems, which curation turned away and no
model has seen, show what training transfers.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from elastic.contracts.frames import Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.common import validate
from elastic.data.normalise import normalise_answer, problem_id
from elastic.data.splits import HELD_OUT
from elastic.errors import DataError
from lab.params import PIPELINE, PROBLEMS, ProblemsParams
from stages.common import Context, exit_with_message, params_block, run_stage, staged

CURATED = PIPELINE / "data/curated"
FILES = ("test.parquet", "validation.parquet", "rejected.parquet")


def held_out_family(rejected: pl.DataFrame, test: pl.DataFrame, family: str, wanted: int) -> pl.DataFrame:
    """The first `wanted` held-out problems of a family in the order of their ids, as a frame Problems.

    Args:
        rejected: what curation turned away (contract Rejected).
        test: a split of the same curation, for the licence of its rows.
        family: the source's name.
        wanted: problems.

    Raises:
        DataError: there are fewer.
    """
    rows = rejected.filter((pl.col("source") == family) & (pl.col("reason") == HELD_OUT))
    problems = (
        rows.with_columns(
            pl.Series("problem_id", [problem_id(question) for question in rows["question"]], dtype=pl.String),
            pl.Series("answer_original", rows["answer"], dtype=pl.String),
            pl.Series("answer", [normalise_answer(answer) for answer in rows["answer"]], dtype=pl.String),
            licence=pl.lit(test["licence"][0]),
            split=pl.lit("test"),
            domain=pl.lit("math"),
            **{name: pl.lit(None, pl.String) for name in ("level", "policy", "tests", "thinking", "solution")},
        )
        .unique("problem_id", keep="first", maintain_order=True)
        .sort("problem_id")
        .head(wanted)
    )
    if len(problems) < wanted:
        raise DataError(
            f"only {len(problems)} held-out problems of {family}, {wanted} are wanted",
            where="problems.transfer",
            remedy="collect more rows of the family in the pipeline's params.yaml, or lower problems.transfer",
        )
    return problems.select(Problems.to_schema().columns.keys())


def run(params: ProblemsParams, curated: Path, out: Path, context: Context) -> None:
    """Write test, validation, few and transfer into the folder `out`.

    Raises:
        DataError: a file is missing, or holds too few problems.
    """
    test, validation = (read_frame(Problems, curated / f"{name}.parquet") for name in ("test", "validation"))
    if len(test) < params.few:
        raise DataError(
            f"the test split has {len(test)} problems, {params.few} are wanted",
            where="problems.few",
            remedy="lower it, or let curate.test be larger",
        )
    family = held_out_family(
        read_frame(Rejected, curated / "rejected.parquet", empty=True), test, params.family, params.transfer
    )
    with staged(out) as folder:
        for name, frame in (
            ("test", test),
            ("validation", validation),
            ("few", test.head(params.few)),
            ("transfer", family),
        ):
            write_frame(Problems, frame, folder / f"{name}.parquet")
            context.facts[name] = len(frame)


def main() -> None:
    """Read params, write the problems and the record."""
    params = validate(ProblemsParams, params_block("problems"), where="problems")
    run_stage(
        "problems",
        {"problems": params},
        [CURATED / name for name in FILES],
        [PROBLEMS],
        lambda context: run(params, CURATED, PROBLEMS, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
