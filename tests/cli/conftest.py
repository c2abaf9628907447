"""Checkpoints on disk: tiny decoders, saved as a hub model is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from elastic.models.tiny import build_model, build_tokenizer

WORDS = [*map(str, range(20)), "+", "-", "=", ";", "?", "check:", "\\boxed{", "}"]
CONTEXT = 96


THINKING, SOLUTION = ["4"], ["\\boxed{", "5", "}"]


def made() -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    tokenizer = build_tokenizer(WORDS, context=CONTEXT)
    return build_model(tokenizer, hidden=32, layers=1, heads=2, context=CONTEXT, seed=0), tokenizer


def saved(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> Path:
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights."""
    return saved(*made(), tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="session")
def parrot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that thinks one token and answers 5 whatever it is asked, under greedy decoding."""
    model, tokenizer = made()
    answer = tokenizer.convert_tokens_to_ids([*THINKING, "</think>", *SOLUTION, "<eos>"])
    rows = []
    for terms in ("1+2", "9-3", "4+4", "2+7"):
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": f"{terms}=?"}], add_generation_prompt=True, return_dict=False
        )
        rows.append([*prompt, *answer])
    ids = torch.tensor(rows)
    labels = ids.clone()
    labels[:, : -len(answer)] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(60):
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return saved(model, tokenizer, tmp_path_factory.mktemp("parrot"))
