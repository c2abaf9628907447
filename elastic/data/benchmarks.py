"""Benchmarks: one YAML file each under data/benchmarks, and the problems that they ask.

A benchmark that does not give the problems it counts on is refused, since its figures would be those of another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, StrictUndefined, TemplateError, meta

from elastic.contracts.benchmark import Benchmark, SourceProblems, View
from elastic.contracts.frames import Problems, read_frame
from elastic.contracts.params.common import read_params, validate
from elastic.contracts.policy import Policy
from elastic.contracts.sources import JoinedSource
from elastic.data.catalogue import CATALOGUE, load_source, read_source
from elastic.data.files import read_problem_file
from elastic.data.normalise import problem_id
from elastic.errors import DataError, ParamsError

BENCHMARKS = Path("data/benchmarks")
# What a benchmark gives of each problem; `prompt` is the user turn.
SCHEMA = {
    "problem_id": pl.String,
    "source_id": pl.String,
    "question": pl.String,
    "prompt": pl.String,
    "answer": pl.String,
    "policy": pl.String,
    "tests": pl.String,
    "level": pl.String,
    "domain": pl.String,
}
_JINJA = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
_VARIABLES = {"question"}


def load_benchmark(name_or_path: str | Path) -> Benchmark:
    """Read and validate a benchmark's file.

    Args:
        name_or_path: name of a file in data/benchmarks, or the path of a YAML file. A file of problems that it names
            becomes a path from the present folder on.

    Raises:
        DataError: there is no such file, or it breaks its contract; names file and keys.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = BENCHMARKS / f"{name_or_path}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in BENCHMARKS.glob("*.yaml")))
        raise DataError(
            f"there is no benchmark {str(name_or_path)!r}",
            where=str(path),
            remedy=f"write that file, or use one of {known}" if known else "name the path of its YAML file",
        )
    try:
        benchmark = validate(Benchmark, read_params(path), where="")
    except ParamsError as error:
        raise DataError(error.what, where=str(path), remedy=f"edit {path} at the keys named above") from None
    if benchmark.name != path.stem:
        raise DataError(f"its name is {benchmark.name!r}", where=str(path), remedy="name the file as the benchmark")
    _template(benchmark, str(path))
    if isinstance(benchmark.problems, SourceProblems):
        return benchmark
    file = os.path.normpath(path.parent / benchmark.problems.file)
    return benchmark.model_copy(update={"problems": benchmark.problems.model_copy(update={"file": file})})


def _template(benchmark: Benchmark, where: str) -> Callable[..., str]:
    """The prompt template, which must use the question and nothing else."""
    try:
        used = meta.find_undeclared_variables(_JINJA.parse(benchmark.prompt.template))
        template = _JINJA.from_string(benchmark.prompt.template)
    except TemplateError as error:
        raise DataError(
            f"prompt.template is no jinja: {error}", where=where, remedy="mend it; {{ question }} is the problem"
        ) from None
    if used != _VARIABLES:
        unknown = ", ".join(sorted(used - _VARIABLES))
        raise DataError(
            f"prompt.template uses {unknown}, which nothing fills" if unknown else "prompt.template asks no question",
            where=where,
            remedy="write {{ question }} where the problem goes, and no other variable",
        )
    return template.render


def forbids_plain_text(benchmark: Benchmark, catalogue: Path = CATALOGUE) -> bool:
    """Whether the licence of the problems keeps their text out of everything that an evaluation writes."""
    if not isinstance(benchmark.problems, SourceProblems):
        return False
    source = load_source(benchmark.problems.source, catalogue)
    names = source.parts if isinstance(source, JoinedSource) else (source.name,)
    parts = [load_source(name, catalogue) for name in names]
    return any("plain text" in part.licence.forbids for part in parts if not isinstance(part, JoinedSource))


def _rows(benchmark: Benchmark, catalogue: Path) -> list[dict[str, Any]]:
    problems = benchmark.problems
    if isinstance(problems, SourceProblems):
        return list(read_source(problems.source, catalogue))
    path = Path(problems.file)
    if path.suffix == ".parquet":
        return read_frame(Problems, path).to_dicts()
    return [
        {"question": row.question, "answer": row.answer, "domain": "math", "source_id": str(number)}
        for number, row in enumerate(read_problem_file(path))
    ]


def _kept(rows: list[dict[str, Any]], view: View | None) -> list[dict[str, Any]]:
    return rows if view is None else [row for row in rows if row.get(view.column) in view.one_of]


def _once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every problem once: equal ones share their random streams, so that a copy would be the same traces again.

    Programs of a problem that stands twice are judged by the tests of its first row.
    """
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        first.setdefault((problem_id(row["question"]), row["answer"]), row)
    return list(first.values())


def benchmark_problems(benchmark: Benchmark, *, catalogue: Path = CATALOGUE) -> pl.DataFrame:
    """The problems of a benchmark, in the order of its source.

    Args:
        benchmark: from `load_benchmark`.
        catalogue: folder of the sources' files. Rows come from the folder that ELASTIC_DATA_MIRROR names, where it is
            set, and else from where the source pins them.

    Returns:
        Columns of SCHEMA, a problem that the source repeats once. `problem_id` is made from the question, as
        everywhere; `policy` is the JSON of a Policy, null for the default one; `tests` the JSON of CodeTests, null
        where an answer judges.

    Raises:
        DataError: the source or file cannot be read, does not give as many problems as the benchmark counts, or
            answers one question in two ways.
    """
    where = f"benchmark {benchmark.label}"
    rows = _once(_kept(_rows(benchmark, catalogue), benchmark.problems.view))
    if benchmark.problems.count not in (None, len(rows)):
        raise DataError(
            f"has {len(rows)} problems, not {benchmark.problems.count}",
            where=where,
            remedy="look at its source and view; a benchmark of other problems is another version",
        )
    render = _template(benchmark, where)
    policy = benchmark.grading.policy.model_dump(exclude_unset=True)
    problems = [
        row
        | {
            "problem_id": problem_id(row["question"]),
            "prompt": render(question=row["question"]),
            "policy": Policy.model_validate(
                Policy.from_text(row.get("policy")).model_dump(exclude_unset=True) | policy
            ).to_text(),
        }
        for row in rows
    ]
    frame = pl.DataFrame([{key: row.get(key) for key in SCHEMA} for row in problems], schema=SCHEMA)
    if frame.is_empty():
        raise DataError("asks nothing", where=where, remedy="look at its source and view")
    twice = frame.filter(pl.col("problem_id").is_duplicated())
    if len(twice):
        raise DataError(
            f"asks one question with two answers: {', '.join(twice['source_id'])}",
            where=where,
            remedy="leave one out by a view, or by the source's filter",
        )
    return frame
