"""Damaged inputs stop a stage's own command with a message that names them; a breached gate stops what follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from clone import Clone

pytestmark = [pytest.mark.smoke, pytest.mark.timeout(1800)]


def wrong_value(column: str, value: object) -> Callable[[Path], None]:
    """Sets the first row of a column."""

    def damage(path: Path) -> None:
        frame = pl.read_parquet(path)
        changed = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(value)).otherwise(pl.col(column))
        frame.with_columns(changed.cast(frame.schema[column]).alias(column)).write_parquet(path)

    return damage


def without(column: str) -> Callable[[Path], None]:
    return lambda path: pl.read_parquet(path).drop(column).write_parquet(path)


def truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def removed(path: Path) -> None:
    path.unlink()


# Command: the file that is damaged, how, what must be said of it, and the outputs that must not appear.
DAMAGED: dict[str, tuple[str, Callable[[Path], None], str, list[str]]] = {
    "curate": (
        "data/collected/problems.parquet",
        truncated,
        "problems.parquet: not a readable parquet file",
        ["data/curated"],
    ),
    "bucket": (
        "data/probed/traces.parquet",
        wrong_value("n_think", 13),
        "traces.parquet: breaks the contract Traces: ",
        ["data/bucketed"],
    ),
    "sample r1 test": (
        "models/r1/model.safetensors",
        removed,
        "models/r1: cannot be loaded: ",
        ["results/traces/test/r1"],
    ),
    "score r1 test": (
        "results/traces/test/r1/traces.parquet",
        wrong_value("closed", "natura"),
        "traces.parquet: breaks the contract Traces: closed: ",
        ["results/scores/test/r1"],
    ),
    "decide": (
        "results/scores/validation/r1/scored.parquet",
        without("verdict"),
        "r1/scored.parquet: breaks the contract Scored: ",
        ["results/decision.json"],
    ),
    "report": (
        "results/scores/test/r2/grid.json",
        truncated,
        "r2/grid.json: not JSON",
        ["reports/index.html", "reports/summary.json", "reports/summary.md"],
    ),
}
DAMAGED_AND_SLOW_TO_IMPORT: dict[str, tuple[str, Callable[[Path], None], str, list[str]]] = {
    "base": (
        "data/curated/teaching.parquet",
        wrong_value("split", "teach"),
        "teaching.parquet: breaks the contract Problems: split: ",
        ["models/base"],
    ),
    "probe": (
        "models/base/config.json",
        removed,
        "models/base/config.json: no such file",
        ["data/probed"],
    ),
    "train r1": (
        "models/base/model.safetensors",
        truncated,
        "models/base/model.safetensors: not whole",
        ["models/r1", "reports/training/r1"],
    ),
    "export": (
        "data/curated/curation.json",
        truncated,
        "curation.json: not JSON",
        ["exports/model"],
    ),
}


@pytest.mark.parametrize(
    "command", [*DAMAGED, *(pytest.param(name, marks=pytest.mark.nightly) for name in DAMAGED_AND_SLOW_TO_IMPORT)]
)
def test_a_damaged_input_is_named_and_nothing_is_written(command: str, copy: Callable[..., Clone]) -> None:
    file, damage, named, outputs = (DAMAGED | DAMAGED_AND_SLOW_TO_IMPORT)[command]
    clone = copy()
    clone.remove(*outputs)
    damage(clone.folder / file)
    done = clone.run("python", "-m", *f"stages.{command}".split())
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") or "\nerror: " in done.stderr
    assert named in done.stderr
    assert Path(file).name in done.stderr
    assert "\nRemedy: " in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    left = [path for name in outputs for path in (clone.folder / name).parent.glob(f"*{Path(name).name}*")]
    assert left == []


def test_a_breached_gate_stops_before_train_and_leaves_no_pass_record(copy: Callable[..., Clone]) -> None:
    clone = copy()
    before = clone.record("train@r1"), clone.lock()["train@r1"]
    clone.set_params(check__bucketed__min_rows=10_000, rounds__r1__learning_rate=2.0e-4)
    stopped = clone.repro("train@r1")
    assert stopped.code != 0
    assert stopped.ran == {"check@bucketed"}
    assert "check@bucketed" in stopped.tail
    assert "training: rows" in stopped.tail
    assert "Traceback" not in stopped.text
    assert not (clone.folder / "reports/checks/bucketed.json").exists()
    assert (clone.record("train@r1"), clone.lock()["train@r1"]) == before
