"""A tiny random model and its helpers, shared by the training tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter

WORDS = [*(str(n) for n in range(20)), *"+-=?", "check:", "\\boxed{", "}", *"ABCDEFG"]


@pytest.fixture
def prompter() -> Prompter:
    return Prompter(build_tokenizer(WORDS, context=64))


@pytest.fixture
def policy(prompter: Prompter, tmp_path: Path):  # type: ignore[no-untyped-def]
    return build_model(prompter.tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0)
