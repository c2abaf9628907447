"""Records: what made an output, what it cost, what came out; and the small JSON files that pass between stages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from elastic.errors import DataError


class Record(BaseModel):
    """The record of one stage run, written to records/<stage>.json beside the outputs it describes.

    It holds seconds and the place where a run resumed, so it differs from run to run and is no input of any stage:
    identity stays with the outputs.

    Attributes:
        stage: as in dvc.yaml, `train@r1`.
        fingerprint: of params, inputs and code; names the scratch folder.
        params: the validated params.
        inputs, outputs: sha256 by path (of a folder: over its files).
        versions: of Python, the project and the packages that matter.
        seconds: wall time of this run, start-up of the process included.
        sampled_tokens: tokens drawn from a model (by an earlier, interrupted run too).
        resumed_from: what was already done when this run started: steps or chunks; 0 for a fresh run.
        facts: what came out, in figures.
    """

    model_config = ConfigDict(extra="forbid")

    stage: str
    fingerprint: str
    params: dict[str, Any]
    inputs: dict[str, str]
    outputs: dict[str, str]
    versions: dict[str, str]
    seconds: float
    sampled_tokens: int = 0
    resumed_from: int = 0
    facts: dict[str, Any] = {}


class Overlap(BaseModel):
    """A taught row and the row of an evaluation set that it meets.

    Attributes:
        split, source, question: of the taught row.
        met_split, met_problem_id, met_source, met_question: of the evaluated one.
        measure: what was compared (elastic/data/overlap.py).
        share: what it measured, 0 to 1; 1 for equal texts.
    """

    model_config = ConfigDict(extra="forbid")

    split: str
    source: str
    question: str
    met_split: str
    met_problem_id: str
    met_source: str
    met_question: str = ""
    measure: str = "same text"
    share: float = 1.0


class Contamination(BaseModel):
    """What comparing taught rows with the evaluation sets found.

    Attributes:
        checked: rows of teaching and training that were compared, as written.
        against: rows of validation and test.
        overlaps: what stands in both; curate writes nothing unless there is none.
        removed: rows that were rejected for what they met, each with all that it met.
    """

    model_config = ConfigDict(extra="forbid")

    checked: int
    against: int
    overlaps: list[Overlap]
    removed: list[Overlap]


class Departure(BaseModel):
    """Rows of a source that validate here and therefore do not train, unlike in the papers.

    Attributes:
        source: that was given for training.
        validates: source whose rows stand in the validation split; the same one where that was drawn from it.
        rows: of `source` that do not train for it.
    """

    model_config = ConfigDict(extra="forbid")

    source: str
    validates: str
    rows: int


class Curation(BaseModel):
    """What curate did, in counts.

    Attributes:
        grader: name and version of the grader that checked the golds, by domain.
        collected: rows by source.
        rows: kept rows by source and split.
        rejected: rejected rows by reason.
        rejected_by_source: the same by source and reason.
        unfit: kept rows of benchmarks that a rule of fitness would reject, by rule and source.
        unchecked: kept code rows without a reference program to check the tests by, by source.
        contamination: taught rows against the evaluation sets.
        departures: what was taken out of training because it validates.
    """

    model_config = ConfigDict(extra="forbid")

    grader: dict[str, str]
    collected: dict[str, int]
    rows: dict[str, dict[str, int]]
    rejected: dict[str, int]
    rejected_by_source: dict[str, dict[str, int]] = {}
    unfit: dict[str, dict[str, int]] = {}
    unchecked: dict[str, int] = {}
    contamination: Contamination
    departures: list[Departure] = []


class GateResult(BaseModel):
    """What a check stage passes on: the bounds that held. A breached gate writes none."""

    model_config = ConfigDict(extra="forbid")

    gate: str
    passed: bool
    expectations: list[dict[str, Any]]


class TrainingOutcome(BaseModel):
    """How a round's training went. It stands beside the round's log, which it sums up.

    Attributes:
        steps: the last optimisation step.
        kept: the step whose model the round hands on.
        ended_by: why it ended before its last step as planned, None if it did not.
        alerts: signs of a collapse, each with its step.
        turning_step: where the length of responses turned from falling to steady, if it did.
    """

    model_config = ConfigDict(extra="forbid")

    steps: int
    kept: int
    ended_by: str | None
    alerts: list[str]
    turning_step: int | None


class Comparison(BaseModel):
    """A paired difference of two models on the same problems.

    Attributes:
        model, control: the difference is model minus control.
        measure: what is compared, and where.
        difference, ci_low, ci_high: in accuracy, 0 to 1.
        n_problems: pairs.
    """

    model_config = ConfigDict(extra="forbid")

    model: str
    control: str
    measure: str
    difference: float
    ci_low: float
    ci_high: float
    n_problems: int


class Decision(BaseModel):
    """What decide found on validation traces.

    Attributes:
        promoted: `base` or a round.
        rule: the rule in words, with its figures.
        solution_budget: s, chosen on the base's validation traces.
        comparisons: each round against its `prev`, and against the model promoted before it where that is another.
        next_round_worthwhile: whether the last round still gained over its `prev`.
    """

    model_config = ConfigDict(extra="forbid")

    promoted: str
    rule: str
    solution_budget: int
    comparisons: list[Comparison]
    next_round_worthwhile: bool


class Figures(BaseModel):
    """What a row of every table shows of one model under one method and budget.

    Shares and tokens are of all answers; accuracy leaves errors out, and its interval is over problems. `n_problems`
    counts problems with a graded answer, `n_samples` the thinking traces of a problem. `think` and `solution` are null
    for unconstrained rows, which name `limit` instead; a row of the method truncate has the total think + solution.
    """

    model_config = ConfigDict(extra="forbid")

    model: str
    method: str
    think: int | None
    solution: int | None
    limit: int | None
    accuracy: float
    ci_low: float
    ci_high: float
    mean_think_tokens: float
    mean_solution_tokens: float
    p50_tokens: float
    p95_tokens: float
    p95_think_tokens: float
    p95_solution_tokens: float
    forced_share: float
    natural_share: float
    eos_in_think_share: float
    unclosed_share: float
    truncated_solution_share: float
    no_answer_share: float
    timeout_share: float
    error_share: float
    n_problems: int
    n_samples: int


class GridRow(Figures):
    """One row of the budget table: a model on a split under a method and a budget."""

    split: str


Model = TypeVar("Model", bound=BaseModel)


def write_json(path: Path, value: BaseModel | list[Any] | dict[str, Any]) -> None:
    """Write JSON with sorted keys under a temporary name, then rename: a reader never sees half a file."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    temporary.write_text(json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        DataError: the file is missing or not JSON.
    """
    if not path.exists():
        raise DataError("no such file", where=str(path), remedy="run `dvc repro`, which makes it")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not JSON: {error}", where=str(path), remedy="delete it and run `dvc repro`") from None


def read_record(model: type[Model], path: Path) -> Model:
    """Read a JSON file as `model`.

    Raises:
        DataError: the file is missing, not JSON, or breaks the contract.
    """
    try:
        return model.model_validate(read_json(path))
    except ValidationError as error:
        raise DataError(f"breaks its contract: {error}", where=str(path), remedy="run `dvc repro` again") from None


def read_rows(model: type[Model], path: Path) -> list[Model]:
    """Read a JSON file that holds a list of `model`.

    Raises:
        DataError: the file is missing, not JSON, holds no rows, or breaks the contract.
    """
    rows = read_json(path)
    if not isinstance(rows, list) or not rows:
        raise DataError(f"holds no rows of {model.__name__}", where=str(path), remedy="run `dvc repro`, which makes it")
    try:
        return [model.model_validate(row) for row in rows]
    except ValidationError as error:
        raise DataError(f"breaks its contract: {error}", where=str(path), remedy="run `dvc repro` again") from None
