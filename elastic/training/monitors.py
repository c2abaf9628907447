"""What is watched while a policy trains: figures of every step, and a preflight that stops hopeless runs early."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from elastic.errors import TrainingError
from elastic.trace import Trace
from elastic.training.advantages import zero_variance_share


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def rollout_figures(traces: Sequence[Trace], rewards: torch.Tensor, group_size: int) -> dict[str, float | None]:
    """Figures of one generation batch.

    Args:
        traces: B traces, whole groups in a row.
        rewards: (B,), NaN where grading failed.
        group_size: K.

    Returns:
        Shares and mean token counts; None where no trace is of that kind.
    """
    values = rewards.tolist()
    figures: dict[str, float | None] = {
        "reward": float(rewards.nanmean()),
        "zero_variance_share": zero_variance_share(rewards, group_size),
        "forced_share": _mean([trace.closed == "forced" for trace in traces]),
        "eos_in_think_share": _mean([trace.closed == "eos" for trace in traces]),
        "truncated_solution_share": _mean([trace.truncated_solution for trace in traces]),
        "finished_share": _mean([trace.finish == "eos" and trace.has_delimiter for trace in traces]),
        "grading_error_share": float(rewards.isnan().float().mean()),
        "sampled_tokens": float(sum(trace.n_sampled for trace in traces)),
        "think_tokens": _mean([trace.n_think for trace in traces]),
        "solution_tokens": _mean([trace.n_solution for trace in traces]),
    }
    for name, wanted in (("correct", lambda r: r > 0), ("wrong", lambda r: r <= 0)):
        chosen = [trace for trace, reward in zip(traces, values, strict=True) if wanted(reward)]
        figures[f"think_tokens_{name}"] = _mean([trace.n_think for trace in chosen])
        figures[f"solution_tokens_{name}"] = _mean([trace.n_solution for trace in chosen])
    return figures


class PreflightWatch:
    """Stops a run that can teach nothing, within its first `steps` steps.

    It stops when no group's rewards ever differed (the gradient is then 0), or when no rollout ever ended its
    solution within s. Thinking that is always forced only warns: it is E1's normal start.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._seen = 0
        self._varied = self._finished = self._unforced = False

    def observe(self, figures: dict[str, float | None], *, step: int) -> str | None:
        """Take one step's figures; returns a warning to print, if there is one.

        Raises:
            TrainingError: the first `steps` steps taught nothing.
        """
        if self._seen >= self.steps or step > self.steps:
            return None
        self._seen += 1
        self._varied |= (figures["zero_variance_share"] or 0.0) < 1.0
        self._finished |= (figures["finished_share"] or 0.0) > 0.0
        self._unforced |= (figures["forced_share"] or 0.0) < 1.0
        if self._seen < self.steps:
            return None
        if not self._finished:
            raise TrainingError(
                f"no rollout of the first {self.steps} steps ended its solution within s",
                where="rounds.*.budget",
                remedy="raise the solution budget above the length of the base's solutions (see the report of base)",
            )
        if not self._varied:
            raise TrainingError(
                f"the rewards of every group were equal in the first {self.steps} steps "
                f"(mean reward {figures['reward']}), so no group has an advantage and nothing can be learnt",
                where="train.samples, bucket.keep",
                remedy="train on problems that are solved sometimes but not always, raise samples or the budget, and "
                "look at a few rollouts: a reward that never fires often means that the answer format is wrong",
            )
        if not self._unforced:
            return f"all thinking of the first {self.steps} steps was forced; that is usual when t* is small"
        return None
