"""What an exported checkpoint must pass: a good one passes, and each way of breaking it is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from elastic.budget import Budget
from elastic.engines.loading import load_engine
from elastic.engines.transformers import TransformersEngine
from elastic.errors import ExportError
from elastic.exporting.checks import REQUIRED, check_budgets, check_files, check_loads
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter

QUESTIONS = ["1+2=?", "3+4-5=?", "9-8+7-6=?"]
NEW_TOKENS = 24


@pytest.fixture(scope="module")
def trained(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[TransformersEngine, Prompter]:
    folder = tmp_path_factory.mktemp("trained")
    model = build_model(tiny_tokenizer, hidden=32, layers=2, heads=2, context=64, seed=1)
    with torch.no_grad():
        # Random weights seldom write EOS; here some responses end with it.
        model.get_input_embeddings().weight[tiny_tokenizer.eos_token_id] *= 3
    model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    engine, tokenizer = load_engine(folder, batch_size=4)
    return engine, Prompter(tokenizer)


@pytest.fixture
def export(trained: tuple[TransformersEngine, Prompter], tmp_path: Path) -> Path:
    engine, prompter = trained
    folder = tmp_path / "export"
    engine.model.save_pretrained(folder)
    prompter.tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text("# A card\n", encoding="utf-8")
    return folder


def edited(name: str, **values: Any) -> Callable[[Path], None]:
    """Changes values of a JSON file; None takes the key away."""

    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text(encoding="utf-8")) | values
        kept = {key: value for key, value in content.items() if value is not None}
        (folder / name).write_text(json.dumps(kept), encoding="utf-8")

    return edit


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    return edit


def tokenizer_of(words: list[str]) -> Callable[[Path], None]:
    """A tokenizer of these words, with the same special tokens in the same places."""
    return lambda folder: build_tokenizer(words, context=64).save_pretrained(folder)


def retold(name: str, *pairs: tuple[str, str]) -> Callable[[Path], None]:
    """Replaces text in a file, pair after pair."""

    def edit(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        for old, new in pairs:
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")

    return edit


NUMBERS = list(map(str, range(20)))
SIGNS = [*"+-=?", "check:", "\\boxed{", "}"]
BROKEN = {
    "weights changed": (weights(lambda t: t["model.norm.weight"].mul_(1.001)), "norm.weight differs"),
    "weights missing": (weights(lambda t: t.pop("model.norm.weight")), "norm.weight is missing"),
    "weights not finite": (weights(lambda t: t["model.norm.weight"].fill_(torch.nan)), "norm.weight .* not finite"),
    "weights of another shape": (edited("config.json", hidden_size=16), "cannot load it"),
    "weights of a layer left out": (
        edited("config.json", num_hidden_layers=1, layer_types=["full_attention"]),
        r"layers\.1\.\S+ is missing",
    ),
    "weights cut short": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-99]),
        "cannot load it",
    ),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot load it"),
    "delimiters under other names": (
        retold("tokenizer.json", ("</think>", "</thought>")),
        "cannot load it: .*'</think>' is not one token",
    ),
    "delimiters in each other's places": (
        retold("tokenizer.json", ("<think>", "<x>"), ("</think>", "<think>"), ("<x>", "</think>")),
        "delimiters are not",
    ),
    "one more EOS": (edited("generation_config.json", eos_token_id=[1, 9]), "delimiters are not"),
    "no EOS to stop at": (edited("generation_config.json", eos_token_id=None), "greedy ids differ"),
    "another chat template": (retold("chat_template.jinja", ("<user>", "")), r"another prompt for '1\+2=\?'"),
    "words in another order": (tokenizer_of([*NUMBERS[::-1], *SIGNS]), "another prompt"),
    "words of an answer in another order": (
        tokenizer_of([*NUMBERS[:10], *NUMBERS[:9:-1], *SIGNS]),
        "reads ids as another text",
    ),
    "penalties in the generation config": (
        edited("generation_config.json", repetition_penalty=9.0),
        "greedy ids differ .* first at token [0-9]+",
    ),
    "another architecture": (edited("config.json", rms_norm_eps=1.0), "greedy ids differ"),
}


def test_a_whole_export_passes(export: Path, trained: tuple[TransformersEngine, Prompter]) -> None:
    engine, prompter = trained
    for written_again in (weights(dict), edited("config.json"), tokenizer_of([*NUMBERS, *SIGNS])):
        written_again(export)
    check_files(export)
    check_loads(export, engine, prompter, QUESTIONS, new_tokens=NEW_TOKENS)
    check_budgets(engine, [prompter.render(question) for question in QUESTIONS], Budget(8, 4))


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_file_that_is_missing_or_empty_is_named(name: str, how: str, export: Path) -> None:
    (export / name).unlink()
    if how == "empty":
        (export / name).touch()
    with pytest.raises(ExportError, match=f"{name} is missing or empty"):
        check_files(export)


def test_sharded_weights_count_as_weights(export: Path) -> None:
    (export / "model.safetensors").rename(export / "model-00001-of-00001.safetensors")
    check_files(export)


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_broken_is_found(broken: str, export: Path, trained: tuple[TransformersEngine, Prompter]) -> None:
    damage, named = BROKEN[broken]
    damage(export)
    with pytest.raises(ExportError, match=f"(?s){named}") as refused:
        check_loads(export, *trained, QUESTIONS, new_tokens=NEW_TOKENS)
    assert str(export) in str(refused.value)


def test_a_checkpoint_that_never_answers_is_refused(
    tiny_tokenizer: Any, trained: tuple[TransformersEngine, Prompter], tmp_path: Path
) -> None:
    """Every hidden state is one direction, and EOS lies farthest along it: thinking ends with EOS at once."""
    model = build_model(tiny_tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.model.norm.weight.fill_(1)
        model.get_input_embeddings().weight[:, 0] = 1
        model.get_input_embeddings().weight[tiny_tokenizer.eos_token_id, 0] = 2
    engine = TransformersEngine(model.eval(), trained[0].markers, batch_size=4)
    with pytest.raises(ExportError, match=r"no solution at all under 8\+4"):
        check_budgets(engine, [trained[1].render(question) for question in QUESTIONS], Budget(8, 4))
