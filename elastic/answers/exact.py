"""Grader `exact`: an answer is correct if the fast path says so, and wrong otherwise.

Made for generated worlds, whose answers are plain numbers or words: as a reward it is quick, needs no process of its
own and does not move when the grader of evaluations is improved.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.answers.compare import settle
from elastic.answers.graders import Grader
from elastic.answers.verdict import Gold, Verdict


class ExactGrader(Grader):
    """Canonical text or an exact rational must agree; where the fast path abstains, the answer is wrong."""

    name = "exact"
    version = "2"

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        """One verdict a pair of (answer, gold)."""
        return [Verdict.CORRECT if settle(answer, gold.answer) else Verdict.WRONG for answer, gold in pairs]
