"""Trace: one sampled response as token ids, how each of its phases ended, and every counting rule.

The counting rule. t bounds the tokens between the delimiters; the closing delimiter is free; s bounds what follows
and includes EOS. Thinking is *forced* if and only if t tokens were sampled without the delimiter and without EOS. An
EOS sampled inside thinking counts as a thinking token and ends the trace without a solution. Unused thinking never
flows into the solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elastic.budget import Budget
from elastic.errors import BudgetError

Closed = Literal["natural", "forced", "eos", "never"]
Finish = Literal["eos", "budget"]


@dataclass(frozen=True, slots=True)
class Trace:
    """One response to one prompt.

    Attributes:
        prompt_ids: the rendered prompt, as fed to the model.
        think_ids: ids before the closing delimiter, without it; with the EOS that ended them, if one did.
        solution_ids: ids after the closing delimiter, with the final EOS if it was sampled.
        closed: how thinking ended: the model wrote the delimiter (natural), it was inserted (forced), the model
            wrote EOS instead (eos), or the trace ran out of tokens while thinking (never).
        finish: whether the trace ended with EOS or because a budget was used up.
        opening: how many of `think_ids` are the opening delimiter (1 when the model opens its thinking itself).
        cue_ids: ids put in between the closing delimiter and the solution; they are free, like the delimiter.
        inserted: how many of `think_ids` a strategy put in ("Wait" of budget forcing); they count as thinking.
    """

    prompt_ids: tuple[int, ...]
    think_ids: tuple[int, ...]
    solution_ids: tuple[int, ...]
    closed: Closed
    finish: Finish
    opening: int = 0
    cue_ids: tuple[int, ...] = ()
    inserted: int = 0

    @property
    def n_think(self) -> int:
        """Counted thinking tokens: delimiters are free, an EOS inside thinking is not."""
        return len(self.think_ids) - self.opening

    @property
    def n_solution(self) -> int:
        """Counted solution tokens, EOS included."""
        return len(self.solution_ids)

    @property
    def n_forced(self) -> int:
        """Inserted tokens: the delimiter that the model did not write, cues, and what was put into the thinking."""
        delimiter = self.closed == "forced" or (self.closed == "eos" and bool(self.solution_ids))
        return int(delimiter) + len(self.cue_ids) + self.inserted

    @property
    def n_sampled(self) -> int:
        """Tokens drawn from the model: both phases and the delimiters that it wrote itself."""
        return len(self.think_ids) - self.inserted + len(self.solution_ids) + int(self.closed == "natural")

    @property
    def has_delimiter(self) -> bool:
        """Whether a closing delimiter stands between thinking and solution."""
        return self.closed in ("natural", "forced") or bool(self.solution_ids)

    @property
    def truncated_solution(self) -> bool:
        """Whether the solution was cut by its budget."""
        return self.finish == "budget" and self.has_delimiter

    def completion_ids(self, close_id: int) -> list[int]:
        """The ids after the prompt, in order, with the delimiter put back."""
        delimiter = [close_id] if self.has_delimiter else []
        return [*self.think_ids, *delimiter, *self.cue_ids, *self.solution_ids]

    def check(self, budget: Budget) -> None:
        """Raise BudgetError if either phase is longer than its budget: a fault of the engine, never a data point."""
        if self.n_think > budget.think or self.n_solution > budget.solution:
            raise BudgetError(
                f"a trace has {self.n_think} thinking and {self.n_solution} solution tokens under a budget of {budget}",
                remedy="the engine ignored the budget: report this with its name and version",
            )


def split_completion(
    prompt_ids: tuple[int, ...], ids: list[int], *, open_id: int, close_id: int, eos_ids: frozenset[int]
) -> Trace:
    """Split a plain completion, sampled without any forcing, at its first closing delimiter.

    Args:
        prompt_ids: the rendered prompt, shape (P,).
        ids: the completion, shape (C,), EOS included if it was sampled.
        open_id: the opening delimiter, free when the completion starts with it.
        close_id: the closing delimiter.
        eos_ids: ids that end a response.
    """
    opening = int(bool(ids) and ids[0] == open_id)
    finish: Finish = "eos" if ids and ids[-1] in eos_ids else "budget"
    if close_id in ids:
        cut = ids.index(close_id)
        return Trace(prompt_ids, tuple(ids[:cut]), tuple(ids[cut + 1 :]), "natural", finish, opening)
    return Trace(prompt_ids, tuple(ids), (), "eos" if finish == "eos" else "never", finish, opening)
