"""Drawing tokens from logits with one uniform number a row: the inverse of the cumulative distribution.

A row's token depends on its logits and its own uniform number only, not on the rows beside it.
"""

from __future__ import annotations

import torch

from elastic.engines.protocol import Sampling
from elastic.errors import DataError


def draw(logits: torch.Tensor, uniform: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Draw one token a row.

    Args:
        logits: (B, V), any float type.
        uniform: (B,), float64 in [0, 1).
        sampling: temperature 0 takes the largest logit.

    Returns:
        Token ids (B,), int64.

    Raises:
        DataError: a row's logits are not numbers.
    """
    return _draw(logits, uniform, sampling)[0]


def draw_with_logprobs(
    logits: torch.Tensor, uniform: torch.Tensor, sampling: Sampling
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `draw`, with the log-probability of each token in the distribution that it was drawn from.

    Returns:
        Token ids (B,), int64, and natural logarithms (B,), float64; at temperature 0 those of the plain softmax.
    """
    ids, weights, totals = _draw(logits, uniform, sampling)
    if weights is None or totals is None:
        logprobs = logits.log_softmax(dim=-1, dtype=torch.float64)
        return ids, logprobs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return ids, (weights.gather(-1, ids.unsqueeze(-1)).squeeze(-1) / totals).log()


def _draw(
    logits: torch.Tensor, uniform: torch.Tensor, sampling: Sampling
) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """Ids, and where they are not greedy the weights (B, V) that they were drawn by, with their sums (B,)."""
    if sampling.temperature == 0:
        largest, ids = logits.max(dim=-1)
        _require_numbers(largest)
        return ids, None, None
    scaled = logits.double() / sampling.temperature
    if sampling.top_k:
        kept = scaled.topk(min(sampling.top_k, scaled.shape[-1]), dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < kept, -torch.inf)
    probabilities = scaled.softmax(dim=-1)
    if sampling.top_p < 1:
        ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
        outside = ranked.cumsum(dim=-1) - ranked >= sampling.top_p
        probabilities = probabilities.masked_fill(outside.gather(-1, order.argsort(dim=-1)), 0.0)
    cumulative = probabilities.cumsum(dim=-1)
    totals = cumulative[:, -1]
    _require_numbers(totals)
    target = (uniform * totals).unsqueeze(-1)
    ids = torch.searchsorted(cumulative, target, right=True).squeeze(-1).clamp_(max=logits.shape[-1] - 1)
    return ids, probabilities, totals


def _require_numbers(values: torch.Tensor) -> None:
    if values.isnan().any():
        raise DataError(
            "the model's logits are not numbers",
            where="sampling",
            remedy="its weights are damaged or overflow in their dtype: look at the training that made them",
        )
