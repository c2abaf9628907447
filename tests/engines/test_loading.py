"""A model folder loads whole, or is refused with the file at fault."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from elastic.budget import Budget
from elastic.engines.loading import load_engine
from elastic.engines.protocol import Job, Sampling
from elastic.engines.runtime import device
from elastic.errors import DataError, ElasticError, MarkerError, ParamsError
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter


@pytest.fixture(scope="module")
def whole(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "whole"
    build_model(tiny_tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0).save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def test_a_whole_folder_loads_and_answers(whole: Path) -> None:
    engine, tokenizer = load_engine(whole, batch_size=4)
    assert engine.context == 64
    assert engine.model.dtype == torch.float32
    assert not engine.model.training
    prompt = Prompter(tokenizer).render("1+2=?")
    [trace] = engine.generate([Job.separate(prompt, Budget(3, 3), 0)], Sampling(temperature=0))
    assert trace.closed == "forced" or trace.n_think < 3


def cut(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-40])


def removed(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def without_a_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def with_a_larger_tokenizer(folder: Path) -> None:
    build_tokenizer([f"w{i}" for i in range(200)], context=64).save_pretrained(folder)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (shutil.rmtree, "no such model folder"),
        (removed("config.json"), "config.json: no such file"),
        (removed("model.safetensors"), "model.safetensors"),
        (removed("tokenizer_config.json"), "tokenizer_config.json: no such file"),
        (removed("tokenizer.json"), "tokenizer"),
        (cut("config.json"), "config.json: not JSON"),
        (cut("tokenizer.json"), "tokenizer.json: not JSON"),
        (cut("model.safetensors"), "model.safetensors: not whole"),
        (without_a_weight, "1 weights are missing, first model.norm.weight"),
        (with_a_larger_tokenizer, "the tokenizer has 207 tokens"),
    ],
)
def test_a_damaged_folder_is_refused_by_name(folder: Path, damage: Callable[[Path], None], named: str) -> None:
    damage(folder)
    with pytest.raises(DataError) as refused:
        load_engine(folder, batch_size=1)
    assert named in str(refused.value)
    assert str(folder) in str(refused.value)
    assert "Remedy:" in str(refused.value)


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("{{ messages[0].content }}<think></think>", "closes the think block"),
        ("{% for message in messages %}", "cannot be rendered"),
        (None, "no chat template"),
    ],
)
def test_a_template_that_leaves_no_thinking_is_refused(folder: Path, template: str | None, named: str) -> None:
    path = folder / "chat_template.jinja"
    if template is None:
        path.unlink()
    else:
        path.write_text(template, encoding="utf-8")
    with pytest.raises(MarkerError) as refused:
        load_engine(folder, batch_size=1)
    assert named in str(refused.value)
    assert "Remedy:" in str(refused.value)


def test_every_end_of_the_generation_config_ends_a_response(folder: Path) -> None:
    path = folder / "generation_config.json"
    path.write_text(json.dumps({"eos_token_id": [1, 3]}), encoding="utf-8")
    engine, _ = load_engine(folder, batch_size=1)
    assert engine.markers.eos_ids == {1, 3}


@pytest.mark.parametrize(
    ("name", "value"), [("ELASTIC_DEVICE", "abacus"), ("ELASTIC_THREADS", "0"), ("ELASTIC_THREADS", "many")]
)
def test_an_environment_that_names_nothing_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTIC_DEVICE", "cpu")
    monkeypatch.setenv(name, value)
    with pytest.raises(ParamsError, match=name) as refused:
        device()
    assert isinstance(refused.value, ElasticError)
    assert value in str(refused.value)


def test_each_of_several_processes_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    for named, meant in {"cuda": "cuda:1", "cuda:0": "cuda:0", "cpu": "cpu"}.items():
        monkeypatch.setenv("ELASTIC_DEVICE", named)
        assert device() == torch.device(meant)


def test_threads_are_set_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTIC_DEVICE", "cpu")
    monkeypatch.setenv("ELASTIC_THREADS", "2")
    assert device() == torch.device("cpu")
    assert torch.get_num_threads() == 2
    monkeypatch.delenv("ELASTIC_THREADS")
    device()
    assert torch.get_num_threads() == 1
