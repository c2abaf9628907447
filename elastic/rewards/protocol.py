"""What every reward is, what it sees of a rollout, and how one is loaded by name.

A reward lives in the file of its name and its class is named after it: `l1_exact` is `L1ExactReward` in `l1_exact.py`.
Its fields are its hyperparameters, so that a block of params.yaml is validated by the reward itself. A field has a
default only where the paper gives the value and the value has no unit of length; lengths and prices per token belong
to a model and its budget.

A reward is a pure function over the rollouts of one problem. What it must remember between batches is a state of its
own that it is given and gives back. Length is counted thinking plus solution tokens (`elastic/trace.py`): the closing
delimiter, which published code counts, is free here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import ValidationError

from elastic.answers.verdict import Verdict
from elastic.contracts.params.common import Strict, validate
from elastic.errors import DataError, ParamsError
from elastic.trace import Closed, Finish, Trace

_NO_REWARDS = {"__init__", "protocol"}


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a reward sees of one rollout. The last four are there only for rewards that name them in `needs`.

    Attributes:
        think_tokens, solution_tokens: counted tokens of the phases.
        verdict: what grading says; an error earns no reward at all.
        closed: how thinking ended.
        finish: whether the response ended with EOS or because a budget was used up.
        target_tokens: the length that the prompt asked for.
        ids: sampled tokens of both phases, without delimiters.
        text: both phases as text.
        question: as the model was asked.
    """

    think_tokens: int
    solution_tokens: int
    verdict: Verdict
    closed: Closed
    finish: Finish
    target_tokens: int | None = None
    ids: tuple[int, ...] | None = None
    text: str | None = None
    question: str | None = None

    @property
    def tokens(self) -> int:
        """Length of the response."""
        return self.think_tokens + self.solution_tokens

    @property
    def correct(self) -> bool:
        """Whether the answer was graded as correct."""
        return self.verdict is Verdict.CORRECT

    @classmethod
    def of(cls, trace: Trace, verdict: Verdict, **needed: Any) -> Self:
        """The view of a graded trace; `needed` holds the target, text or question where a reward needs them."""
        ids = (*trace.think_ids[trace.opening :], *trace.solution_ids)
        return cls(trace.n_think, trace.n_solution, verdict, trace.closed, trace.finish, ids=ids, **needed)


class _Params(Strict, ABC):
    """What all rewards share.

    Attributes:
        needs: optional fields of a rollout that the reward reads.
        estimator: the advantage estimator that the reward was published with (`elastic/training/advantages.py`).
    """

    needs: ClassVar[tuple[str, ...]] = ()
    estimator: ClassVar[str] = "group_std"

    def _each(self, group: Sequence[Rollout], score: Callable[[Sequence[Rollout]], list[float]]) -> list[float | None]:
        graded = without_errors(group)
        missing = [name for name in self.needs if any(getattr(rollout, name) is None for rollout in graded)]
        if missing:
            raise DataError(
                f"a rollout has no {' and no '.join(missing)}",
                where=type(self).__name__,
                remedy="pass it to Rollout.of, or choose a reward that needs no such field",
            )
        scores = iter(score(graded) if graded else [])
        return [None if rollout.verdict is Verdict.ERROR else next(scores) for rollout in group]


class Reward(_Params):
    """A reward without memory."""

    @abstractmethod
    def _score(self, graded: Sequence[Rollout]) -> list[float]:
        """Rewards of the rollouts of one problem: at least one, and no error among them."""

    def rewards(self, group: Sequence[Rollout]) -> list[float | None]:
        """Rewards of all rollouts of one problem, in order; None for an error, which no other rollout sees.

        Raises:
            DataError: a rollout lacks a field of `needs`.
        """
        return self._each(group, self._score)


class State(Strict):
    """What a reward remembers; saved and resumed with the run."""

    def to_json(self) -> str:
        """The state as one line of JSON."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            DataError: it is no such state.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise DataError(f"is no {cls.__name__}: {error}", remedy="resume from an earlier checkpoint") from None


S = TypeVar("S", bound=State)


class StatefulReward(_Params, Generic[S]):
    """A reward that remembers.

    Attributes:
        state_type: class of the state, to read a saved one with.
        observes: whose rollouts it learns from: the training batch, or a monitor set sampled in whole groups.
    """

    state_type: ClassVar[type[State]]
    observes: ClassVar[Literal["training", "monitor"]] = "training"

    @abstractmethod
    def start(self) -> S:
        """The state before anything was observed."""

    @abstractmethod
    def update(self, state: S, groups: Sequence[Sequence[Rollout]]) -> S:
        """The state after observing the rollouts of several problems; errors among them tell nothing."""

    @abstractmethod
    def _score(self, graded: Sequence[Rollout], state: S) -> list[float]:
        """As `Reward._score`, under a state."""

    def rewards(self, group: Sequence[Rollout], state: S) -> list[float | None]:
        """As `Reward.rewards`, under a state."""
        return self._each(group, lambda graded: self._score(graded, state))


def without_errors(group: Sequence[Rollout]) -> list[Rollout]:
    """The rollouts that were graded."""
    return [rollout for rollout in group if rollout.verdict is not Verdict.ERROR]


def all_equal(rewards: Sequence[float | None]) -> bool:
    """Whether the known rewards of a group are all the same, or none is known: such a group teaches nothing."""
    return len({reward for reward in rewards if reward is not None}) < 2


def reward_names() -> list[str]:
    """Every reward by its name."""
    return sorted({path.stem for path in Path(__file__).parent.glob("*.py")} - _NO_REWARDS)


def load_reward(name: str, params: Mapping[str, Any], *, where: str | None = None) -> Reward | StatefulReward[Any]:
    """The reward called `name`, with hyperparameters as read from a params file.

    Args:
        name: of a file in this folder.
        params: its hyperparameters.
        where: the block of params that they stand in, for the error.

    Raises:
        ParamsError: there is none of this name, or a hyperparameter is unknown, missing or impossible.
    """
    if name not in reward_names():
        raise ParamsError(
            f"no reward is called {name!r}",
            where=f"{where}.name" if where else "reward",
            remedy=f"name one of {', '.join(reward_names())}",
        )
    module = import_module(f"{__package__}.{name}")
    kind = getattr(module, "".join(part.capitalize() for part in name.split("_")) + "Reward")
    reward: Reward | StatefulReward[Any] = validate(kind, params, where=where or name)
    return reward
