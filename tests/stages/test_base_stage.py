"""The stage base: teaching that survives an interruption, and checkpoints that are read whole or refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from filled_frames import filled
from safetensors.torch import load_file, save_file

from elastic.contracts.frames import Problems, write_frame
from elastic.contracts.params.base import HubBase, TaughtBase
from elastic.contracts.params.prompt import PromptParams
from elastic.engines.loading import load_engine
from elastic.errors import DataError, ElasticError
from elastic.models.tiny import build_model, build_tokenizer
from stages import base
from stages.common import Context, file_digest

WORDS = [*map(str, range(20)), *"+-=?", "check:", "\\boxed{", "}"]
TAUGHT = TaughtBase(
    kind="taught",
    vocabulary=WORDS,
    context=48,
    hidden=16,
    layers=1,
    heads=2,
    steps=40,
    batch_size=4,
    learning_rate=1e-2,
    warmup_steps=2,
    weight_decay=0.01,
    save_every=10,
    seed=1,
)
PROMPT = PromptParams(template="{question}", max_tokens=24)
HUB = HubBase(kind="hub", model="./origin", context=64, licence="MIT")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def teaching() -> Path:
    sums = [(a, b) for a in range(6) for b in range(4)]
    rows = [
        {
            "problem_id": f"{number:016x}",
            "split": "teaching",
            "question": f"{a}+{b}=?",
            "answer": str(a + b),
            "thinking": f"{a}+{b}={a + b}",
            "solution": f"\\boxed{{{a + b}}}",
        }
        for number, (a, b) in enumerate(sums)
    ]
    write_frame(Problems, filled(Problems, rows), Path("teaching.parquet"))
    return Path("teaching.parquet")


class Interrupted(Context):
    """A run that ends in the middle of step 30, before it is saved."""

    def progress(self, text: str, *, every: float = 5.0) -> None:
        if text.startswith("step 30/"):
            raise KeyboardInterrupt


def test_interrupted_teaching_goes_on_and_ends_with_the_same_bytes(teaching: Path) -> None:
    straight = Context("base", Path("scratch-straight"))
    base.run_taught(TAUGHT, PROMPT, teaching, Path("straight"), straight)
    assert straight.resumed_from == 0
    assert straight.facts["steps"] == 40

    with pytest.raises(KeyboardInterrupt):
        base.run_taught(TAUGHT, PROMPT, teaching, Path("resumed"), Interrupted("base", Path("scratch")))
    assert not Path("resumed").exists()
    again = Context("base", Path("scratch"))
    base.run_taught(TAUGHT, PROMPT, teaching, Path("resumed"), again)
    assert again.resumed_from == 20
    assert file_digest(Path("resumed")) == file_digest(Path("straight"))

    other = TAUGHT.model_copy(update={"seed": 2})
    base.run_taught(other, PROMPT, teaching, Path("other"), Context("base", Path("scratch-other")))
    assert file_digest(Path("other")) != file_digest(Path("straight"))


def test_a_taught_base_is_a_whole_checkpoint(teaching: Path) -> None:
    base.run_taught(
        TAUGHT.model_copy(update={"steps": 1}), PROMPT, teaching, Path("base"), Context("base", Path("scratch"))
    )
    engine, tokenizer = load_engine(Path("base"), batch_size=1)
    assert engine.context == 48
    assert engine.model.generation_config.eos_token_id == tokenizer.eos_token_id
    assert engine.model.generation_config.pad_token_id == tokenizer.pad_token_id


def test_a_demonstration_that_the_vocabulary_cannot_write_is_named(teaching: Path) -> None:
    params = TAUGHT.model_copy(update={"vocabulary": [word for word in WORDS if word != "3"]})
    with pytest.raises(DataError, match=r"'0\+3=\?': .* the tokenizer does not know"):
        base.run_taught(params, PROMPT, teaching, Path("base"), Context("base", Path("scratch")))
    assert not Path("base").exists()


@pytest.fixture
def origin() -> Path:
    tokenizer = build_tokenizer(WORDS, context=64)
    model = build_model(tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)
    model.to(torch.bfloat16).save_pretrained("origin")
    tokenizer.save_pretrained("origin")
    return Path("origin")


def fetch(params: HubBase = HUB) -> Context:
    context = Context("base", Path("scratch"))
    base.run_hub(params, Path("models/base"), context)
    return context


def test_a_local_folder_becomes_the_base_as_it_is(origin: Path) -> None:
    context = fetch()
    ours, theirs = load_file("models/base/model.safetensors"), load_file("origin/model.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(ours[name].dtype == torch.bfloat16 and torch.equal(ours[name], theirs[name]) for name in ours)
    engine, tokenizer = load_engine(Path("models/base"), batch_size=1)
    assert tokenizer.get_vocab() == build_tokenizer(WORDS, context=64).get_vocab()
    assert context.facts == {"parameters": engine.model.num_parameters(), "revision": None}


def cut(name: str) -> Callable[[], None]:
    return lambda: Path("origin", name).write_bytes(Path("origin", name).read_bytes()[:-40]) and None


def removed(name: str) -> Callable[[], None]:
    return lambda: Path("origin", name).unlink()


def without_a_weight() -> None:
    tensors = load_file("origin/model.safetensors")
    del tensors["model.norm.weight"]
    save_file(tensors, "origin/model.safetensors", metadata={"format": "pt"})


def without_delimiters() -> None:
    path = Path("origin/tokenizer.json")
    path.write_text(path.read_text(encoding="utf-8").replace("think>", "thought>"), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda: shutil.rmtree("origin"), r"base\.model \./origin: the base model cannot be loaded"),
        (removed("config.json"), r"base\.model \./origin: the base model cannot be loaded"),
        (removed("model.safetensors"), r"model\.safetensors"),
        (cut("model.safetensors"), r"base\.model \./origin: the base model cannot be loaded"),
        (cut("tokenizer.json"), r"base\.model \./origin: the base model cannot be loaded"),
        (without_a_weight, r"1 weights are missing, first model\.norm\.weight"),
        (without_delimiters, "the delimiter '<think>' is not one token"),
    ],
)
def test_a_bad_folder_is_refused_and_nothing_is_left(damage: Callable[[], None], named: str, origin: Path) -> None:
    damage()
    with pytest.raises(ElasticError, match=named):
        fetch()
    assert not Path("models").exists()


def test_a_context_that_the_model_does_not_have_is_refused(origin: Path) -> None:
    with pytest.raises(DataError, match=r"base\.context is 65, but the model holds 64 tokens"):
        fetch(HUB.model_copy(update={"context": 65}))
    assert not Path("models").exists()
