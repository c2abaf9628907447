"""What the budgeted engine is compared with: the ways in which such traces are sampled without it.

Each function samples and returns how many tokens were drawn, counted to the first EOS and never in padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import GenerationConfig

from elastic.budget import Budget
from elastic.markers import Markers

Prompts = Sequence[tuple[int, ...]]


def left_padded(rows: Sequence[Sequence[int]], markers: Markers, model: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask, both (B, longest row)."""
    longest = max(map(len, rows))
    ids = [[markers.pad_id] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return torch.tensor(ids, device=model.device), torch.tensor(mask, device=model.device)


def config(markers: Markers, temperature: float, tokens: int, ends: frozenset[int]) -> GenerationConfig:
    """Sampling as the engine samples, ending at `ends`."""
    return GenerationConfig(
        do_sample=True,
        temperature=temperature,
        top_k=0,
        max_new_tokens=tokens,
        eos_token_id=sorted(ends),
        pad_token_id=markers.pad_id,
    )


def cut_after(ids: Sequence[int], ends: frozenset[int]) -> list[int]:
    """The ids up to and with the first that ends a response."""
    end = next((place + 1 for place, token in enumerate(ids) if token in ends), len(ids))
    return list(ids[:end])


def generate(
    model: Any, markers: Markers, rows: Prompts, tokens: int, temperature: float, ends: frozenset[int]
) -> list[list[int]]:
    """Completions of one stock `generate`, cut at their end."""
    ids, mask = left_padded(rows, markers, model)
    with torch.inference_mode():
        out = model.generate(ids, attention_mask=mask, generation_config=config(markers, temperature, tokens, ends))
    return [cut_after(row, ends) for row in out[:, ids.shape[1] :].tolist()]


def stock(model: Any, markers: Markers, prompts: Prompts, tokens: int, temperature: float) -> int:
    """Plain decoding by stock `generate`."""
    return sum(map(len, generate(model, markers, prompts, tokens, temperature, markers.eos_ids)))


def two_generates(model: Any, markers: Markers, prompts: Prompts, budget: Budget, temperature: float) -> int:
    """Both budgets by two stock calls: think up to the delimiter or t, then read it all again and solve up to s."""
    ends = markers.eos_ids | {markers.close_id}
    thinking = generate(model, markers, prompts, budget.think, temperature, ends)
    # As the engine counts: EOS inside thinking ends a trace, and a delimiter is there once.
    rows = [
        (*prompt, *ids, *([] if ids[-1] == markers.close_id else [markers.close_id]))
        for prompt, ids in zip(prompts, thinking, strict=True)
        if ids[-1] not in markers.eos_ids
    ]
    solutions = generate(model, markers, rows, budget.solution, temperature, markers.eos_ids)
    return sum(map(len, thinking)) + sum(map(len, solutions))


@torch.inference_mode()
def refeeding(model: Any, markers: Markers, prompts: Prompts, tokens: int, temperature: float) -> int:
    """Plain decoding without a cache: the whole sequence goes through the model again for each token."""
    ids, mask = left_padded(prompts, markers, model)
    start = ids.shape[1]
    for _ in range(tokens):
        positions = (mask.cumsum(-1) - 1).clamp_min(0)
        logits = model(ids, attention_mask=mask, position_ids=positions, use_cache=False, logits_to_keep=1).logits
        token = torch.multinomial((logits[:, -1] / temperature).softmax(-1), 1)
        ids, mask = torch.cat([ids, token], dim=-1), torch.cat([mask, torch.ones_like(token)], dim=-1)
    return sum(len(cut_after(row, markers.eos_ids)) for row in ids[:, start:].tolist())


def continuous(model: Any, markers: Markers, prompts: Prompts, tokens: int, temperature: float) -> int:
    """Plain decoding by transformers' own continuous batching; it changes the model's attention for good."""
    out = model.generate_batch(
        [list(prompt) for prompt in prompts],
        generation_config=config(markers, temperature, tokens, markers.eos_ids),
    )
    if len(out) != len(prompts):
        raise RuntimeError(f"continuous batching answered {len(out)} of {len(prompts)} prompts")
    return sum(len(answer.generated_tokens) for answer in out.values())
