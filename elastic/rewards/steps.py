r"""r = 1[correct] + w * max(0, right - wrong) / (terms - 1): credit for every checkable step of the laptop world.

Ours, for the chains of `elastic/data/chains.py`, where a step can be checked against the question: `B4+3=7` is right if
its running totals and its term are those of the chain, the terse `B7` if its total is. `right` counts the steps of the
chain that stand right anywhere in thinking or solution, once each, so that needless checks earn nothing; `wrong` counts
every wrong one, so that guessing costs. What is no step (filler words, `check:`, the box, a step that the budget cut)
counts neither way. A response without a solution earns 0, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from elastic.contracts.params.common import Positive
from elastic.errors import DataError
from elastic.rewards.protocol import Reward, Rollout

_CHAIN = re.compile(r"A\d+(?: ?[B-Z][+-]\d+)+ ?=\?")
_TERM = re.compile(r"([A-Z])([+-]?\d+)")
# Wordy (label, total before, term, total), or terse (label, total) where nothing follows that would make it wordy.
_STEP = re.compile(r"([B-Z])(\d+)(?:([+-]\d+)=(\d+)|(?![\d+=-]))")


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
    terms = _terms(question)
    totals = dict(zip(terms, accumulate(terms.values()), strict=True))
    before = dict(zip(list(terms)[1:], totals.values(), strict=False))
    right, wrong = set(), 0
    for label, first, term, total in _STEP.findall(text):
        if label not in before:
            is_right = False
        elif term:
            is_right = (int(first), int(term), int(total)) == (before[label], terms[label], totals[label])
        else:
            is_right = int(first) == totals[label]
        if is_right:
            right.add(label)
        else:
            wrong += 1
    return max(0, len(right) - wrong) / len(before)


def _terms(question: str) -> dict[str, int]:
    if not _CHAIN.fullmatch(question):
        raise DataError(
            f"{question!r} is no chain, so its steps cannot be checked",
            where="the reward steps",
            remedy="use it in the laptop world, whose questions look like `A4 B+3 C-7=?`",
        )
    return {label: int(term) for label, term in _TERM.findall(question)}
