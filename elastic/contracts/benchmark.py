"""A benchmark: what one YAML file under data/benchmarks says, so that a figure means the same to everybody.

Problems, prompt, sampling, samples, budgets and grading are named together: a figure is comparable with another only
where all of them are equal. Whoever changes one raises `version`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from elastic.contracts.params.common import BudgetText, Count, Natural, Strict, Temperature
from elastic.contracts.params.grading import GraderName
from elastic.contracts.policy import Policy
from elastic.contracts.sources import SourceName

BenchmarkName = Annotated[str, Field(pattern=r"^\w+$")]
Filled = Annotated[str, Field(min_length=1)]


class View(Strict):
    """The problems to keep, by one column.

    Attributes:
        column: what decides.
        one_of: values to keep, as text.
    """

    column: Literal["level", "source_id", "domain"]
    one_of: Annotated[tuple[str, ...], Field(min_length=1)]


class SourceProblems(Strict):
    """Problems of a source of the catalogue, or a view of them.

    Attributes:
        source: name of its file in data/sources.
        view: which problems to keep; all by default.
        count: how many different ones there are then.
    """

    source: SourceName
    view: View | None = None
    count: Count


class FileProblems(Strict):
    """Problems of a file, or a view of them.

    Attributes:
        file: a parquet file of Problems (elastic/contracts/frames.py) or a JSONL file with `question` and `answer`,
            from the benchmark's own folder on.
        view: which problems to keep; all by default.
        count: how many there are then; null for a file that changes.
    """

    file: Annotated[str, Field(pattern=r"\.(parquet|jsonl)$")]
    view: View | None = None
    count: Count | None = None


def _kind(value: Any) -> str | None:
    keys = value if isinstance(value, Mapping) else vars(value)
    return next((kind for kind in ("source", "file") if kind in keys), None)


BenchmarkProblems = Annotated[
    Annotated[SourceProblems, Tag("source")] | Annotated[FileProblems, Tag("file")],
    Discriminator(
        _kind, custom_error_type="problems", custom_error_message="name neither a `source` of data/sources nor a `file`"
    ),
]


class BenchmarkPrompt(Strict):
    """How a problem is asked, before the model's chat template.

    Attributes:
        template: the user turn, in jinja; `{{ question }}` is the problem.
        system: the system turn, where there is one.
    """

    template: Filled
    system: Filled | None = None


class Delimiters(Strict):
    """How a model writes the bounds of its thinking, where they are not `<think>` and `</think>`."""

    open: Filled
    close: Filled


class BenchmarkSampling(Strict):
    """How tokens are drawn. Temperature 0 is greedy; `top_p` 1 and `top_k` 0 mean full support."""

    temperature: Temperature
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Natural = 0


class BenchmarkGrading(Strict):
    """How answers are judged.

    Attributes:
        grader: file of elastic/answers.
        policy: keys that are set here replace those that the problems' source sets.
    """

    grader: GraderName
    policy: Policy = Policy()


class Benchmark(Strict):
    """One benchmark.

    Attributes:
        name: as the file is named.
        version: raised with every change that could move a figure.
        description: one line.
        protocol: whose protocol it is, and where it departs from it.
        problems: what is asked.
        prompt: how it is asked.
        delimiters: of thinking, where they are special.
        sampling: how tokens are drawn.
        samples: traces a problem.
        budgets: (t, s) that are measured unless others are asked for.
        limit: counted tokens of the unconstrained mode; null where none is measured.
        grading: how answers are judged.
        references: names of files in data/reference with published figures on it.
        notes: what a reader should know of it, most of all what it must not be compared with.
    """

    name: BenchmarkName
    version: Count
    description: Filled
    protocol: Filled
    problems: BenchmarkProblems
    prompt: BenchmarkPrompt
    delimiters: Delimiters | None = None
    sampling: BenchmarkSampling
    samples: Count
    budgets: Annotated[tuple[BudgetText, ...], Field(min_length=1)]
    limit: Count | None
    grading: BenchmarkGrading
    references: tuple[BenchmarkName, ...] = ()
    notes: tuple[Filled, ...] = ()

    @property
    def label(self) -> str:
        """Name and version, as every result that is made with it says."""
        return f"{self.name} v{self.version}"

    @model_validator(mode="after")
    def _differ(self) -> Benchmark:
        if len(set(self.budgets)) < len(self.budgets):
            raise ValueError("budgets name one budget twice")
        return self
