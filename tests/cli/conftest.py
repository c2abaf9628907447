"""A checkpoint on disk: a tiny decoder with random weights, saved as a hub model is."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastic.models.tiny import build_model, build_tokenizer

WORDS = [*map(str, range(20)), "+", "-", "=", ";", "?", "check:", "\\boxed{", "}"]
CONTEXT = 96


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    tokenizer = build_tokenizer(WORDS, context=CONTEXT)
    model = build_model(tokenizer, hidden=32, layers=1, heads=2, context=CONTEXT, seed=0)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
