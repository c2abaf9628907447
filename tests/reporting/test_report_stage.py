from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from elastic.contracts.params.profile import Profile
from elastic.contracts.records import Record, read_record
from elastic.errors import DataError
from stages.report import inputs_of, read_evidence, stages_of

ROOT = Path(__file__).parents[2]


def run_stage(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stages.report"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command_writes_three_files_and_says_where(world: Path) -> None:
    done = run_stage(world)
    assert done.returncode == 0, done.stderr
    assert str((world / "reports/index.html").resolve()) in done.stdout
    assert (world / "reports/summary.md").read_text("utf-8").startswith("# Elastic Reasoning")
    assert json.loads((world / "reports/summary.json").read_text("utf-8"))["promotion"]["promoted"] == "r1"
    record = read_record(Record, world / "records/report.json")
    assert set(record.outputs) == {"reports/index.html", "reports/summary.json", "reports/summary.md"}
    assert not list((world / "reports").glob(".*.partial"))


def test_the_stages_are_those_of_the_dag(profile: Profile) -> None:
    stages = stages_of(profile)
    assert len(stages) == len(set(stages)) == 9 + 2 + 12
    dag = (ROOT / "dvc.yaml").read_text("utf-8")
    for stage in stages:
        assert re.search(rf"^  {stage.split('@')[0]}:$", dag, flags=re.MULTILINE), stage


@pytest.mark.parametrize("number", range(0, 15, 2))
def test_a_missing_file_is_named(inside: Path, profile: Profile, number: int) -> None:
    path = inputs_of(profile)[number]
    kept = path.read_bytes()
    path.unlink()
    try:
        with pytest.raises(DataError, match=re.escape(str(path))):
            read_evidence(profile)
    finally:
        path.write_bytes(kept)


def test_a_log_that_is_not_json_is_named_with_its_line(inside: Path, profile: Profile) -> None:
    path = inside / "reports/training/r2/metrics.jsonl"
    kept = path.read_bytes()
    path.write_bytes(kept + b"{\n")
    try:
        with pytest.raises(DataError, match=r"r2/metrics\.jsonl: line \d+ is not JSON"):
            read_evidence(profile)
    finally:
        path.write_bytes(kept)


def test_an_undecided_solution_budget_is_named_with_the_remedy(inside: Path, profile: Profile) -> None:
    path = inside / "results/decision.json"
    kept = path.read_text("utf-8")
    path.write_text(kept.replace('"solution_budget": 16', '"solution_budget": 17'), "utf-8")
    try:
        with pytest.raises(DataError, match=r"add 17 to sample\.grids\.test\.solution"):
            read_evidence(profile).rows("base", "separate")
    finally:
        path.write_text(kept, "utf-8")


def test_a_record_whose_output_has_changed_is_stale(inside: Path, profile: Profile) -> None:
    path = inside / "results/decision.json"
    kept = path.read_text("utf-8")
    assert read_evidence(profile).records["decide"] is not None
    path.write_text(kept.replace("above 0.0", "above 0.1"), "utf-8")
    try:
        assert read_evidence(profile).records["decide"] is None
    finally:
        path.write_text(kept, "utf-8")


def test_what_another_set_of_rounds_left_is_not_read(inside: Path, profile: Profile) -> None:
    fewer = profile.model_copy(update={"rounds": {"r1": profile.rounds["r1"]}})
    evidence = read_evidence(fewer)
    assert evidence.models == ["base", "r1"]
    assert {row.model for row in evidence.grid} == {"base", "r1"}
    assert "train@r2" not in evidence.records
