"""The stages sample and probe through vLLM: greedy traces are those of the transformers engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from filled_frames import filled

from elastic.contracts.frames import Problems, Traces, read_frame, write_frame
from elastic.contracts.params.probe import ProbeParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.sample import Grid, SampleParams
from stages import probe, sample
from stages.common import Context

GRID = Grid(think=[0, 4, 8], solution=[3, 6], limit=20, samples=1)
PROMPT = PromptParams(template="{question}", max_tokens=16)
ENGINES = ("transformers", "vllm")


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    rows = [{"problem_id": f"{i:016x}", "split": "test", "question": f"{i}+{i}=?"} for i in range(6)]
    write_frame(Problems, filled(Problems, rows), tmp_path / "problems.parquet")
    return tmp_path / "problems.parquet"


def context(folder: Path, name: str) -> Context:
    (folder / name).mkdir()
    return Context(name, folder / name)


def test_a_grid_is_sampled_alike(start_vllm: Any, vllm_checkpoint: Path, problems: Path, tmp_path: Path) -> None:
    for engine in ENGINES:
        params = SampleParams(
            temperature=0,
            nested=True,
            faithful=False,
            engine=engine,
            batch_size=16,
            chunk=3,
            seed=5,
            grids={"validation": GRID, "test": GRID},
        )
        out = tmp_path / f"{engine}.parquet"
        sample.run(params, PROMPT, "base", "test", vllm_checkpoint, problems, out, context(tmp_path, engine))
    one, other = (read_frame(Traces, tmp_path / f"{engine}.parquet") for engine in ENGINES)
    assert one.equals(other)


def test_a_probe_is_drawn_alike(start_vllm: Any, vllm_checkpoint: Path, problems: Path, tmp_path: Path) -> None:
    for engine in ENGINES:
        params = ProbeParams(budget="6+5", samples=2, temperature=0, engine=engine, batch_size=16, chunk=3, seed=5)
        out = tmp_path / f"{engine}.parquet"
        probe.run(params, PROMPT, vllm_checkpoint, problems, out, context(tmp_path, engine))
    one, other = (read_frame(Traces, tmp_path / f"{engine}.parquet") for engine in ENGINES)
    assert one.equals(other)
