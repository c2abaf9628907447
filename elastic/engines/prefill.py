"""What the model reads before it draws: the given ids of a batch, and what several rows share only once.

The longest sequences are read first. Each row then gets the keys and values of its own prefix of one of them and reads
only what is its own: a delimiter and a cue, or the last id of thinking that goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from elastic.engines.cache import spread_rows
from elastic.engines.prefixes import longest_of


@dataclass(frozen=True)
class Unread:
    """What is left to read for B rows, L columns of which are in the cache.

    Attributes:
        ids: left-padded, shape (B, R).
        mask: where a column holds an id, 0 or 1, shape (B, L + R).
        prefilled: given ids that are read for each row, before and now, shape (B,).
    """

    ids: torch.Tensor
    mask: torch.Tensor
    prefilled: list[int]


def whole(inputs: Sequence[list[int]], pad: int, device: torch.device) -> Unread:
    """All of the rows' ids, nothing being in the cache."""
    ids, mask = _left_padded(inputs, pad, device)
    return Unread(ids, mask, [len(row) for row in inputs])


def share(model: Any, cache: DynamicCache, inputs: Sequence[list[int]], given: Sequence[int], pad: int) -> Unread:
    """Read into an empty cache what rows share, where they share something.

    Args:
        model: reads.
        cache: one that `can_spread`.
        inputs: every row's ids.
        given: how many of a row's first ids may be shared, less than all of them being used, shape (B,).
        pad: filler.
    """
    prefixes = [tuple(row[: min(count, len(row) - 1)]) for row, count in zip(inputs, given, strict=True)]
    sources = longest_of(prefixes)
    place = {source: number for number, source in enumerate(sorted(set(sources)))}
    if len(place) == len(inputs):
        return whole(inputs, pad, model.device)
    longest = max(map(len, prefixes))
    # Padding on the right is behind every id that looks for something, so that no mask is needed.
    ids = [[*prefixes[source], *[pad] * (longest - len(prefixes[source]))] for source in place]
    model(
        input_ids=torch.tensor(ids, device=model.device),
        position_ids=torch.arange(longest, device=model.device).expand(len(ids), -1),
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    held = spread_rows(
        cache,
        torch.tensor([place[source] for source in sources], device=model.device),
        torch.tensor([len(prefix) for prefix in prefixes], device=model.device),
    )
    own = [row[len(prefix) :] for row, prefix in zip(inputs, prefixes, strict=True)]
    rest, mask = _left_padded(own, pad, model.device)
    prefilled = [
        len(row) + (len(prefix) if source == number else 0)
        for number, (row, prefix, source) in enumerate(zip(own, prefixes, sources, strict=True))
    ]
    return Unread(rest, torch.cat([held, mask], dim=-1), prefilled)


def _left_padded(rows: Sequence[list[int]], pad: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and their mask, both (B, longest row)."""
    longest = max(map(len, rows))
    ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows], device=device)
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=device)
    return ids, mask
