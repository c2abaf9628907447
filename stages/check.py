"""The check stages: distribution gates after curate and after bucket, which later stages wait for.

    python -m stages.check curated
    python -m stages.check bucketed

A gate that holds leaves its pass record in reports/checks/. A breached one leaves none, says which bounds broke, and
ends with an error; the Data Docs in reports/data_docs/ are written either way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from elastic.contracts.frames import SPLITS, PassRates, Problems, Rejected, TrainingSet, read_frame
from elastic.contracts.params.check import BucketedGate, CuratedGate
from elastic.contracts.params.common import block, validate
from elastic.contracts.records import GateResult, write_json
from elastic.data.gates import Bound, run_gate
from elastic.errors import GateError, ParamsError
from stages.common import Context, exit_with_message, params_block, run_stage, staged

CHECKS = Path("reports/checks")
DATA_DOCS = Path("reports/data_docs")

Checked = tuple[dict[str, pl.DataFrame], list[Bound]]


def curated_bounds(params: CuratedGate, files: list[Path]) -> Checked:
    """Frames and bounds of the gate `curated`."""
    *splits, rejected = files
    frames = {path.stem: read_frame(Problems, path, empty=True) for path in splits}
    gone = read_frame(Rejected, rejected, empty=True)
    kept = pl.concat(frames.values())
    frames["kept"] = kept.select("answer", question_chars=pl.col("question").str.len_chars())
    frames["collected"] = pl.DataFrame({"rejected": [0.0] * len(kept) + [1.0] * len(gone)})
    chars = params.mean_question_chars
    return frames, [
        *(Bound(split, "rows", low=rows) for split, rows in params.min_rows.items()),
        Bound("kept", "mean", "question_chars", chars.min, chars.max),
        Bound("kept", "distinct", "answer", low=params.min_distinct_answers),
        Bound("collected", "mean", "rejected", high=params.max_rejected_share),
    ]


def bucketed_bounds(params: BucketedGate, files: list[Path]) -> Checked:
    """Frames and bounds of the gate `bucketed`."""
    rates, training = files
    graded = read_frame(PassRates, rates).drop_nulls("bucket")
    shares = graded.select((pl.col("bucket") == name).cast(pl.Float64).alias(name) for name in ("never", "always"))
    mean = params.mean_pass_rate
    return {"rates": shares, "training": read_frame(TrainingSet, training)}, [
        Bound("training", "rows", low=params.min_rows),
        Bound("training", "mean", "pass_rate", mean.min, mean.max),
        Bound("rates", "mean", "never", high=params.max_never_share),
        Bound("rates", "mean", "always", high=params.max_always_share),
    ]


@dataclass(frozen=True)
class Gate:
    """A gate: the model of its params, the files it reads, and what it makes of both."""

    params: type[CuratedGate] | type[BucketedGate]
    files: list[Path]
    bounds: Callable[[Any, list[Path]], Checked]


GATES = {
    "curated": Gate(
        CuratedGate, [Path(f"data/curated/{name}.parquet") for name in (*SPLITS, "rejected")], curated_bounds
    ),
    "bucketed": Gate(
        BucketedGate, [Path(f"data/bucketed/{name}.parquet") for name in ("rates", "training")], bucketed_bounds
    ),
}


def run(gate: str, load: Callable[[], Checked], context: Context, *, record: Path, docs: Path) -> None:
    """Run a gate and write its pass record.

    Args:
        gate: its name.
        load: reads the frames and makes their bounds.
        context: of the stage.
        record: the pass record, removed first and written only if every bound holds.
        docs: folder of the Data Docs.

    Raises:
        DataError: a frame is missing or breaks its contract.
        GateError: naming each breached bound with what was observed.
    """
    record.unlink(missing_ok=True)
    frames, bounds = load()
    context.say("loading Great Expectations")
    with staged(docs) as folder:
        outcomes = run_gate(gate, frames, bounds, folder)
    breached = [outcome for outcome in outcomes if not outcome.held]
    if breached:
        lines = [
            f"{outcome.bound}, but observed {'nothing' if outcome.observed is None else f'{outcome.observed:g}'}"
            for outcome in breached
        ]
        raise GateError(
            f"{len(breached)} of {len(outcomes)} bounds are breached:\n  " + "\n  ".join(lines),
            where=f"check@{gate}",
            remedy=f"look at {docs}/index.html; mend the data, or change the bounds at check.{gate} in params.yaml",
        )
    expectations = [outcome.as_record() for outcome in outcomes]
    write_json(record, GateResult(gate=gate, passed=True, expectations=expectations))
    context.facts["bounds"] = len(outcomes)
    context.say(f"{len(outcomes)} bounds hold; pages in {docs}/index.html")


def main() -> None:
    """Run the gate named on the command line on params.yaml."""
    name = " ".join(sys.argv[1:])
    if name not in GATES:
        raise ParamsError(f"{name!r} is no gate", where="stages.check", remedy=f"name one gate: {' or '.join(GATES)}")
    gate = GATES[name]
    params = validate(gate.params, block(params_block("check"), name), where=f"check.{name}")
    record = CHECKS / f"{name}.json"
    run_stage(
        f"check@{name}",
        {"check": params},
        gate.files,
        [record],
        lambda context: run(
            name, lambda: gate.bounds(params, gate.files), context, record=record, docs=DATA_DOCS / name
        ),
    )


if __name__ == "__main__":
    exit_with_message(main)
