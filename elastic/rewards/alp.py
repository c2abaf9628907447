"""r = 1[correct] - beta * (L / N) * max(p, 1/K), with p the share of correct rollouts among the K of the problem.

ALP: Just Enough Thinking (arXiv 2506.05256), its reward of the method section: easy problems pay most for a token, and
every response pays, wrong ones too. Errors count neither in p nor in K.

Contradiction: the method section divides the length by a constant N, elsewhere beta = 1e-7 multiplies plain tokens.
The two do not go together. `divide_by_longest` false means N = 1, and goes with a beta per token (published 1e-7,
ablation 1e-8); true means N = the longest rollout of the group, and goes with a beta per whole response: 1e-7 per token
is about 1e-3 per response of 8192. 1e-7 per response would vanish below any epsilon. Published K is 16 in one place
and 16 to 32 in another, the context 16384 in the set-up and 8192 or 4096 in the table.

Trap: at 1e-7 the penalties are 1e-4 to 1e-3 and teach something only because dividing by the group's standard deviation
scales an all-correct group up again (verl: eps 1e-6). TRL adds 1e-4, which halves the advantages of a group whose
reward std is 1e-4; estimators that do not divide by the group's std leave 1e-4. In single precision rewards near 1 are
6e-8 apart, 0.6 tokens at beta = 1e-7 and 6 tokens at 1e-8: advantages need rewards in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastic.contracts.params.common import Positive
from elastic.rewards.protocol import Reward, Rollout


class AlpReward(Reward):
    """ALP.

    Attributes:
        beta: price of a token, or of the group's longest response.
        divide_by_longest: which of the two.
    """

    beta: Positive
    divide_by_longest: bool = False

    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        solved = max(sum(rollout.correct for rollout in graded), 1) / len(graded)
        longest = max(1, *(rollout.tokens for rollout in graded))
        price = self.beta * solved / (longest if self.divide_by_longest else 1)
        return [rollout.correct - price * rollout.tokens for rollout in graded]
