"""What every engine does: turn jobs into traces inside their budgets, on token ids, seeded by job.

A job is one response wanted for one prompt. Four kinds cover every decoding strategy: `separate` (both phases, each
under its budget), `think_only`, `solve` (a solution from thinking that is given) and `plain` (no forcing; one limit on
both phases together).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from elastic.budget import Budget
from elastic.errors import BudgetError
from elastic.markers import Markers
from elastic.trace import Closed, Trace

EngineName = Literal["transformers", "vllm"]
Kind = Literal["separate", "think_only", "solve", "plain"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn. Temperature 0 is greedy; `top_k` 0 and `top_p` 1 mean full support."""

    temperature: float = 0.6
    top_p: float = 1.0
    top_k: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One response wanted.

    Attributes:
        kind: see the module.
        prompt_ids: rendered prompt, shape (P,).
        seed: the job's random stream. Thinking and solution draw from streams of their own, token k of a phase from
            draw k, so that a prefix of a trace is the trace at a smaller budget.
        think: limit of thinking tokens (kinds separate and think_only).
        solution: limit of solution tokens (kinds separate and solve).
        total: limit of both together (kind plain).
        thinking: thinking that is given (kinds solve and think_only), shape (T,). A think_only job goes on from it: its
            next token is token T of the phase, so that going on equals never having stopped.
        closed: how the given thinking ended (kind solve).
        opening: whether the given thinking starts with an opening delimiter.
        cue: ids put in between the closing delimiter and the solution (kind solve), free, shape (C,).
        after_eos: go on to a solution when EOS is sampled inside thinking, as the published E1 code does.
    """

    kind: Kind
    prompt_ids: tuple[int, ...]
    seed: int
    think: int = 0
    solution: int = 0
    total: int = 0
    thinking: tuple[int, ...] = ()
    closed: Closed = "forced"
    opening: int = 0
    after_eos: bool = False
    cue: tuple[int, ...] = ()

    @classmethod
    def separate(cls, prompt_ids: tuple[int, ...], budget: Budget, seed: int, *, after_eos: bool = False) -> Job:
        """Both phases, each under its own budget (E1, section 3)."""
        return cls("separate", prompt_ids, seed, think=budget.think, solution=budget.solution, after_eos=after_eos)

    @classmethod
    def think_only(cls, prompt_ids: tuple[int, ...], limit: int, seed: int) -> Job:
        """Thinking alone, up to `limit` tokens."""
        return cls("think_only", prompt_ids, seed, think=limit)

    @classmethod
    def think_on(
        cls, prompt_ids: tuple[int, ...], thinking: tuple[int, ...], limit: int, seed: int, *, opening: int = 0
    ) -> Job:
        """Thinking that goes on from what is given, up to `limit` counted tokens in all."""
        return cls("think_only", prompt_ids, seed, think=limit, thinking=thinking, opening=opening)

    @classmethod
    def solve(
        cls,
        prompt_ids: tuple[int, ...],
        thinking: tuple[int, ...],
        solution: int,
        seed: int,
        *,
        closed: Closed,
        opening: int = 0,
        cue: tuple[int, ...] = (),
    ) -> Job:
        """A solution of up to `solution` tokens from the thinking given, and from the cue where there is one."""
        return cls(
            "solve",
            prompt_ids,
            seed,
            solution=solution,
            thinking=thinking,
            closed=closed,
            opening=opening,
            cue=cue,
        )

    @classmethod
    def plain(cls, prompt_ids: tuple[int, ...], total: int, seed: int) -> Job:
        """Decoding without forcing until EOS or until both phases together have `total` tokens."""
        return cls("plain", prompt_ids, seed, total=total)

    @property
    def finished(self) -> Trace | None:
        """The trace of a job whose given thinking has reached its limit, so that nothing is left to draw."""
        if self.goes_on and self.given_think == self.think:
            return Trace(self.prompt_ids, self.thinking, (), "never", "budget", self.opening)
        return None

    @property
    def given(self) -> int:
        """Ids that are there before any is sampled."""
        return len(self.prompt_ids) + len(self.thinking)

    @property
    def goes_on(self) -> bool:
        """Whether thinking that is given goes on."""
        return self.kind == "think_only" and bool(self.thinking)

    @property
    def from_given(self) -> bool:
        """Whether the job starts from thinking that is given."""
        return self.kind == "solve" or self.goes_on

    @property
    def given_think(self) -> int:
        """Counted tokens of the given thinking."""
        return len(self.thinking) - self.opening

    @property
    def wanted(self) -> int:
        """The most ids that may follow the given ones, delimiters included."""
        return {
            "separate": self.think + 2 + self.solution,
            "think_only": self.think - self.given_think + 2,
            "solve": 1 + len(self.cue) + self.solution,
            "plain": self.total + 2,
        }[self.kind]

    def drawn(self, trace: Trace) -> int:
        """Tokens drawn from the model for this job's trace: thinking that was given is not among them."""
        return trace.n_solution if self.kind == "solve" else trace.n_sampled - len(self.thinking)

    def check(self, context: int | None) -> None:
        """Refuse a job that the model's context cannot hold, before any work.

        Raises:
            BudgetError: naming the lengths.
        """
        if self.kind in ("separate", "solve") and self.solution < 1:
            raise BudgetError("a job leaves no room for a solution", remedy="use a solution budget of 1 or more")
        if self.kind in ("think_only", "plain") and max(self.think, self.total) < 1:
            raise BudgetError("a job wants no tokens", remedy="use a limit of 1 or more")
        if self.kind == "think_only" and self.given_think > self.think:
            raise BudgetError(
                f"{self.given_think} thinking tokens are given under a limit of {self.think}",
                remedy="cut the given thinking to the limit, or raise it",
            )
        needed = self.given + self.wanted - 1  # the last token is never fed back
        if context is not None and needed > context:
            raise BudgetError(
                f"{self.given} given tokens and up to {self.wanted} after them need {needed}, "
                f"the model's context holds {context}",
                remedy="lower the budgets or the limit, or use a model with a longer context",
            )


@dataclass(frozen=True, slots=True)
class Spent:
    """What one job cost.

    Attributes:
        sampled: tokens drawn from the model.
        prefilled: given tokens that the model read; where jobs share a prefix, one of them pays for it.
        seconds: from the start of the batch that the job was decoded in until its trace was finished.
    """

    sampled: int
    prefilled: int
    seconds: float


@dataclass(frozen=True)
class Drawn:
    """A trace, the log-probabilities of the tokens that the model drew for it, and what it cost.

    Attributes:
        trace: the response.
        logprobs: of each token in the distribution that it was drawn from (temperature 0: the plain softmax), natural
            logarithm, in order, one a token that was drawn: shape (n_sampled,), less the thinking that was given. An
            inserted delimiter was not drawn and has none.
        spent: what the job cost.
    """

    trace: Trace
    logprobs: tuple[float, ...]
    spent: Spent


class Engine(Protocol):
    """Turns jobs into traces."""

    markers: Markers

    @property
    def context(self) -> int | None:
        """The longest sequence the model can hold, or None when that is not known."""
        ...

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        """One trace a job, in the order of the jobs, with log-probabilities and costs.

        Args:
            jobs: responses wanted; budgets and kinds may differ from job to job.
            sampling: how tokens are drawn.
            progress: called now and then with the jobs finished and the tokens sampled since the last call.

        Raises:
            BudgetError: a job cannot fit the model's context, or a budget was broken.
            DataError: the model's logits are not numbers.
        """
        ...

    def generate(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Trace]:
        """The traces of `draw`."""
        return [drawn.trace for drawn in self.draw(jobs, sampling, progress=progress)]
