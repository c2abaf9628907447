"""r = C + b * 1[correct and L <= L_A], with a target L_A for each difficulty that follows the policy.

Laser-D (arXiv 2505.15612, sections on adaptive targets; code at c9e7c4e); C and b as in `laser.py`. A problem is easy
if at least 2/3 of its rollouts are correct, medium from 1/3, else hard. L_A of a difficulty is re-estimated on a
monitor set (published: 500 problems, every 20 steps) as the smallest L of {lower, lower + step, ..., upper} for which

    floor(P(L) * m) >= 1,   m = floor(2n/3) easy, floor(n/3) medium, 1 hard,

where P(L) is the share of all responses to monitor problems of that difficulty, right or wrong, that have at most L
tokens, and n is the rollouts of a problem; `upper` if there is none. Published: 1024 apart up to 16384.

Contradictions. The code sorts monitor problems by > 2/3 and > 1/3, but training problems by >= 2/3 and >= 1/3; here
both use >=. Where no L serves, the code takes the longest response of the training batch. The appendix of The Art of
Efficient Reasoning (arXiv 2602.20945) prints Laser-DE's formula under the name Laser-D. The published controller was
not saved, which broke resumed runs (Laser issue 5): here it is a state.
Departures: m is at least 1 (n/3 rounds to 0 for n = 2), and a difficulty without monitor problems keeps its target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import model_validator

from elastic.contracts.params.common import Count, Positive
from elastic.rewards.laser import step_reward
from elastic.rewards.protocol import Rollout, State, StatefulReward, without_errors

Difficulty = Literal["easy", "medium", "hard"]


class TargetsState(State):
    """L_A of each difficulty, in tokens."""

    easy: Count
    medium: Count
    hard: Count


class LaserDReward(StatefulReward[TargetsState]):
    """Laser-D.

    Attributes:
        start_target: L_A of every difficulty until the first estimate.
        lower, upper, step: the lengths that are tried.
        bonus: b.
    """

    state_type: ClassVar[type[State]] = TargetsState
    observes: ClassVar[Literal["training", "monitor"]] = "monitor"

    start_target: Count
    lower: Count
    upper: Count
    step: Count
    bonus: Positive = 0.5

    @model_validator(mode="after")
    def _ordered(self) -> LaserDReward:
        if self.lower > self.upper:
            raise ValueError("lower must be at most upper")
        return self

    def start(self) -> TargetsState:
        """The same target for all."""
        return TargetsState(easy=self.start_target, medium=self.start_target, hard=self.start_target)

    def update(self, state: TargetsState, groups: Sequence[Sequence[Rollout]]) -> TargetsState:
        """Estimate the targets again on the rollouts of the monitor problems."""
        monitored = [known for group in groups if (known := without_errors(group))]
        n = max(map(len, monitored), default=0)
        expected = {"easy": max(1, 2 * n // 3), "medium": max(1, n // 3), "hard": 1}
        lengths: dict[str, list[int]] = {level: [] for level in expected}
        for known in monitored:
            lengths[difficulty(known)] += [rollout.tokens for rollout in known]
        found = {level: self._smallest(lengths[level], expected[level]) for level in expected if lengths[level]}
        return state.model_copy(update=found)

    def _smallest(self, lengths: Sequence[int], expected: int) -> int:
        for length in range(self.lower, self.upper, self.step):
            covered = sum(tokens <= length for tokens in lengths)
            if covered * expected >= len(lengths):
                return length
        return self.upper

    def _score(self, graded: Sequence[Rollout], state: TargetsState) -> list[float]:
        target = target_of(graded, state)
        return [step_reward(rollout, target, self.bonus) for rollout in graded]


def difficulty(known: Sequence[Rollout]) -> Difficulty:
    """Of a problem, by the share of correct rollouts."""
    correct = sum(rollout.correct for rollout in known)
    if 3 * correct >= 2 * len(known):
        return "easy"
    return "medium" if 3 * correct >= len(known) else "hard"


def target_of(known: Sequence[Rollout], state: TargetsState) -> int:
    """L_A of a problem."""
    return int(getattr(state, difficulty(known)))
