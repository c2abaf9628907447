"""A KV cache that grows in blocks, drops rows and copies prefixes of rows to others.

The stock dynamic layer concatenates keys and values at every step, which copies the whole cache for one new column.
Here columns are written into spare room, and the room grows by blocks.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

BLOCK = 64


class GrowingLayer(DynamicLayer):
    """One layer's keys and values, each a view (B, H, L, D) into a buffer with room for more columns."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append columns (B, H, N, D) and return all keys and values."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self._buffers = (key_states.new_empty(0), value_states.new_empty(0))
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        keys, values = self._buffers
        if keys.numel() == 0 or end > keys.shape[-2]:
            self._buffers = (self._grown(keys, key_states, start, end), self._grown(values, value_states, start, end))
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[:, :, start:end] = states
        self.keys, self.values = (buffer[:, :, :end] for buffer in self._buffers)
        return self.keys, self.values

    @staticmethod
    def _grown(old: torch.Tensor, states: torch.Tensor, used: int, length: int) -> torch.Tensor:
        room = -(-length // BLOCK) * BLOCK
        buffer = states.new_empty((*states.shape[:2], room, states.shape[-1]))
        if used:
            buffer[:, :, :used] = old[:, :, :used]
        return buffer

    def select(self, rows: torch.Tensor, first: int) -> None:
        """Keep `rows` (indices, shape (K,)) and the columns from `first` on."""
        length = self.get_seq_length()
        keys, values = self._buffers
        self._buffers = (keys[rows, :, first:], values[rows, :, first:])
        self.keys, self.values = (buffer[:, :, : length - first] for buffer in self._buffers)

    def spread(self, rows: torch.Tensor, columns: torch.Tensor) -> None:
        """Make row b of what stands at row `rows[b]` in the columns `columns[b]`; shapes (B,) and (B, L)."""
        length = columns.shape[-1]
        gathered = [buffer.transpose(1, 2)[rows.unsqueeze(1), columns].transpose(1, 2) for buffer in self._buffers]
        keys, values = (self._grown(states, states, length, length + 1) for states in gathered)
        self._buffers = (keys, values)
        self.keys, self.values = (buffer[:, :, :length] for buffer in self._buffers)

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Keep the rows `beam_idx`, as the stock layer does; its own way would leave the buffers behind."""
        self.select(beam_idx, 0)


def growing_cache(config: Any) -> DynamicCache:
    """A cache for a model of `config`; layers that are not plain full attention keep their own kind."""
    cache = DynamicCache(config=config)
    cache.layers = [GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


def can_spread(cache: DynamicCache) -> bool:
    """Whether every layer keeps all columns of a row, so that a prefix of it can be taken."""
    return 0 < len(_growing(cache)) == len(cache.layers)


def spread_rows(cache: DynamicCache, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Make row b of the first `lengths[b]` columns of row `rows[b]`, moved to the right end of all rows.

    Keys carry their positions, so that a moved column is the same as a computed one.

    Args:
        cache: one that `can_spread`, its rows without padding before their first id.
        rows: which rows to take, shape (B,).
        lengths: how many columns of each, shape (B,).

    Returns:
        Which columns hold something, 0 or 1, shape (B, longest).
    """
    longest = int(lengths.max())
    columns = torch.arange(longest, device=lengths.device) - (longest - lengths).unsqueeze(1)
    for layer in _growing(cache):
        layer.spread(rows, columns.clamp_min(0))
    return (columns >= 0).long()


def select_rows(cache: DynamicCache, rows: torch.Tensor, first: int) -> int:
    """Keep `rows` of every layer and, where all layers allow it, drop the columns before `first`.

    Returns:
        How many columns were dropped (`first` or 0).
    """
    if can_spread(cache):
        for layer in _growing(cache):
            layer.select(rows, first)
        return first
    # The one way of picking rows that every kind of layer has.
    cache.reorder_cache(rows)  # type: ignore[arg-type]
    return 0


def _growing(cache: DynamicCache) -> list[GrowingLayer]:
    return [layer for layer in cache.layers if isinstance(layer, GrowingLayer)]
