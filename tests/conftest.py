"""What tests of several rooms share: a tiny decoder with random weights whose next tokens can be biased.

Heavy imports stand inside the fixtures, so that tests of light rooms stay light.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CONTEXT = 128
WORDS = [*map(str, range(20)), *"+-=?", "check:", "\\boxed{", "}"]


@pytest.fixture(scope="session")
def tiny_tokenizer() -> Any:
    from elastic.models.tiny import build_tokenizer

    return build_tokenizer(WORDS, context=CONTEXT)


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer: Any) -> Callable[..., Any]:
    """Builds a decoder in float64, in which batched and single rows agree to the last digit that could matter.

    Logits have a standard deviation of about `spread`; the keywords (eos, pad, close, open) are added to a token's.
    """
    import torch

    from elastic.models.tiny import build_model

    names = {"eos": "<eos>", "pad": "<pad>", "close": "</think>", "open": "<think>"}

    def build(*, spread: float = 3.0, seed: int = 0, **bias: float) -> Any:
        torch.set_num_threads(1)
        model = build_model(tiny_tokenizer, hidden=32, layers=1, heads=2, context=CONTEXT, seed=seed).double().eval()
        head = torch.nn.Linear(32, len(tiny_tokenizer), dtype=torch.float64)
        head.weight.data.normal_(std=spread / 32**0.5)
        head.bias.data.zero_()
        for name, value in bias.items():
            head.bias.data[tiny_tokenizer.convert_tokens_to_ids(names[name])] = value
        model.lm_head = head
        return model

    return build


@pytest.fixture(scope="session")
def tiny_markers(tiny_tokenizer: Any) -> Any:
    from elastic.markers import Markers

    return Markers.find(tiny_tokenizer)


@pytest.fixture(scope="session")
def tiny_prompts(tiny_tokenizer: Any) -> Callable[..., list[tuple[int, ...]]]:
    """Rendered prompts of different lengths; `opened` False leaves the opening delimiter to the model."""
    from random import Random

    from elastic.prompts import Prompter

    def prompts(count: int, *, opened: bool = True) -> list[tuple[int, ...]]:
        rng, prompter = Random(count), Prompter(tiny_tokenizer)
        questions = ["+".join(str(rng.randint(0, 19)) for _ in range(rng.randint(1, 6))) + "=?" for _ in range(count)]
        rendered = [prompter.render(question) for question in questions]
        return rendered if opened else [prompt[:-1] for prompt in rendered]

    return prompts
