r"""r = 1[correct] + w * max(0, right - wrong) / (terms - 1): credit for every checkable step of the laptop world.

Ours, for the chains of `elastic/contracts/chains.py`, where a step can be checked against the question: `B4+3=7` is
right if its running totals and its term are those of the chain, the terse `B7` if its total is. `right` counts the
steps of the chain that stand right anywhere in thinking or solution, once each, so that needless checks earn nothing;
`wrong` counts every wrong one, so that guessing costs. What is no step (filler words, `check:`, the box, a step that
the budget cut) counts neither way. A response without a solution earns 0, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastic.contracts.chains import Chain, read_steps
from elastic.contracts.params.common import Positive
from elastic.rewards.protocol import Reward, Rollout


class StepsReward(Reward):
    """Correctness and checkable steps.

    Attributes:
        weight: w, what all steps of the chain together are worth beside the answer's 1.
    """

    needs: ClassVar[tuple[str, ...]] = ("question", "text")

    weight: Positive

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        return [
            rollout.correct + self.weight * _credit(rollout.question or "", rollout.text or "")
            if rollout.solution_tokens
            else 0.0
            for rollout in graded
        ]


def _credit(question: str, text: str) -> float:
    chain = Chain.read(question).by_label
    right, wrong = set(), 0
    for step in read_steps(text):
        before, term, total = chain.get(step.label, (None, None, None))
        if step.total == total and (step.term is None or (step.before, step.term) == (before, term)):
            right.add(step.label)
        else:
            wrong += 1
    return max(0, len(right) - wrong) / len(chain)
