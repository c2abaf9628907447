"""The ratio between the policy as the trainer computes it and as an engine with weights of its own sampled from it.

Both have the same weights but round differently, most of all in low precision: rollouts are then off-policy although
the policy has not moved. Truncated importance sampling weighs a token by the ratio of its two probabilities, up to a
cap (Yao et al. 2025, "Your Efficient RL Framework Secretly Brings You Off-Policy RL Training"). A token that the engine
did not draw, the forced delimiter, has the ratio 1 and no part in the figures.
"""

from __future__ import annotations

import torch


def importance_ratios(trained: torch.Tensor, sampled: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    """Probability under the trainer over probability under the engine, 1 for tokens that were not drawn.

    Args:
        trained: log-probabilities of the trainer, shape (B, C).
        sampled: those of the engine, shape (B, C).
        drawn: whether the engine drew the token, shape (B, C).

    Returns:
        Shape (B, C).
    """
    return torch.where(drawn, trained - sampled, 0.0).exp()


def importance_figures(trained: torch.Tensor, sampled: torch.Tensor, drawn: torch.Tensor) -> dict[str, float]:
    """How far trainer and engine are apart on the tokens that were drawn; arguments as for `importance_ratios`."""
    apart = (trained - sampled)[drawn]
    ratios = apart.exp()
    return {
        "logprob_difference": apart.abs().mean().item(),
        "importance_ratio_mean": ratios.mean().item(),
        "importance_ratio_min": ratios.min().item(),
        "importance_ratio_max": ratios.max().item(),
    }
