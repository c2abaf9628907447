"""The stages sample and probe on a tiny model with random weights: what they write, refuse, and survive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from filled_frames import filled

from elastic.budget import Budget
from elastic.contracts.frames import Problems, Traces, read_frame, write_frame
from elastic.contracts.params.probe import ProbeParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.sample import Grid, SampleParams
from elastic.contracts.records import Record, read_record
from elastic.errors import DataError, ParamsError
from elastic.models.tiny import build_model
from stages import probe, sample
from stages.common import Context

GRID = Grid(think=[0, 4, 8], solution=[3, 6], limit=20, samples=2)
PARAMS = SampleParams(
    temperature=1.0,
    nested=True,
    faithful=False,
    batch_size=32,
    chunk=2,
    seed=5,
    grids={"validation": GRID, "test": GRID},
)
PROMPT = PromptParams(template="{question}=?", max_tokens=16)
PROBE = ProbeParams(budget=Budget(6, 5), samples=3, temperature=1.0, batch_size=32, chunk=4, seed=2)
QUESTIONS = ["1+2", "3", "4+5-6", "7-2", "1+1+1+1", "19-8"]


@pytest.fixture(scope="module")
def models(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    model = build_model(tiny_tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)
    model.save_pretrained(folder / "base")
    tiny_tokenizer.save_pretrained(folder / "base")
    return folder


def write_problems(path: Path, split: str, questions: list[str] = QUESTIONS) -> Path:
    rows = [{"problem_id": f"{i:016x}", "split": split, "question": text} for i, text in enumerate(questions)]
    write_frame(Problems, filled(Problems, rows), path)
    return path


def run_sample(folder: Path, models: Path, params: SampleParams = PARAMS, name: str = "traces") -> Context:
    problems = write_problems(folder / "test.parquet", "test")
    context = Context("sample-base@test", folder / f"scratch-{name}")
    context.scratch.mkdir()
    sample.run(params, PROMPT, "base", "test", models / "base", problems, folder / f"{name}.parquet", context)
    return context


@pytest.mark.parametrize("nested", [True, False])
def test_every_problem_has_every_budget_and_method(nested: bool, tmp_path: Path, models: Path) -> None:
    context = run_sample(tmp_path, models, PARAMS.model_copy(update={"nested": nested}))
    frame = read_frame(Traces, tmp_path / "traces.parquet")
    assert len(frame) == len(QUESTIONS) * 2 * (6 + 6 + 1)
    assert frame.select("problem_id", "sample", "method", "think_budget", "solution_budget").is_unique().all()
    assert set(frame["method"]) == {"separate", "truncate", "unconstrained"}
    assert set(frame["limit"].drop_nulls()) == {20}
    assert set(frame["split"]) == {"test"}
    assert set(frame["model"]) == {"base"}
    total = frame["n_think"] + frame["n_solution"]
    assert total.filter(frame["method"] == "unconstrained").max() <= 20
    assert (context.sampled_tokens < total.sum()) == nested
    assert context.facts == {"problems": 6, "traces": len(frame)}
    assert context.resumed_from == 0


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, models: Path) -> None:
    run_sample(tmp_path, models, name="first")
    run_sample(tmp_path, models, name="second")
    run_sample(tmp_path, models, PARAMS.model_copy(update={"seed": 6}), name="third")
    first, second, third = ((tmp_path / f"{name}.parquet").read_bytes() for name in ("first", "second", "third"))
    assert first == second != third


def test_the_probe_samples_every_problem_k_times(tmp_path: Path, models: Path) -> None:
    problems = write_problems(tmp_path / "training.parquet", "training")
    context = Context("probe", tmp_path / "scratch")
    probe.run(PROBE, PROMPT, models / "base", problems, tmp_path / "traces.parquet", context)
    frame = read_frame(Traces, tmp_path / "traces.parquet")
    assert frame.group_by("problem_id").len()["len"].to_list() == [3] * 6
    assert set(frame.select("split", "model", "method", "think_budget", "solution_budget").unique().row(0)) == {
        "training",
        "base",
        "separate",
        6,
        5,
    }
    assert frame.group_by("problem_id").agg(pl.col("think_ids").n_unique())["think_ids"].max() > 1
    natural = (frame["closed"] == "natural").sum()
    assert context.sampled_tokens == (frame["n_think"] + frame["n_solution"]).sum() + natural


def test_damaged_inputs_are_named(tmp_path: Path, models: Path) -> None:
    problems = write_problems(tmp_path / "test.parquet", "test")
    arguments = (tmp_path / "traces.parquet", Context("sample-base@test", tmp_path / "scratch"))
    with pytest.raises(DataError, match="no such model folder"):
        sample.run(PARAMS, PROMPT, "r1", "test", models / "r1", problems, *arguments)
    with pytest.raises(DataError, match="problem 0000000000000004: its prompt has 12 tokens"):
        sample.run(
            PARAMS, PROMPT.model_copy(update={"max_tokens": 10}), "base", "test", models / "base", problems, *arguments
        )
    problems.write_bytes(problems.read_bytes()[:200])
    with pytest.raises(DataError, match=r"test\.parquet: not a readable parquet file"):
        sample.run(PARAMS, PROMPT, "base", "test", models / "base", problems, *arguments)
    assert not (tmp_path / "traces.parquet").exists()


def stage(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "stages.sample", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, models: Path) -> None:
    params = PARAMS.model_copy(update={"chunk": 1, "batch_size": 1})
    run_sample(tmp_path, models, params, name="whole")
    (tmp_path / "models").symlink_to(models)
    write_problems(tmp_path / "data/curated/test.parquet", "test")
    blocks = {"sample": params.model_dump(), "prompt": PROMPT.model_dump(), "base": {"kind": "taught", "context": 64}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(blocks), encoding="utf-8")
    output = tmp_path / "results/traces/test/base/traces.parquet"

    process = stage(tmp_path, "base", "test")
    while not list(tmp_path.glob(".scratch/*/chunk-*.parquet")) and process.poll() is None:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    text = process.communicate()[0]
    assert process.returncode == -signal.SIGKILL, text
    assert not output.exists()

    process = stage(tmp_path, "base", "test")
    text = process.communicate()[0]
    assert process.returncode == 0, text
    record = read_record(Record, tmp_path / "records/sample-base@test.json")
    assert 0 < record.resumed_from < len(QUESTIONS)
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert set(record.params["sample"]["grids"]) == {"test"}
    assert not list(tmp_path.glob(".scratch/*/*"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["base"], "name a model and a split"), (["base", "training"], "name a model and a split (validation or test)")],
)
def test_a_command_that_names_no_split_is_refused(
    arguments: list[str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["stages.sample", *arguments])
    with pytest.raises(ParamsError) as refused:
        sample.main()
    assert named in str(refused.value)


def test_budgets_over_the_context_are_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grids = {"validation": GRID.model_dump(), "test": {**GRID.model_dump(), "limit": 48}}
    blocks = {
        "sample": {**PARAMS.model_dump(), "grids": grids},
        "probe": {**PROBE.model_dump(), "budget": "40+8"},
        "prompt": PROMPT.model_dump(),
        "base": {"kind": "taught", "context": 64},
    }
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stages.sample", "base", "test"])
    for main, key in ((sample.main, "sample.grids.test.limit"), (probe.main, "probe.budget")):
        with pytest.raises(ParamsError, match=r"16 \+ 48 \+ 1 = 65 is over the model's context \(64\)") as refused:
            main()
        assert key in str(refused.value)
