"""The stage train: what it refuses before any work, and the curves it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from elastic.errors import DataError, ElasticError, ParamsError
from stages import train
from stages.common import file_digest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The smoke profile; the current folder holds nothing else."""
    monkeypatch.chdir(tmp_path)
    values: dict[str, Any] = yaml.safe_load((ROOT / "params/smoke.yaml").read_text(encoding="utf-8"))
    return values


def refused(params: dict[str, Any], *arguments: str) -> ElasticError:
    """The error of `python -m stages.train ARGUMENTS`, which must come before any work."""
    Path("params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    before = sorted(Path().rglob("*"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stages.train", *arguments])
        with pytest.raises(ElasticError) as error:
            train.main()
    assert sorted(Path().rglob("*")) == before
    return error.value


@pytest.mark.parametrize("arguments", [[], ["r1", "r2"]])
def test_one_round_must_be_named(arguments: list[str], params: dict[str, Any]) -> None:
    assert "name one round" in str(refused(params, *arguments))


def test_an_unknown_round_is_refused(params: dict[str, Any]) -> None:
    error = refused(params, "r7")
    assert isinstance(error, ParamsError)
    assert "rounds: no round 'r7'" in str(error)
    assert "name one of r1, r2" in str(error)


def test_a_round_that_starts_from_nowhere_is_refused(params: dict[str, Any]) -> None:
    params["rounds"]["r1"]["prev"] = "r2"
    assert "r1.prev is 'r2', which is neither base nor a round above it" in str(refused(params, "r1"))


def test_budgets_over_the_context_are_refused(params: dict[str, Any]) -> None:
    # 24 prompt tokens + 71 + 1 make 96, which the context of 96 holds; one more does not fit
    params["rounds"]["r1"]["budget"] = "59+12"
    assert "no such file" in str(refused(params, "r1"))
    params["rounds"]["r1"]["budget"] = "60+12"
    assert "rounds.r1.budget: prompt + t + s + 1 " in str(refused(params, "r1"))
    params["rounds"]["r1"]["budget"] = "12+12"
    params["train"]["monitor"]["unseen"] = "60+12"
    assert "train.monitor.unseen: prompt + t + s + 1 " in str(refused(params, "r1"))


def test_missing_inputs_are_named(params: dict[str, Any]) -> None:
    for path in (train.TRAINING, train.SLICE, train.VALIDATION, *train.GATES):
        error = refused(params, "r2")
        assert isinstance(error, DataError)
        assert f"{path}: no such file or folder" in str(error)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert "models/r1: no such file or folder" in str(refused(params, "r2"))


def test_curves_hold_every_row_and_are_the_same_bytes_again(tmp_path: Path) -> None:
    rows = [
        {"step": 0, "monitor": "12+12", "accuracy": 0.25, "forced_share": 0.5},
        {"step": 1, "reward": 0.5, "think_correct": None},
        {"step": 2, "reward": 0.75, "think_correct": 7.0},
        {"step": 2, "monitor": "12+12", "accuracy": 0.5, "forced_share": 0.25},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        train.write_curves(log, tmp_path / name)
    assert (tmp_path / "first/metrics.jsonl").read_bytes() == log.read_bytes()
    assert file_digest(tmp_path / "first") == file_digest(tmp_path / "second")
    plots = tmp_path / "first/dvclive/plots/metrics"
    curves = {
        str(path.relative_to(plots)): [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        for path in plots.rglob("*.tsv")
    }
    assert curves == {
        "train/reward.tsv": [["step", "reward"], ["1", "0.5"], ["2", "0.75"]],
        "train/think_correct.tsv": [["step", "think_correct"], ["2", "7.0"]],
        "monitor/12+12/accuracy.tsv": [["step", "accuracy"], ["0", "0.25"], ["2", "0.5"]],
        "monitor/12+12/forced_share.tsv": [["step", "forced_share"], ["0", "0.5"], ["2", "0.25"]],
    }
