"""Advantage estimators: from the rewards of whole groups to one advantage a rollout.

With r a reward, mean_g and std_g those of its group (the K rollouts of one problem), n the known rewards of that group:

| name | advantage | source |
|---|---|---|
| group_std | (r - mean_g) / (std_g + eps) | GRPO as in E1's code (verl `core_algos`, eps 1e-6; the paper writes none) |
| group_mean | r - mean_g | Dr. GRPO (arXiv 2503.20783): no division, so that hard and easy problems weigh alike |
| rloo | r - mean of the others of its group = n / (n - 1) * (r - mean_g) | RLOO (arXiv 2402.14740) |
| reinforce_pp | (r - mean) / (std + eps), both over the batch | REINFORCE++ (arXiv 2501.03262) |
| reinforce_pp_baseline | (r - mean_g) / (std + eps), std of r - mean_g over the batch | the same, for groups; DLER's |

Standard deviations are unbiased. Departures: verl's REINFORCE++ weighs a rollout by its tokens and adds 1e-8 to the
variance, here rollouts weigh alike and eps is added to the standard deviation; the OpenRLHF of R1-Alpha whitens what
RLOO gives over the batch, which is not part of RLOO. TRL's scale_rewards="batch" divides r - mean_g by the std of
plain rewards, and TRL's eps is 1e-4 in every case.

A rollout whose grading failed on our side has no reward; it is left out of all statistics and gets advantage 0.

Tensors are only handed in, so that params can be checked without loading torch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, TypeAlias

from elastic.errors import ParamsError

if TYPE_CHECKING:
    import torch

Estimator: TypeAlias = "Callable[[torch.Tensor, int], torch.Tensor]"


def group_advantages(rewards: torch.Tensor, group_size: int, eps: float) -> torch.Tensor:
    """The estimator group_std.

    Args:
        rewards: (G * K,), groups in a row; NaN where grading failed.
        group_size: K.
        eps: added to the standard deviation.

    Returns:
        (G * K,); 0 throughout a group whose rewards are all equal.
    """
    centred, count = _centred(rewards.view(-1, group_size))
    std = (centred.square().sum(dim=1, keepdim=True) / (count - 1).clamp_min(1)).sqrt()
    return (centred / (std + eps)).view(-1)


def group_mean(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """The estimator group_mean; shapes as in `group_advantages`."""
    centred, _ = _centred(rewards.view(-1, group_size))
    return centred.view(-1)


def rloo(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """The estimator rloo; 0 for a rollout that has no others. Shapes as in `group_advantages`."""
    centred, count = _centred(rewards.view(-1, group_size))
    return (centred * count / (count - 1).clamp_min(1)).view(-1)


def reinforce_pp(rewards: torch.Tensor, group_size: int, eps: float) -> torch.Tensor:
    """The estimator reinforce_pp, which looks at no group: group_std with the whole batch as one group."""
    return group_advantages(rewards, rewards.numel(), eps)


def reinforce_pp_baseline(rewards: torch.Tensor, group_size: int, eps: float) -> torch.Tensor:
    """The estimator reinforce_pp_baseline; shapes as in `group_advantages`."""
    centred, count = _centred(rewards.view(-1, group_size))
    std = (centred.square().sum() / (count.sum() - 1).clamp_min(1)).sqrt()
    return (centred / (std + eps)).view(-1)


def _centred(groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rewards (G, K) minus the mean of their group, 0 where unknown; and the known rewards of each group, (G, 1)."""
    known = ~groups.isnan()
    count = known.sum(dim=1, keepdim=True)
    mean = groups.nan_to_num(0.0).sum(dim=1, keepdim=True) / count.clamp_min(1)
    return (groups - mean).nan_to_num(0.0), count


_ESTIMATORS: dict[str, Callable[..., torch.Tensor]] = {
    "group_std": group_advantages,
    "group_mean": group_mean,
    "rloo": rloo,
    "reinforce_pp": reinforce_pp,
    "reinforce_pp_baseline": reinforce_pp_baseline,
}


def needs_eps(name: str) -> bool:
    """Whether an estimator divides by a standard deviation.

    Raises:
        ParamsError: there is none of this name.
    """
    if name not in _ESTIMATORS:
        raise ParamsError(
            f"no advantage estimator is called {name!r}",
            where="estimator",
            remedy=f"name one of {', '.join(_ESTIMATORS)}",
        )
    return "eps" in signature(_ESTIMATORS[name]).parameters


def load_estimator(name: str, eps: float | None) -> Estimator:
    """The estimator called `name`.

    Args:
        name: as in the table above.
        eps: for those that divide by a standard deviation, None for the others.

    Raises:
        ParamsError: there is none of this name, or eps is missing, idle or below 0.
    """
    if not needs_eps(name):
        if eps is not None:
            raise ParamsError(
                f"{name} divides by no standard deviation and would ignore it", where="eps", remedy="leave it out"
            )
        return _ESTIMATORS[name]
    if eps is None or not eps >= 0:
        raise ParamsError(
            f"{name} divides by a standard deviation and needs 0 or more, not {eps}", where="eps", remedy="as in 1e-6"
        )
    return partial(_ESTIMATORS[name], eps=eps)
