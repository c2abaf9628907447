"""What happens between the steps of a run: the log, the monitor slice, preflight, alerts, ceilings, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from accelerate.utils import broadcast_object_list
from transformers import TrainerCallback

from elastic.contracts.params.train import Ceiling
from elastic.errors import TrainingError
from elastic.training.alerts import CollapseWatch
from elastic.training.monitors import PreflightWatch
from elastic.training.steplog import StepLog
from elastic.training.trl_adapter import Batch

# What is logged of TRL's own figures.
_KEPT = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_ratio/region_mean")


@dataclass
class Ending:
    """Why a run ended before its last step, if it did, and what it warned of."""

    ended_by: str | None = None
    alerts: list[str] = field(default_factory=list)


class Watch(TrainerCallback):
    """Passes every step's figures on, and ends a run that is hopeless, has collapsed or is at its ceiling.

    Args:
        batch: what the rollout leaves.
        log: of the run.
        preflight, collapse: watchers.
        ceiling: of tokens and seconds.
        stop_on_alert: whether an alert ends the run.
        monitor: samples the monitor slice at a step.
        every: steps between two looks at it.
        steps: of the whole run, for the printed line.
        say: prints a line.
    """

    def __init__(
        self,
        *,
        batch: Batch,
        log: StepLog,
        preflight: PreflightWatch,
        collapse: CollapseWatch,
        ceiling: Ceiling,
        stop_on_alert: bool,
        monitor: Callable[[int], None],
        every: int,
        steps: int,
        say: Callable[[str], None],
    ) -> None:
        self.batch, self.log, self.preflight, self.collapse = batch, log, preflight, collapse
        self.ceiling, self.stop_on_alert = ceiling, stop_on_alert
        self.monitor, self.every, self.steps, self.say = monitor, every, steps, say
        self.ending = Ending()
        self._started = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look at the monitor slice before the first step."""
        if state.global_step == 0:
            self.monitor(0)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Run the preflight.

        Raises:
            TrainingError: TRL never called the rollout, or nothing can be learnt.
        """
        if self.batch.calls == 0:
            raise TrainingError(
                "the trainer never called the budgeted rollout",
                where="elastic/training/trl_adapter.py",
                remedy="this version of TRL ignores rollout_func: install the version in constraints.txt",
            )
        warning = self.preflight.observe(self.batch.figures, step=state.global_step)
        if warning:
            self.say(f"warning: {warning}")

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Write the step's row, look at the monitor slice, and see whether the run must end."""
        logs = logs or {}
        if "loss" not in logs:
            return
        row = {key.partition("/")[0]: float(logs[key]) for key in _KEPT if key in logs}
        figures = {**self.batch.figures, **row}
        step = state.global_step
        self.log.write(step, figures)
        self.say(
            f"step {step}/{self.steps}  reward {figures['reward'] or 0:.3f}  thinking {figures['think_tokens']:.1f}  "
            f"solution {figures['solution_tokens']:.1f}  forced {figures['forced_share']:.0%}"
        )
        self.batch.figures["sampled_tokens"] = 0.0  # drawn once, however many minibatches train on them
        # Watched here, after the step's own row and before its checkpoint, so that a resumed log has no gap.
        if step % self.every == 0:
            self.monitor(step)
        for alert in self.collapse.observe(figures):
            self.log.write(step, {"alert": alert})
            self.ending.alerts.append(f"step {step}: {alert}")
            self.say(f"ALERT at step {step}: {alert}")
            if self.stop_on_alert:
                self._end(control, f"alert at step {step}: {alert}")
        if self.ceiling.tokens is not None and self.log.sampled_tokens >= self.ceiling.tokens:
            self._end(control, f"ceiling of {self.ceiling.tokens} sampled tokens at step {step}")
        if self.ceiling.seconds is not None:
            # Processes must end at the same step, so the clock of the first one counts for all.
            [elapsed] = broadcast_object_list([time.monotonic() - self._started])
            if elapsed >= self.ceiling.seconds:
                self._end(control, f"ceiling of {self.ceiling.seconds:g} s at step {step}")

    def _end(self, control: Any, why: str) -> None:
        if self.ending.ended_by is None:
            self.ending.ended_by = why
            self.say(f"ending: {why}")
        control.should_training_stop = True
