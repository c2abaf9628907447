"""Which rollouts take part in the loss (The Art of Efficient Reasoning, its comparison of masked samples)."""

from __future__ import annotations

from elastic.answers.verdict import Verdict
from elastic.contracts.params.train import LeaveOut
from elastic.rewards.protocol import Rollout


def takes_part(rollout: Rollout, rule: LeaveOut | None) -> bool:
    """Whether a rollout is trained on. One whose grading failed never is: nobody knows what it deserves."""
    if rollout.verdict is Verdict.ERROR:
        return False
    if rule is None:
        return True
    said = "correct" if rollout.correct else "wrong"
    length = "long" if rollout.tokens > rule.long_above else "short"
    return said not in rule.kinds and f"{said}_{length}" not in rule.kinds
