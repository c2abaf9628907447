"""Demonstrations whose questions say how long the response is, so that a model made from nothing can read lengths.

L1 (LCPO, public code at 93dd330) asks for a length in the prompt and trains a model that knew what numbers mean from
its pre-training. A base that is taught from nothing must have met them. The length named is off by a random share of
the true one, so that the base reads lengths without keeping to them: keeping to them is what L1 trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elastic.contracts.params.base import AskedLengths
from elastic.seeding import stream_seed, uniforms
from elastic.training.sft import Demonstration


def ask_lengths(
    rows: Sequence[Demonstration], asked: AskedLengths, tokenizer: Any, *, seed: int
) -> list[Demonstration]:
    """The rows, a share of them with the length of their response named after the question.

    Args:
        rows: demonstrations.
        asked: the share, and how lengths are named.
        tokenizer: counts both phases; EOS counts and the closing delimiter does not.
        seed: of which rows are chosen and how far the named length is off.
    """
    named = []
    for number, row in enumerate(rows):
        chosen, off = uniforms(stream_seed(seed, "asked length", number), 2)
        if chosen < asked.share:
            phases = tokenizer.encode(row.thinking + " " + row.solution, add_special_tokens=False)
            tokens = round((len(phases) + 1) * (1 + asked.spread * (2 * off - 1)))
            tokens = min(max(tokens, asked.low), asked.high)
            row = replace(row, question=row.question + asked.suffix.replace("{tokens}", str(tokens)))
        named.append(row)
    return named
