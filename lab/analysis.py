"""What the lab found, as it passes from analyse to report: sections of sentences, tables and figures in plain values.

Every figure is here as numbers, so that the page draws and measures nothing, and a reader of analysis.json has
all that the page shows.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

Unit = Literal[
    "text", "label", "share", "points", "tokens", "tokens change", "number", "change", "count", "seconds", "money"
]
Line = Literal["marked", "plain", "points", "steps"]


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measured(_Plain):
    """A value with its interval; `holds` of a difference: whether it holds after the correction, None if not tested."""

    value: float
    low: float | None = None
    high: float | None = None
    holds: bool | None = None


Entry = Measured | float | int | str | None


class Column(_Plain):
    """A column of a table; shares are 0 to 1, points differences of them, and a text column may be long."""

    name: str
    unit: Unit


class Table(_Plain):
    """A table; each row has an entry a column. `folded` ones open on demand."""

    title: str
    detail: str = ""
    columns: list[Column]
    rows: list[list[Entry]]
    folded: bool = False

    @model_validator(mode="after")
    def _full(self) -> Table:
        if wrong := [row for row in self.rows if len(row) != len(self.columns)]:
            raise ValueError(f"a row of {len(wrong[0])} entries in a table of {len(self.columns)} columns")
        return self


class Series(_Plain):
    """Points of one curve.

    Attributes:
        colour: what its colour stands for, a model as a rule.
        style: what its line and mark stand for; empty where colours say everything.
        x, y: the points, in order.
        low, high: of the intervals of y, where there are any.
        line: joined points with marks or without, points alone, or the steps of a histogram.
    """

    colour: str
    style: str = ""
    line: Line = "marked"
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None


class Panel(_Plain):
    """One pair of axes of a figure."""

    title: str = ""
    series: list[Series]


class Plot(_Plain):
    """A figure.

    Attributes:
        name: unique on the page.
        title, caption: below the figure; the title is its statement.
        x_label, y_label: with what is counted.
        x_scale: `log` where the law is logarithmic, `names` for categories, whose names are `x_names`.
        y_unit: how the y axis reads: shares from 0 to 100 %, percent of what there is, points of a difference, numbers.
        panels: share their axes.
        zero: whether a line marks zero.
    """

    name: str
    title: str
    caption: str
    x_label: str
    y_label: str
    x_scale: Literal["linear", "log", "names"] = "linear"
    x_names: list[str] = []
    y_unit: Literal["share", "percent", "points", "number"] = "share"
    panels: list[Panel]
    zero: bool = False


class Section(_Plain):
    """One question and its answer.

    Attributes:
        key: its address on the page.
        question: the heading.
        finding: the answer in one sentence, from the data.
        notes: what a reader must know of how it was measured.
        plots, tables: what it rests on.
    """

    key: str
    question: str
    finding: str
    notes: list[str] = []
    plots: list[Plot] = []
    tables: list[Table] = []


class Analysis(_Plain):
    """Everything that the page shows.

    Attributes:
        headline: what a reader should know who reads nothing else.
        models: the base first.
        problems, samples: of the test split.
        main: the budget of the comparisons.
        limit: tokens of a response without budgets.
        confidence: of the intervals.
        sections: in the order of the page.
    """

    headline: str
    models: list[str]
    problems: int
    samples: int
    main: str
    limit: int
    confidence: float
    sections: list[Section]
