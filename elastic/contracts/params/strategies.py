r"""Decoding strategies by name, with the settings of each, and the line of text that says both.

`fractured:depths=16,draws=4` is a strategy and what differs from its defaults; the same line names the run in every
frame and file. A value is written as it is, or as JSON where it holds a comma, a quote or a line break, or is a list:
`s1_r1:cue="\n\n**Final Answer:**\n\n"`, `l1_exact:targets=[512,1024]`. Defaults are the published values (the modules
of elastic/decoding name their sources).

What all strategies of an evaluation share stands in `Grid` and in how traces are drawn, never in a strategy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from elastic.contracts.params.common import BudgetText, Count, Natural, Strict
from elastic.errors import ElasticError, ParamsError

Filled = Annotated[str, Field(min_length=1)]
Suffix = Annotated[str, Field(pattern=r"\{tokens\}")]
Targets = Annotated[tuple[Count, ...], Field(min_length=1)]


class Grid(Strict):
    """What every strategy of an evaluation is measured at.

    Attributes:
        budgets: (t, s), each named once.
        limit: counted tokens of the unconstrained mode, and of the thinking of strategies that choose their own length;
            None where neither is measured.
    """

    budgets: Annotated[tuple[BudgetText, ...], Field(min_length=1)]
    limit: Count | None = None

    @model_validator(mode="after")
    def _differ(self) -> Grid:
        if len(set(self.budgets)) < len(self.budgets):
            raise ValueError("budgets name one budget twice")
        return self

    @property
    def think(self) -> int:
        """The largest thinking budget."""
        return max(budget.think for budget in self.budgets)

    @property
    def solution(self) -> int:
        """The largest solution budget."""
        return max(budget.solution for budget in self.budgets)

    def limit_for(self, strategy: str) -> int:
        """The limit, for a strategy that cannot do without.

        Raises:
            ParamsError: there is none.
        """
        if self.limit is None:
            raise ParamsError(
                f"the strategy {strategy} thinks up to the limit, and none is set", where="limit", remedy="name a limit"
            )
        return self.limit


class _Settings(Strict):
    """What the strategies share: the text that names them."""

    @property
    def run(self) -> str:
        """The canonical text: settings that are not defaults, in their order."""
        (_, name), *settings = self
        fields = type(self).model_fields
        changed = [f"{key}={_written(value)}" for key, value in settings if value != fields[key].default]
        return f"{name}:{','.join(changed)}" if changed else name


class Nested(_Settings):
    """Separate budgeting, plain truncation and the unconstrained mode from one thinking (decoding/nested.py)."""

    name: Literal["nested"] = "nested"


class Independent(_Settings):
    """The same, each trace from its start and from a stream of its own (decoding/{separate,truncate}.py)."""

    name: Literal["independent"] = "independent"


class S1Original(_Settings):
    """Budget forcing as S1 published it (decoding/s1.py).

    Attributes:
        cue: what follows a delimiter that the budget forced.
        wait: what takes the place of a natural end of thinking.
        waits: how often it does.
    """

    name: Literal["s1_original"] = "s1_original"
    cue: Filled = "\nFinal Answer:"
    wait: Filled = "Wait"
    waits: Natural = 0


class S1R1(_Settings):
    """Budget forcing as ported to R1 models (decoding/s1.py).

    Attributes:
        cue: what follows a delimiter that the budget forced.
    """

    name: Literal["s1_r1"] = "s1_r1"
    cue: Filled = "\n\n**Final Answer:**\n\n"


class S1Exact(_Settings):
    """Budget forcing as L1 compares itself with it: the whole budget is used (decoding/s1.py).

    Attributes:
        cue: what follows the delimiter.
        wait: what takes the place of a natural end of thinking.
        waits: how often it does at most.
        solution: tokens of the greedy answer; it takes the place of the grid's solution budgets.
    """

    name: Literal["s1_exact"] = "s1_exact"
    cue: Filled = "\n<|User|>The final Answer is:"
    wait: Filled = "Wait"
    waits: Natural = 100
    solution: Count = 20


class L1Exact(_Settings):
    """The prompt asks for a length, for models trained to keep to it (decoding/l1.py).

    Attributes:
        suffix: what the question is followed by; `{tokens}` is replaced by the length.
        targets: lengths of the whole response that are asked for; the totals of the grid's budgets by default.
        times: decoding ends at this many times the length asked for.
    """

    name: Literal["l1_exact"] = "l1_exact"
    suffix: Suffix = " Think for {tokens} tokens."
    targets: Targets | None = None
    times: Count = 2


class L1Max(_Settings):
    """The prompt asks for a length at most, for models trained to keep to it (decoding/l1.py).

    Attributes:
        suffix: what the question is followed by; `{tokens}` is replaced by the length.
        targets: lengths of the whole response that are asked for; the totals of the grid's budgets by default.
    """

    name: Literal["l1_max"] = "l1_max"
    suffix: Suffix = " Think for maximum {tokens} tokens."
    targets: Targets | None = None


class Fractured(_Settings):
    """Answers from several depths of every thinking path (decoding/fractured.py); the plan's samples are the paths.

    Attributes:
        depths: H, at equal token intervals.
        draws: m, solutions a depth.
        last: only this many of the deepest are solved; all by default.
        rounding: where depth i of a thinking of L tokens lies: at floor(i L / H) (floor, the public code) or at
            i max(1, floor(L / H)) (segment, the paper's Algorithm 1).
    """

    name: Literal["fractured"] = "fractured"
    depths: Count = 16
    draws: Count = 4
    last: Count | None = None
    rounding: Literal["floor", "segment"] = "floor"

    @model_validator(mode="after")
    def _within(self) -> Fractured:
        if self.last is not None and self.last > self.depths:
            raise ValueError(f"last {self.last} is over depths {self.depths}")
        return self


class EarlyStop(_Settings):
    """Thinking stops once its probes agree (decoding/early_stop.py).

    Attributes:
        first: thinking tokens before the first probe.
        every: thinking tokens between probes.
        repeats: how often a prediction is seen before it is taken.
    """

    name: Literal["early_stop"] = "early_stop"
    first: Count = 6144
    every: Count = 2048
    repeats: Annotated[int, Field(ge=2)] = 2


class Swap(_Settings):
    """One model thinks, another solves (decoding/swap.py).

    Attributes:
        solver: the model that solves, by name.
    """

    name: Literal["swap"] = "swap"
    solver: Filled


class Assigned(_Settings):
    """Every problem has a budget of its own (decoding/assigned.py).

    Attributes:
        budgets: the assignment, by name.
    """

    name: Literal["assigned"] = "assigned"
    budgets: Filled


Strategy = (
    Nested | Independent | S1Original | S1R1 | S1Exact | L1Exact | L1Max | Fractured | EarlyStop | Swap | Assigned
)
_BY_NAME: dict[str, type[Strategy]] = {
    get_args(model.model_fields["name"].annotation)[0]: model for model in get_args(Strategy)
}


def parse_strategy(text: str) -> Strategy:
    """Read "nested" or "fractured:depths=16,draws=4".

    Raises:
        ParamsError: naming the unknown strategy or setting and those that are known, or the value at fault.
    """
    name, _, rest = text.strip().partition(":")
    where = f"strategy {text.strip()!r}"
    if name not in _BY_NAME:
        raise ParamsError(f"there is no strategy {name!r}", where=where, remedy=f"use one of {', '.join(_BY_NAME)}")
    known = [key for key in _BY_NAME[name].model_fields if key != "name"]
    values: dict[str, Any] = {}
    for key, value in _settings(rest, where):
        if key not in known:
            remedy = f"use one of {', '.join(known)}" if known else "name it alone"
            raise ParamsError(f"{name} has no setting {key!r}", where=where, remedy=remedy)
        if key in values:
            raise ParamsError(f"{key} is set twice", where=where, remedy="set it once")
        values[key] = value
    try:
        return _BY_NAME[name].model_validate(values)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or name}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        ]
        raise ParamsError("; ".join(faults), where=where, remedy="change the settings named") from None


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_strategy(value)
    except ElasticError as error:
        raise ValueError(str(error)) from None


StrategyText = Annotated[Strategy, Field(discriminator="name"), BeforeValidator(_read)]


def _settings(text: str, where: str) -> Iterator[tuple[str, Any]]:
    """Keys and values of `key=value,key=value`; a value that starts as JSON text or a JSON list is read as that."""
    while text:
        key, equals, text = text.partition("=")
        if not equals:
            raise ParamsError(f"{key!r} sets nothing", where=where, remedy="write settings as key=value,key=value")
        if text[:1] in ('"', "["):
            try:
                value, end = json.JSONDecoder().raw_decode(text)
            except json.JSONDecodeError as error:
                raise ParamsError(
                    f"{key} is not valid JSON: {error}", where=where, remedy="close the quote or bracket"
                ) from None
            comma, text = text[end : end + 1], text[end + 1 :]
            if comma not in ("", ","):
                raise ParamsError(
                    f"{comma + text!r} follows the value of {key}", where=where, remedy="put a comma there"
                )
        else:
            value, _, text = text.partition(",")
        yield key.strip(), value


def _written(value: Any) -> str:
    """A setting so that `_settings` reads it back."""
    if isinstance(value, tuple):
        return json.dumps(value, separators=(",", ":"))
    text = str(value)
    plain = text.strip() == text and text[:1] not in ('"', "[", "") and "," not in text and text.isprintable()
    return text if plain else json.dumps(text, ensure_ascii=False)
