"""Budget(think, solution): the token limits of one trace, and the grammar they are written in.

Elastic Reasoning (E1), section 3: t bounds thinking, s bounds the solution, and unused thinking never flows into the
solution. Lengths are tokens; the suffix K means 1024.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from elastic.errors import BudgetError

_GRAMMAR = re.compile(r"\s*(\d+(?:\.\d+)?)([kK]?)\s*\+\s*(\d+(?:\.\d+)?)([kK]?)\s*")


@dataclass(frozen=True, order=True)
class Budget:
    """Limits of one trace: `think` tokens between the delimiters, `solution` tokens after them (EOS included).

    The closing delimiter is free, so that a closed trace has at most `think + 1 + solution` tokens.
    """

    think: int
    solution: int

    def __post_init__(self) -> None:
        if self.think < 0:
            raise BudgetError(f"a thinking budget of {self.think} tokens is below 0", remedy="use 0 or more")
        if self.solution < 1:
            raise BudgetError(
                f"a solution budget of {self.solution} tokens leaves no room for an answer", remedy="use 1 or more"
            )

    @property
    def total(self) -> int:
        """Counted tokens of both phases; the free delimiter is not among them."""
        return self.think + self.solution

    def __str__(self) -> str:
        return f"{self.think}+{self.solution}"

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read "24+20", "1K+1K" or "0.5K+1K".

        Raises:
            BudgetError: the text is not of this form, or names no whole number of tokens.
        """
        match = _GRAMMAR.fullmatch(text)
        if match is None:
            raise BudgetError(
                f"{text!r} is not a budget",
                remedy='write thinking plus solution tokens, as in "24+20" or "1K+1K" (K is 1024)',
            )
        think, solution = (
            float(number) * (1024 if suffix else 1) for number, suffix in (match.group(1, 2), match.group(3, 4))
        )
        if think != int(think) or solution != int(solution):
            raise BudgetError(f"{text!r} is not a whole number of tokens", remedy="use whole tokens")
        return cls(int(think), int(solution))
