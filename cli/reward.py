"""`elastic reward`: reward and advantage of saved rollouts, so that a reward can be understood before a GPU is spent.

JSONL rows have `group` (the problem), `think_tokens`, `solution_tokens`, `correct` (null where grading failed) and
`closed` (a word of `elastic/trace.py`, or whether thinking was closed). Some rewards need more, which an error names:
`target_tokens`, `ids`, `text`, `question`. A row may say more: `finish`, eos unless it says budget, and `verdict`,
where a wrong answer is told from none.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    create_model,
    model_validator,
)

from elastic.answers.verdict import Verdict
from elastic.contracts.params.common import Count
from elastic.data.files import read_rows
from elastic.errors import DataError, ParamsError
from elastic.rewards.protocol import Reward, Rollout, StatefulReward, load_reward, reward_names
from elastic.trace import Closed, Finish

EPS = 1e-6  # of verl's GRPO, with which most recipes were published

# What a row must hold where a reward needs it.
_NEEDED: dict[str, Any] = {
    "target_tokens": Count,
    "ids": tuple[StrictInt, ...],
    "text": StrictStr,
    "question": StrictStr,
}
_Tokens = Annotated[StrictInt, Field(ge=0)]


def _closed(value: Any) -> Any:
    """A source that knows only whether thinking was closed says true or false."""
    return {True: "natural", False: "never"}[value] if isinstance(value, bool) else value


class RolloutRow(BaseModel):
    """One saved rollout; what else stands in it is kept.

    Attributes:
        group: the problem; rows of a group need not stand together.
        think_tokens, solution_tokens: counted tokens of the phases.
        correct: the verdict; null where grading failed, which earns no reward.
        closed: how thinking ended; true and false where it is known only whether it was closed.
        finish: how the response ended.
        verdict: the verdict in full. Without it, a row that is not correct is wrong if it has a solution and has no
            answer if not.
    """

    model_config = ConfigDict(extra="allow")

    group: StrictStr | StrictInt
    think_tokens: _Tokens
    solution_tokens: _Tokens
    correct: StrictBool | None
    closed: Annotated[Closed, BeforeValidator(_closed)]
    finish: Finish = "eos"
    verdict: Verdict | None = None

    @property
    def graded(self) -> Verdict:
        """The verdict in full."""
        if self.verdict is not None:
            return self.verdict
        if self.correct is None:
            return Verdict.ERROR
        if self.correct:
            return Verdict.CORRECT
        return Verdict.WRONG if self.solution_tokens else Verdict.NO_ANSWER

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        known = {Verdict.CORRECT: True, Verdict.ERROR: None}
        if self.verdict is not None and known.get(self.verdict, False) is not self.correct:
            raise ValueError(f"verdict {self.verdict} contradicts correct {json.dumps(self.correct)}")
        if self.correct and self.closed in ("eos", "never") and not self.solution_tokens:
            raise ValueError("a row without a solution cannot be correct")
        return self


def command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(reward_names())}.")],
    rollouts: Annotated[Path, typer.Option(help="JSONL rows: group, think_tokens, solution_tokens, correct, closed.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyperparameter, as in beta=1e-7; may be repeated.")
    ] = None,
    estimator: Annotated[
        str | None, typer.Option(help="group_std, group_mean, rloo, ...; as published unless set.")
    ] = None,
    eps: Annotated[float | None, typer.Option(help=f"Added to standard deviations; {EPS} unless set.")] = None,
    monitor: Annotated[
        Path | None, typer.Option(help="Rollouts from which a reward with a state (laser_d, ...) estimates it first.")
    ] = None,
) -> None:
    """Print every row of a file of rollouts with its reward and its advantage."""
    try:
        reward = load_reward(name, hyperparameters(set_ or []))
    except ParamsError as error:
        remedy = error.remedy if error.where else "set the keys named above with --set KEY=VALUE"
        raise ParamsError(error.what, where=error.where, remedy=remedy) from None
    rows = read_rollouts(rollouts, reward)
    rewards = score(reward, rows, read_rollouts(monitor, reward) if monitor else None)
    for row, value, advantage in zip(rows, rewards, advantages(reward, rows, rewards, estimator, eps), strict=True):
        line = row.model_dump(mode="json", exclude_unset=True) | {"reward": value, "advantage": advantage}
        print(json.dumps(line, ensure_ascii=False))


def hyperparameters(settings: Iterable[str]) -> dict[str, Any]:
    """KEY=VALUE settings as a block of params; a value is JSON where it can be, else text.

    Raises:
        ParamsError: a setting is not of this form, or stands twice.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or key in values:
            raise ParamsError(
                "stands twice" if equals else "is no KEY=VALUE", where=f"--set {setting}", remedy="as in beta=1e-7"
            )
        try:
            values[key] = json.loads(text)
        except json.JSONDecodeError:
            values[key] = text
    return values


def read_rollouts(file: Path, reward: Reward | StatefulReward[Any]) -> list[RolloutRow]:
    """The rows of a file, with the fields that a reward needs.

    Raises:
        DataError: the file cannot be read or is empty, or rows lack a field or are malformed; names their lines.
    """
    needed: dict[str, Any] = {name: (_NEEDED[name], ...) for name in reward.needs}
    rows = list(read_rows(file, create_model("RolloutRow", __base__=RolloutRow, **needed)))
    if not rows:
        raise DataError("holds no rollouts", where=str(file), remedy="write one JSON object on each line")
    return rows


def by_group(rows: Sequence[RolloutRow]) -> list[list[int]]:
    """Places of the rows of each group, groups and rows in order of appearance."""
    places = defaultdict(list)
    for place, row in enumerate(rows):
        places[row.group].append(place)
    return list(places.values())


def score(
    reward: Reward | StatefulReward[Any], rows: Sequence[RolloutRow], monitored: Sequence[RolloutRow] | None
) -> list[float | None]:
    """One reward a row; the state of a reward that has one is printed to standard error.

    Args:
        reward: the reward.
        rows: the rollouts.
        monitored: rollouts to estimate a state from.

    Raises:
        ParamsError: there are monitored rollouts for a reward without a state.
    """
    if isinstance(reward, StatefulReward):
        state = reward.start()
        if monitored:
            state = reward.update(state, views(reward, monitored))
        print(f"state: {state.to_json()}", file=sys.stderr)
        scored = [reward.rewards(group, state) for group in views(reward, rows)]
    elif monitored:
        raise ParamsError("this reward has no state", where="--monitor", remedy="leave it out")
    else:
        scored = [reward.rewards(group) for group in views(reward, rows)]
    rewards: list[float | None] = [None] * len(rows)
    for places, values in zip(by_group(rows), scored, strict=True):
        for place, value in zip(places, values, strict=True):
            rewards[place] = value
    return rewards


def views(reward: Reward | StatefulReward[Any], rows: Sequence[RolloutRow]) -> list[list[Rollout]]:
    """What the reward sees of each group."""
    return [
        [
            Rollout(
                row.think_tokens,
                row.solution_tokens,
                row.graded,
                row.closed,
                row.finish,
                **{name: getattr(row, name) for name in reward.needs},
            )
            for row in (rows[place] for place in places)
        ]
        for places in by_group(rows)
    ]


def advantages(
    reward: Reward | StatefulReward[Any],
    rows: Sequence[RolloutRow],
    rewards: Sequence[float | None],
    name: str | None,
    eps: float | None,
) -> list[float]:
    """One advantage a row, in double precision. Short groups are filled up with unknown rewards.

    Args:
        reward: names the estimator that it was published with.
        rows: the rollouts.
        rewards: one a row.
        name: another estimator.
        eps: for estimators that divide by a standard deviation.

    Raises:
        ParamsError: there is no such estimator, or it takes no eps.
    """
    import torch

    from elastic.training.advantages import load_estimator, needs_eps

    name = name or reward.estimator
    estimate = load_estimator(name, EPS if eps is None and needs_eps(name) else eps)
    groups = by_group(rows)
    size = max(map(len, groups))
    filled = torch.full((len(groups), size), torch.nan, dtype=torch.float64)
    for group, places in enumerate(groups):
        for column, place in enumerate(places):
            value = rewards[place]
            if value is not None:
                filled[group, column] = value
    estimated = estimate(filled.view(-1), size).view(len(groups), size).tolist()
    result = [0.0] * len(rows)
    for places, values in zip(groups, estimated, strict=True):
        for place, value in zip(places, values, strict=False):
            result[place] = value
    return result
