"""What an evaluation's folder says of itself: what it is, what each of its runs is, and the rows of its summary.

None of it holds seconds or dates, so that equal seeds give equal bytes, however often sampling was interrupted.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from elastic.contracts.params.common import Count, Natural, Strict, Temperature
from elastic.contracts.records import Figures
from elastic.markers import THINK


class Named(Strict):
    """A file or folder, by its name and by what it holds."""

    name: str
    sha256: str


class Protocol(Strict):
    """How problems are put and answers drawn, whatever the budget.

    Attributes:
        benchmark: name and version, or the name of a problem file.
        template: the user turn around the question.
        system: the system turn, where there is one.
        delimiters: how the model writes the bounds of its thinking.
        temperature, top_p, top_k: of sampling.
        samples: thinking traces a problem.
        seed: root of the random streams.
        faithful: go on to a solution after an EOS inside thinking, as the published evaluation of E1 does.
        changed: fields that were set otherwise than the benchmark says.
    """

    benchmark: str
    template: str
    system: str | None = None
    delimiters: tuple[str, str] = THINK
    temperature: Temperature
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Natural = 0
    samples: Count
    seed: Natural
    faithful: bool = False
    changed: tuple[str, ...] = ()


class Grading(Strict):
    """What answers were judged by: it can change without a token being sampled.

    Attributes:
        grader: its name and version.
        golds: sha256 of the right answers, tests and policies.
    """

    grader: str
    golds: str


class Intervals(Strict):
    """How the intervals of a summary are made.

    Attributes:
        confidence: of the two-sided interval.
        resamples: of the bootstrap over problems.
    """

    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Count = 5000


class EvaluationRecord(Strict):
    """`evaluation.json`: what all runs of a folder share.

    Attributes:
        model: that thinks, and solves unless a run names a solver.
        problems: name, and sha256 of the problems' ids and rendered prompts.
        protocol: see Protocol.
        engine: what sampled; engines draw differently from a seed.
        versions: of the packages that sampled.
        grading: see Grading.
        intervals: of the summary.
    """

    model: Named
    problems: Named
    protocol: Protocol
    engine: str
    versions: dict[str, str]
    grading: Grading
    intervals: Intervals


class RunRecord(Strict):
    """`runs/RUN.json`: one run; it is written last, so that a run that has one is whole.

    Attributes:
        run: as in the column of its frames.
        strategy: the strategy's text; `run` is the same, or says the budgets too where they were added later.
        budgets, limit: what it was sampled at.
        beside: models and budgets that the strategy names, by those names, with the sha256 of what they hold.
        fingerprint: of all that decides what is sampled.
        grading: see Grading.
        problems, answers: how many.
        sampled_tokens, prefilled_tokens: what it cost; tokens that answers share count once.
    """

    run: str
    strategy: str
    budgets: tuple[str, ...]
    limit: int | None
    beside: dict[str, str]
    fingerprint: str
    grading: Grading
    problems: int
    answers: int
    sampled_tokens: int
    prefilled_tokens: int


class SummaryRow(Figures):
    """One row of `summary.json`: a cell of an evaluation (CELL of elastic/contracts/evaluation.py).

    pass@k is at `k`, the graded answers of a problem (the fewest that one has, so that all problems count), the
    majority vote is over all of them. All intervals are over problems. The percentiles of tokens count probes.
    """

    solver: str
    benchmark: str
    run: str
    setting: str
    k: int
    pass_at_k: float
    pass_low: float
    pass_high: float
    majority: float
    majority_low: float
    majority_high: float
    mean_forced_tokens: float
    mean_probe_tokens: float
    n_answers: int
