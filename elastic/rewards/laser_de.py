"""r = Laser-D's, + b for a wrong response longer than L_A that does not repeat itself.

Laser-DE (arXiv 2505.15612; code at c9e7c4e): a wrong answer to a problem is encouraged to go on exploring. Targets and
their estimate are those of `laser_d.py`. A response without an answer gets no bonus.

Repetition is judged on token ids by the rule of the published code, in its own words: with n = 2, 3 or 4 for responses
of under 30, under 100 or more tokens, some n-gram stands at least 2 times (3 from 200 tokens on), two neighbouring ones
less than a third of the response apart, n-grams of one single token aside; or some 2n-gram stands twice. Up to 8 tokens
nothing is a repetition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from elastic.answers.verdict import Verdict
from elastic.rewards.laser_d import LaserDReward, TargetsState, target_of
from elastic.rewards.protocol import Rollout


class LaserDeReward(LaserDReward):
    """Laser-DE; its hyperparameters are those of Laser-D."""

    needs: ClassVar[tuple[str, ...]] = ("ids",)

    def _score(self, graded: Sequence[Rollout], state: TargetsState) -> list[float]:
        target = target_of(graded, state)
        explores = [
            rollout.verdict in (Verdict.WRONG, Verdict.TIMEOUT)
            and rollout.tokens > target
            and not repeats(rollout.ids or ())
            for rollout in graded
        ]
        scores = super()._score(graded, state)
        return [score + self.bonus * bonus for score, bonus in zip(scores, explores, strict=True)]


def repeats(ids: Sequence[int]) -> bool:
    """Whether a response repeats itself; see the head of this file."""
    size = len(ids)
    if size <= 8:
        return False
    n = 2 if size < 30 else 3 if size < 100 else 4
    times = 2 if size < 200 else 3
    for gram, places in _places(ids, n).items():
        uniform = n > 2 and len(set(gram)) == 1
        if not uniform and len(places) >= times and any(b - a < size // 3 for a, b in pairwise(places)):
            return True
    return size >= 4 * n and any(len(places) > 1 for places in _places(ids, 2 * n).values())


def _places(ids: Sequence[int], n: int) -> dict[tuple[int, ...], list[int]]:
    places = defaultdict(list)
    for start in range(len(ids) - n + 1):
        places[tuple(ids[start : start + n])].append(start)
    return places
