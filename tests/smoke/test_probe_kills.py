"""Pass rates are those of one clean run, however often the sampling behind them was killed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from clone import Clone
from kills import Command, kill_in_a_row

from elastic.contracts.frames import PassRates, Traces, read_frame

pytestmark = [pytest.mark.smoke, pytest.mark.nightly, pytest.mark.timeout(1800)]
KILLS = 10
MADE = [Path("data/probed/traces.parquet"), Path("data/bucketed/rates.parquet"), Path("data/bucketed/training.parquet")]


def test_ten_kills_in_a_row_end_in_the_parquet_and_the_rates_of_one_clean_run(pristine: Clone, tmp_path: Path) -> None:
    """One problem a chunk: as many chunks as problems, each of which may be cut short."""
    clean = pristine.copy(tmp_path / "clean")
    clean.set_params(probe__chunk=1)
    clean.reproduce("bucket")
    problems = clean.record("probe").facts["problems"]
    assert clean.record("probe").resumed_from == 0
    killed = clean.copy(tmp_path / "killed")
    killed.remove("data/probed", "data/bucketed")

    def committed() -> int:
        return len(list(killed.folder.glob(".scratch/probe-*/chunk-*.parquet")))

    command = [sys.executable, "-m", "stages.probe"]
    counts = kill_in_a_row(
        lambda: Command(command, killed.folder, killed.environment), committed, problems, times=KILLS
    )
    print(f"chunks committed after each kill: {counts} of {problems}")
    assert not (killed.folder / MADE[0]).exists()
    killed.call(*command)
    killed.call(sys.executable, "-m", "stages.bucket")
    assert killed.record("probe").resumed_from == counts[-1]
    assert killed.record("probe").sampled_tokens == clean.record("probe").sampled_tokens
    for path in MADE:
        assert (killed.folder / path).read_bytes() == (clean.folder / path).read_bytes(), path
    assert len(read_frame(Traces, killed.folder / MADE[0])) == 2 * problems
    assert len(read_frame(PassRates, killed.folder / MADE[1])) == problems
