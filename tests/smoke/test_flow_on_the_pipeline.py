"""The flow on the real DAG: it adds nothing to what `dvc repro` makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clone import Clone

pytestmark = [pytest.mark.smoke, pytest.mark.prefect, pytest.mark.timeout(1800)]

# Measured seconds stand in these, so no two runs of the pipeline make the same bytes of them.
MEASURED = {"reports/index.html", "reports/summary.json"}


def grid(clone: Clone) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = clone.json("reports/summary.json")["grid"]
    return [{key: value for key, value in row.items() if key != "seconds_per_problem"} for row in rows]


def test_on_a_finished_pipeline_every_stage_is_skipped(copy: Callable[..., Clone]) -> None:
    clone = copy()
    lock = (clone.folder / "dvc.lock").read_bytes()
    said = clone.call("python", "-m", "flows.pipeline").splitlines()
    stages = clone.lock()
    assert {line for line in said if "skipped, unchanged" in line and line.startswith("[")} == {
        line for line in said if line.startswith("[")
    }
    assert {line.partition("]")[0].removeprefix("[") for line in said if line.startswith("[")} == set(stages)
    assert said[-1] == f"{len(stages)} stages: 0 ran, 0 restored, {len(stages)} skipped"
    assert (clone.folder / "dvc.lock").read_bytes() == lock


@pytest.mark.nightly
def test_from_nothing_it_makes_what_dvc_repro_makes(pristine: Clone, reproduced: Clone, tmp_path: Path) -> None:
    clone = pristine.copy(tmp_path / "flow")
    said = clone.call("python", "-m", "flows.pipeline").splitlines()
    assert said[-1] == f"{len(clone.lock())} stages: {len(clone.lock())} ran, 0 restored, 0 skipped"
    ours, theirs = clone.outs(), reproduced.outs()
    assert ours.keys() == theirs.keys()
    assert {path for path in ours if ours[path] != theirs[path]} <= MEASURED
    assert grid(clone) == grid(reproduced)
