"""The check stages: distribution gates after curate and after bucket, which later stages wait for.

    python -m stages.check curated
    python -m stages.check bucketed

A gate has bounds of its own, and bounds on the distance from the version of the data that was accepted last
(`elastic accept`, data/accepted/). A gate that holds leaves its pass record in reports/checks/. A breached one leaves
none, says which bounds broke, and ends with an error. The Data Docs in reports/data_docs/ and the comparison with the
accepted version in reports/drift/ are written either way. The pass record, which later stages depend on, does not tell
of that comparison: accepting a version trains nothing again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from elastic.contracts.distribution import Distribution, DriftResult
from elastic.contracts.frames import SPLITS, PassRates, Problems, Rejected, TrainingSet, read_frame
from elastic.contracts.params.check import BucketedGate, CuratedGate, DriftBounds
from elastic.contracts.params.common import block, validate
from elastic.contracts.records import GateResult, read_record, write_json
from elastic.data.distribution import ACCEPTED, accepted_path, bucketed_figures, curated_figures, shifts
from elastic.data.gates import Bound, run_gate
from elastic.errors import GateError, ParamsError
from stages.common import Context, exit_with_message, params_block, run_stage, staged

CHECKS = Path("reports/checks")
DRIFT = Path("reports/drift")
DATA_DOCS = Path("reports/data_docs")


@dataclass(frozen=True)
class Checked:
    """What a gate looks at: frames by name, bounds on them, and the figures that a later version is compared with."""

    frames: Mapping[str, pl.DataFrame]
    bounds: list[Bound]
    figures: Distribution


def curated_bounds(params: CuratedGate, files: list[Path]) -> Checked:
    """Frames, bounds and figures of the gate `curated`."""
    *splits, rejected = files
    frames = {path.stem: read_frame(Problems, path, empty=True) for path in splits}
    gone = read_frame(Rejected, rejected, empty=True)
    kept = pl.concat(frames.values())
    whole = {
        "kept": kept.select("answer", question_chars=pl.col("question").str.len_chars()),
        "collected": pl.DataFrame({"rejected": [0.0] * len(kept) + [1.0] * len(gone)}),
    }
    chars = params.mean_question_chars
    bounds = [
        *(Bound(split, "rows", low=rows) for split, rows in params.min_rows.items()),
        Bound("kept", "mean", "question_chars", chars.min, chars.max),
        Bound("kept", "distinct", "answer", low=params.min_distinct_answers),
        Bound("collected", "mean", "rejected", high=params.max_rejected_share),
    ]
    return Checked(frames | whole, bounds, curated_figures(frames))


def bucketed_bounds(params: BucketedGate, files: list[Path]) -> Checked:
    """Frames, bounds and figures of the gate `bucketed`."""
    probed = read_frame(PassRates, files[0])
    sets = {path.stem: read_frame(TrainingSet, path, empty=path.stem == "validation") for path in files[1:]}
    graded = probed.drop_nulls("bucket")
    shares = graded.select((pl.col("bucket") == name).cast(pl.Float64).alias(name) for name in ("never", "always"))
    mean = params.mean_pass_rate
    bounds = [
        Bound("training", "rows", low=params.min_rows),
        Bound("training", "mean", "pass_rate", mean.min, mean.max),
        Bound("rates", "mean", "never", high=params.max_never_share),
        Bound("rates", "mean", "always", high=params.max_always_share),
    ]
    return Checked({"rates": shares, "training": sets["training"]}, bounds, bucketed_figures(probed, sets))


def drift_bounds(
    figures: Distribution, accepted: Path, params: DriftBounds
) -> tuple[dict[str, pl.DataFrame], list[Bound]]:
    """What has moved since the accepted version, one frame of one row a frame compared, and the bounds on it.

    Raises:
        DataError: the accepted version's file is damaged.
    """
    frames, bounds = {}, []
    for name, moved in shifts(read_record(Distribution, accepted), figures, params).items():
        frame = f"{name}-drift"
        frames[frame] = pl.DataFrame({shift.figure: [shift.value] for shift in moved})
        bounds += [
            Bound(frame, "figure", shift.figure, shift.low, shift.high, note=f"accepted {shift.detail}")
            for shift in moved
        ]
    return frames, bounds


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
        BucketedGate,
        [Path(f"data/bucketed/{name}.parquet") for name in ("rates", "training", "validation")],
        bucketed_bounds,
    ),
}


@dataclass(frozen=True)
class Outputs:
    """Where a gate writes: its pass record, the comparison with the accepted version, and the folder of Data Docs."""

    record: Path
    drift: Path
    docs: Path

    @classmethod
    def of(cls, gate: str) -> Outputs:
        """The places of a gate."""
        return cls(CHECKS / f"{gate}.json", DRIFT / f"{gate}.json", DATA_DOCS / gate)


def run(
    gate: str,
    params: CuratedGate | BucketedGate,
    load: Callable[[], Checked],
    context: Context,
    *,
    profile: str,
    outputs: Outputs,
) -> None:
    """Run a gate and write its pass record.

    Args:
        gate: its name.
        params: with the bounds on drift.
        load: reads the frames and makes their bounds.
        context: of the stage.
        profile: whose accepted version is compared; where it has none, nothing is.
        outputs: the pass record among them is removed first and written only if every bound holds.

    Raises:
        DataError: a frame is missing or breaks its contract.
        GateError: naming each breached bound with what was observed.
    """
    outputs.record.unlink(missing_ok=True)
    checked, accepted = load(), accepted_path(profile, gate)
    known = accepted.exists()
    frames, moved = drift_bounds(checked.figures, accepted, params.drift) if known else ({}, [])
    if not known:
        context.say(f"no version was accepted yet ({accepted}), so the bounds on drift are skipped; see elastic accept")
    context.say("loading Great Expectations")
    with staged(outputs.docs) as folder:
        outcomes = run_gate(gate, {**checked.frames, **frames}, [*checked.bounds, *moved], folder)
    own, drifted = outcomes[: len(checked.bounds)], outcomes[len(checked.bounds) :]
    compared = [o.as_record() | {"note": o.bound.note, "held": o.held} for o in drifted]
    where = accepted.as_posix() if known else None
    drift = DriftResult(profile=profile, accepted=where, expectations=compared, present=checked.figures)
    write_json(outputs.drift, drift)
    breached = [outcome for outcome in outcomes if not outcome.held]
    if breached:
        meant = "" if all(o.held for o in drifted) else f"; where the change is meant, run `elastic accept {gate}`"
        raise GateError(
            f"{len(breached)} of {len(outcomes)} bounds are breached:\n  " + "\n  ".join(map(str, breached)),
            where=f"check@{gate}",
            remedy=f"look at {outputs.docs}/index.html; mend the data, or change the bounds at check.{gate} in "
            f"params.yaml{meant}",
        )
    write_json(
        outputs.record, GateResult(gate=gate, passed=True, expectations=[outcome.as_record() for outcome in own])
    )
    context.facts |= {"bounds": len(own), "bounds against the accepted version": len(drifted)}
    context.say(f"{len(outcomes)} bounds hold; pages in {outputs.docs}/index.html")


def main() -> None:
    """Run the gate named on the command line on params.yaml."""
    name = " ".join(sys.argv[1:])
    if name not in GATES:
        raise ParamsError(f"{name!r} is no gate", where="stages.check", remedy=f"name one gate: {' or '.join(GATES)}")
    gate, outputs = GATES[name], Outputs.of(name)
    params = validate(gate.params, block(params_block("check"), name), where=f"check.{name}")
    profile = str(params_block("profile"))
    run_stage(
        f"check@{name}",
        {"check": params},
        [*gate.files, ACCEPTED],
        [outputs.record, outputs.drift],
        lambda context: run(
            name, params, lambda: gate.bounds(params, gate.files), context, profile=profile, outputs=outputs
        ),
    )


if __name__ == "__main__":
    exit_with_message(main)
