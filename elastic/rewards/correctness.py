"""Reward 1 for a correct answer and 0 otherwise, with no length term.

Elastic Reasoning (E1), section 3.2: the budget alone makes the model brief. Departure: an error, which is a fault of
ours, earns nothing and leaves its group instead of counting as wrong.
"""

from __future__ import annotations

from elastic.answers.verdict import Verdict


def correctness(verdict: Verdict) -> float | None:
    """The reward of one rollout; None where it must be left out of its group."""
    return None if verdict is Verdict.ERROR else float(verdict is Verdict.CORRECT)
