"""What one `dvc repro` of the whole pipeline leaves behind, and that a second one has nothing to do."""

from __future__ import annotations

import fnmatch
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from clone import Clone, Reproduction
from safetensors.numpy import load_file

from elastic.contracts.distribution import DriftResult
from elastic.contracts.frames import (
    Collected,
    PassRates,
    Problems,
    Rejected,
    Scored,
    Traces,
    TrainingSet,
    read_frame,
)
from elastic.contracts.records import Curation, Decision, GateResult, GridRow, read_record, read_rows
from elastic.contracts.sources import SourceFacts

pytestmark = [pytest.mark.smoke, pytest.mark.timeout(1800)]

MODELS, SPLITS = ["base", "r1", "r2"], ["validation", "test"]
DATA_STAGES = {"collect", "curate", "check@curated", "bucket", "check@bucketed"}
SAMPLING = {f"sample-base@{split}" for split in SPLITS} | {f"sample@{m}-{s}" for m in MODELS[1:] for s in SPLITS}
SCORING = {name.replace("sample", "score") for name in SAMPLING}
TRAINING = {"train@r1", "train@r2"}
STAGES = DATA_STAGES | {"base", "probe"} | TRAINING | SAMPLING | SCORING | {"decide", "export", "report"}

FRAMES = {
    "data/collected/problems.parquet": Collected,
    "data/curated/rejected.parquet": Rejected,
    "data/curated/[tv]*.parquet": Problems,
    "data/probed/traces.parquet": Traces,
    "data/bucketed/rates.parquet": PassRates,
    "data/bucketed/[tv]*.parquet": TrainingSet,
    "results/traces/*/*/traces.parquet": Traces,
    "results/scores/*/*/scored.parquet": Scored,
}
SOURCES = "data/collected/sources.json"
RECORDS = {
    "data/curated/curation.json": Curation,
    "reports/checks/*.json": GateResult,
    "reports/drift/*.json": DriftResult,
    "results/decision.json": Decision,
}

# The keys that reports/summary.json has at least, and those of a row of its grid.
SUMMARY = {"profile", "seeds", "grid", "log_linear", "promotion", "cost", "contamination"}
ROW = {
    *("model", "split", "method", "think", "solution", "limit", "accuracy", "ci_low", "ci_high"),
    *("mean_think_tokens", "mean_solution_tokens", "p95_tokens"),
    *("forced_share", "eos_in_think_share", "truncated_solution_share", "no_answer_share"),
    *("timeout_share", "error_share", "n_problems", "n_samples", "seconds_per_problem"),
}
TRACE = {
    *("problem_id", "split", "model", "method", "think_budget", "solution_budget", "sample"),
    *("prompt_ids", "think_ids", "solution_ids", "closed", "finish"),
}


def files_of(clone: Clone) -> list[Path]:
    """Every file of every out."""
    outs = [clone.folder / path for path in clone.outs()]
    return [file for out in outs for file in (sorted(out.rglob("*")) if out.is_dir() else [out]) if file.is_file()]


def contract_of(path: str, contracts: dict[str, Any]) -> Any:
    """The one contract whose pattern fits the path."""
    [found] = [contract for pattern, contract in contracts.items() if fnmatch.fnmatch(path, pattern)]
    return found


def split(clone: Clone, name: str) -> pl.DataFrame:
    return read_frame(Problems, clone.folder / f"data/curated/{name}.parquet")


def test_every_stage_runs(first_run: tuple[Clone, Reproduction]) -> None:
    assert first_run[1].ran == STAGES
    assert set(first_run[0].lock()) == STAGES


def test_a_second_run_has_nothing_to_do(reproduced: Clone) -> None:
    lock = (reproduced.folder / "dvc.lock").read_bytes()
    again = reproduced.reproduce()
    assert (again.ran, again.restored, again.unchanged) == (set(), set(), STAGES)
    assert (reproduced.folder / "dvc.lock").read_bytes() == lock


def test_every_frame_keeps_its_contract(reproduced: Clone) -> None:
    frames = [file for file in files_of(reproduced) if file.suffix == ".parquet"]
    assert len(frames) == 1 + 5 + 1 + 3 + 6 + 6
    for file in frames:
        model = contract_of(str(file.relative_to(reproduced.folder)), FRAMES)
        read_frame(model, file, empty=model is Rejected)


def test_every_record_between_stages_keeps_its_contract(reproduced: Clone) -> None:
    names = {str(file.relative_to(reproduced.folder)) for file in files_of(reproduced) if file.suffix == ".json"}
    grids = {name for name in names if fnmatch.fnmatch(name, "results/scores/*/*/grid.json")}
    assert len(grids) == 6
    for name in grids:
        read_rows(GridRow, reproduced.folder / name)
    read_rows(SourceFacts, reproduced.folder / SOURCES)
    others = {
        name
        for name in names - grids - {SOURCES}
        if not re.match(r"models/|exports/|reports/(training/|summary)", name)
    }
    assert len(others) == 6
    for name in others:
        read_record(contract_of(name, RECORDS), reproduced.folder / name)


def test_models_are_whole_and_each_round_changed_its_own(reproduced: Clone) -> None:
    weights = {name: load_file(reproduced.folder / f"models/{name}/model.safetensors") for name in MODELS}
    for tensors in weights.values():
        assert all(np.isfinite(tensor).all() for tensor in tensors.values())
        assert tensors.keys() == weights["base"].keys()
    for prev, name in pairwise(MODELS):
        assert any((weights[name][key] != weights[prev][key]).any() for key in weights[name])


def test_the_export_is_the_promoted_model(reproduced: Clone) -> None:
    promoted = reproduced.json("results/decision.json")["promoted"]
    ours = load_file(reproduced.folder / "exports/model/model.safetensors")
    theirs = load_file(reproduced.folder / f"models/{promoted}/model.safetensors")
    assert ours.keys() == theirs.keys()
    assert all((ours[name] == theirs[name]).all() for name in ours)
    card = (reproduced.folder / "exports/model/README.md").read_text(encoding="utf-8")
    assert f"The checkpoint `{promoted}`" in card
    assert reproduced.record("base").fingerprint in card


def test_training_logs_every_step_and_the_unseen_budget(reproduced: Clone) -> None:
    for name, steps, own in (("r1", 4, "12+12"), ("r2", 2, "18+12")):
        log = reproduced.folder / f"reports/training/{name}/metrics.jsonl"
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert [row["step"] for row in rows if "monitor" not in row] == list(range(1, steps + 1))
        watched = {row["monitor"] for row in rows if "monitor" in row}
        assert watched == {own, "6+12"}


def test_every_record_says_what_made_its_output(reproduced: Clone) -> None:
    assert {path.stem for path in (reproduced.folder / "records").glob("*.json")} == STAGES
    for name in STAGES:
        record = reproduced.record(name)
        assert record.stage == name
        assert record.resumed_from == 0
        assert record.seconds > 0
        assert record.inputs
        assert record.params
        assert record.outputs
        assert {"python", "elastic", "torch", "transformers", "trl"} <= record.versions.keys()
        assert (record.sampled_tokens > 0) == (name in SAMPLING | TRAINING | {"probe"}), name


def test_nothing_is_left_to_resume_from(reproduced: Clone) -> None:
    assert not list(reproduced.folder.glob(".scratch/*/"))
    assert not list(reproduced.folder.rglob("*.partial"))


def test_the_summary_has_every_key(reproduced: Clone) -> None:
    summary = reproduced.json("reports/summary.json")
    assert summary.keys() >= SUMMARY
    assert summary["profile"] == "smoke"
    assert summary["promotion"].keys() >= {"promoted", "rule", "comparisons"}
    assert summary["contamination"].keys() >= {"checked", "overlaps"}
    assert summary["log_linear"].keys() == set(MODELS)
    assert all(fit.keys() == {"a", "b", "r2"} for fit in summary["log_linear"].values())
    assert summary["cost"].keys() == STAGES - {"report"}
    assert all(cost.keys() == {"seconds", "sampled_tokens"} for cost in summary["cost"].values())
    assert None not in [value for cost in summary["cost"].values() for value in cost.values()]
    assert {"base", "probe", "train", "sample", "score"} <= summary["seeds"].keys()


def test_the_summary_s_grid_has_every_model_split_method_and_budget(reproduced: Clone) -> None:
    grid = reproduced.json("reports/summary.json")["grid"]
    assert all(row.keys() >= ROW for row in grid)
    think = {"validation": (6, 12), "test": (6, 12, 18)}
    wanted = [
        cell
        for split in SPLITS
        for model in MODELS
        for cell in [
            (model, split, "unconstrained", None, None, 48),
            *((model, split, m, t, s, None) for m in ("separate", "truncate") for t in think[split] for s in (6, 12)),
        ]
    ]
    cells = [(r["model"], r["split"], r["method"], r["think"], r["solution"], r["limit"]) for r in grid]
    assert sorted(cells, key=repr) == sorted(wanted, key=repr)
    for row in grid:
        assert 0 <= row["ci_low"] <= row["accuracy"] <= row["ci_high"] <= 1
        assert row["n_problems"] == 32
        assert row["n_samples"] == {"validation": 1, "test": 2}[row["split"]]
        assert row["seconds_per_problem"] > 0


def test_traces_carry_their_ids_and_what_grading_said(reproduced: Clone) -> None:
    scored = read_frame(Scored, reproduced.folder / "results/scores/test/r1/scored.parquet")
    assert {*TRACE, "answer", "gold", "verdict"} <= set(scored.columns)
    golds = dict(split(reproduced, "test").select("problem_id", "answer").iter_rows())
    assert all(golds[problem] == gold for problem, gold in scored.select("problem_id", "gold").iter_rows())
    # chains have one-digit totals and boxed answers: a right trace says its gold in a box, word for word
    for text, gold in scored.filter(pl.col("verdict") == "correct").select("solution_text", "gold").iter_rows():
        assert f"\\boxed{{{gold}}}" in text
    assert set(scored["verdict"]) <= {"correct", "wrong", "no_answer"}


def test_no_evaluated_problem_is_taught_or_trained_on(reproduced: Clone) -> None:
    """By id, by the question without its spaces, and by the arithmetic alone, without the letters that name steps."""
    taught = [split(reproduced, "teaching"), split(reproduced, "training")]
    evaluated = [split(reproduced, "validation"), split(reproduced, "test")]
    for keys in (
        lambda frame: set(frame["problem_id"]),
        lambda frame: {question.replace(" ", "") for question in frame["question"]},
        lambda frame: {re.sub(r"[^0-9+-]", "", question) for question in frame["question"]},
    ):
        sets = [keys(frame) for frame in (*taught, *evaluated)]
        assert all(sets)
        assert not (sets[0] | sets[1]) & (sets[2] | sets[3])
        assert not sets[2] & sets[3]
    training = set(taught[1]["problem_id"])
    probed = read_frame(Traces, reproduced.folder / "data/probed/traces.parquet")
    bucketed, cut = (
        read_frame(TrainingSet, reproduced.folder / f"data/bucketed/{name}.parquet")
        for name in ("training", "validation")
    )
    assert set(probed["problem_id"]) == training
    assert set(bucketed["problem_id"]) | set(cut["problem_id"]) <= training
    assert not set(bucketed["problem_id"]) & set(cut["problem_id"])
    assert len(cut) == 8


def test_the_report_leads_to_the_data_docs_of_both_gates(reproduced: Clone) -> None:
    page = (reproduced.folder / "reports/index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="(data_docs/[^"]+)"', page)
    assert links == ["data_docs/curated/index.html", "data_docs/bucketed/index.html"]
    for link in links:
        assert "Great Expectations" in (reproduced.folder / "reports" / link).read_text(encoding="utf-8")
