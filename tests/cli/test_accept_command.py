"""`elastic accept`: the figures that a gate looked at become those that later versions are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from elastic.contracts.distribution import Distribution, DriftResult, FrameFigures
from elastic.contracts.records import read_record, write_json
from elastic.errors import DataError

FIGURES = FrameFigures(rows=7, means={"question length": 5.0}, shares={"source": {"world": 1.0}})


def test_what_the_gates_looked_at_last_is_accepted_under_its_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for gate in ("curated", "bucketed"):
        present = Distribution(gate=gate, frames={"training": FIGURES})
        drift = DriftResult(profile="small", accepted=None, expectations=[], present=present)
        write_json(Path(f"reports/drift/{gate}.json"), drift)
    result = CliRunner().invoke(app, ["accept", "curated"], catch_exceptions=False)
    assert "data/accepted/small/curated.json: training 7 rows" in result.output
    assert sorted(path.name for path in Path("data/accepted").rglob("*.json")) == ["curated.json"]
    CliRunner().invoke(app, ["accept"], catch_exceptions=False)
    accepted = read_record(Distribution, Path("data/accepted/small/bucketed.json"))
    assert accepted == Distribution(gate="bucketed", frames={"training": FIGURES})


def test_a_gate_that_never_ran_has_nothing_to_accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"reports/drift/curated\.json: no such file"):
        CliRunner().invoke(app, ["accept"], catch_exceptions=False)
    assert not list(tmp_path.iterdir())
