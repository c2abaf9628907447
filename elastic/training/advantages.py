"""Group advantages of GRPO as E1 publishes them: A = (r - mean) / (std + eps) within the rollouts of one problem.

The standard deviation is the unbiased one, as in E1's code (section 1.1 of its `core_algos`; the paper writes no eps).
Departure: a rollout whose grading failed on our side has no reward; it is left out of its group's statistics and gets
advantage 0.
"""

from __future__ import annotations

import torch


def group_advantages(rewards: torch.Tensor, group_size: int, eps: float) -> torch.Tensor:
    """Advantages of whole groups.

    Args:
        rewards: (G * K,), groups in a row; NaN where grading failed.
        group_size: K.
        eps: added to the standard deviation.

    Returns:
        (G * K,); 0 throughout a group whose rewards are all equal.
    """
    groups = rewards.view(-1, group_size)
    known = ~groups.isnan()
    count = known.sum(dim=1, keepdim=True)
    filled = groups.nan_to_num(0.0)
    mean = filled.sum(dim=1, keepdim=True) / count.clamp_min(1)
    centred = torch.where(known, groups - mean, torch.zeros_like(groups)).nan_to_num(0.0)
    std = (centred.square().sum(dim=1, keepdim=True) / (count - 1).clamp_min(1)).sqrt()
    return (centred / (std + eps)).view(-1)


def zero_variance_share(rewards: torch.Tensor, group_size: int) -> float:
    """Share of groups whose known rewards are all equal: they teach nothing."""
    groups = rewards.view(-1, group_size)
    highest = groups.nan_to_num(-torch.inf).amax(dim=1)
    lowest = groups.nan_to_num(torch.inf).amin(dim=1)
    return float((highest <= lowest).float().mean())
