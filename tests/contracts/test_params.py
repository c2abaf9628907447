"""Impossible params are refused before any work, by key and with a remedy."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from elastic.contracts.params.common import validate
from elastic.contracts.params.profile import Profile, load_profile
from elastic.errors import ParamsError

LAPTOP = yaml.safe_load((Path(__file__).parents[2] / "params/laptop.yaml").read_text(encoding="utf-8"))


def changed(key: str, value: Any) -> dict[str, Any]:
    values = copy.deepcopy(LAPTOP)
    *path, last = key.split(".")
    block = values
    for part in path:
        block = block[part]
    block[last] = value
    return values


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("train.smaples", 8, "train.smaples"),
        ("trian", {}, "trian"),
        ("probe.samples", 1, "probe.samples"),
        ("train.samples", 1, "train.samples"),
        ("probe.budget", "-8+16", "probe.budget"),
        ("rounds.r1.budget", "32+0", "rounds.r1.budget"),
        ("rounds.r1.budget", "9000+16", "context"),
        ("sample.grids.test.limit", 9000, "sample.grids.test.limit"),
        ("sample.grids.test.limit", 50, "sample.grids.test"),
        ("sample.grids.test.think", [16, 8], "sample.grids.test"),
        ("rounds.r2.prev", "r3", "r3"),
        ("rounds", {}, "rounds"),
        ("train.micro_batch", 7, "micro"),
        ("train.temperature", 0, "train.temperature"),
        ("grading.training", "guess", "grading.training"),
        ("base.heads", 5, "heads"),
        ("base", {"kind": "hub", "model": "a/b", "context": 4096, "licence": "MIT"}, "revision"),
        ("curate.held_out_share", 1.5, "curate.held_out_share"),
        ("bucket.rates", "0 < rate < 1.1", "bucket.rates"),
        ("bucket.rates", "1 < rate < 1", "bucket.rates"),
        ("bucket.rates", "above 0", "bucket.rates"),
        ("bucket.edges", {"hard": 0.2, "easy": 0.5}, "the first edge, of hard, must be 0"),
        ("bucket.edges", {"hard": 0.0, "easy": 0.0}, "two buckets begin at the same edge"),
        ("bucket.edges", {"hard": 0.0, "always": 0.5}, "the bucket always has no edge"),
        ("bucket.keep", ["medium"], "keep names 'medium'"),
        ("score.confidence", 95, "score.confidence"),
        ("prompt.template", "no question", "prompt.template"),
    ],
)
def test_an_impossible_value_is_refused_by_key(key: str, value: Any, said: str) -> None:
    with pytest.raises(ParamsError) as caught:
        validate(Profile, changed(key, value), where="")
    assert said in str(caught.value)
    assert "Remedy" in str(caught.value)


def test_a_missing_block_is_named() -> None:
    values = copy.deepcopy(LAPTOP)
    del values["decide"]
    with pytest.raises(ParamsError, match="decide"):
        validate(Profile, values, where="")


def test_every_fault_is_named_at_once() -> None:
    values = changed("probe.samples", 1)
    values["score"]["confidence"] = 95
    with pytest.raises(ParamsError) as caught:
        validate(Profile, values, where="")
    assert "probe.samples" in str(caught.value)
    assert "score.confidence" in str(caught.value)


def test_a_file_that_is_no_params_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    with pytest.raises(ParamsError, match="no such file"):
        load_profile(path)
    path.write_text("- a\n- list\n", encoding="utf-8")
    with pytest.raises(ParamsError, match="no mapping"):
        load_profile(path)
    path.write_text("a: [1\n", encoding="utf-8")
    with pytest.raises(ParamsError, match="not valid YAML"):
        load_profile(path)
