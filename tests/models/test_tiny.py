"""The tiny model is a model like any other once it is on disk."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from elastic.contracts.params.base import TaughtBase
from elastic.contracts.params.profile import load_profile
from elastic.data.chains import ChainsConfig, ChainsDataset
from elastic.models.tiny import build_model, build_tokenizer

LAPTOP = load_profile(Path(__file__).parents[2] / "params/laptop.yaml")


def test_a_saved_model_and_its_tokenizer_load_with_the_auto_classes_and_are_the_same(tmp_path: Path) -> None:
    assert isinstance(LAPTOP.base, TaughtBase)
    tokenizer = build_tokenizer(LAPTOP.base.vocabulary, context=64)
    model = build_model(tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    again, words = AutoModelForCausalLM.from_pretrained(tmp_path).eval(), AutoTokenizer.from_pretrained(tmp_path)
    text = "A12 B+7=?</think>so B12+7=19 check: \\boxed{19}"
    ids = tokenizer.encode(text)
    assert words.encode(text) == ids
    assert words.decode(ids) == tokenizer.decode(ids)
    chat = [{"role": "user", "content": "A1 B+2=?"}]
    assert words.apply_chat_template(chat, tokenize=False) == tokenizer.apply_chat_template(chat, tokenize=False)
    with torch.no_grad():
        assert torch.equal(again(torch.tensor([ids])).logits, model(torch.tensor([ids])).logits)


def test_equal_seeds_give_equal_weights_and_others_do_not() -> None:
    tokenizer = build_tokenizer(["1"], context=16)
    first, same, other = (
        build_model(tokenizer, hidden=16, layers=1, heads=2, context=16, seed=seed).lm_head.weight for seed in (0, 0, 1)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_the_laptop_vocabulary_knows_every_word_of_its_world() -> None:
    assert isinstance(LAPTOP.base, TaughtBase)
    tokenizer = build_tokenizer(LAPTOP.base.vocabulary, context=256)
    for row in (ChainsDataset(ChainsConfig(size=300, terse_share=0.5))[i] for i in range(300)):
        text = row["question"] + row["metadata"]["thinking"] + "</think>" + row["metadata"]["solution"]
        ids = tokenizer.encode(text)
        assert tokenizer.unk_token_id not in ids, text
        assert tokenizer.decode(ids).replace(" ", "") == text.replace(" ", "")
