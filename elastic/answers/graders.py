"""What every grader is, and how one is loaded by name.

A grader lives in the file of its name and its class is named after it: `math` is `MathGrader` in `math.py`. It is
imported when it is asked for, so that a stage loads, and depends on, no grader that it does not use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar, NamedTuple, Self

from elastic.answers.extract import BOX, Filter, find_answer
from elastic.answers.verdict import Gold, Grade, Verdict
from elastic.errors import GraderError


class Ruling(NamedTuple):
    """A verdict with the share of tests that it rests on, for graders that run tests."""

    verdict: Verdict
    pass_share: float | None


class Grader(ABC):
    """Grades solutions against gold answers; a context manager, since some hold processes.

    Attributes:
        name: of the grader, as in params.
        version: changes whenever a verdict may.
        filters: how answers are found, in order.
    """

    name: ClassVar[str]
    version: str
    filters: ClassVar[Sequence[Filter]] = (BOX,)

    @property
    def label(self) -> str:
        """Name and version, as every graded row carries them."""
        return f"{self.name} {self.version}"

    @abstractmethod
    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> Sequence[Verdict | Ruling]:
        """One verdict or ruling a pair of (answer, gold), all of them different."""

    def grade_many(self, solutions: Sequence[str | None], golds: Sequence[Gold]) -> list[Grade]:
        """Grade solutions in order; equal pairs of answer and gold are judged once.

        Args:
            solutions: texts after the closing delimiter; None where the trace has no solution.
            golds: the right answers, one a solution.

        Raises:
            GraderError: the grader itself is at fault.
        """
        read = {text: find_answer(text, self.filters) for text in dict.fromkeys(solutions) if text is not None}
        found = [None if text is None else read[text] for text in solutions]
        pairs = [(hit.answer, gold) if hit else None for hit, gold in zip(found, golds, strict=True)]
        wanted = list(dict.fromkeys(pair for pair in pairs if pair is not None))
        said = self.judge(wanted) if wanted else ()
        rulings = {
            pair: ruling if isinstance(ruling, Ruling) else Ruling(ruling, None)
            for pair, ruling in zip(wanted, said, strict=True)
        }
        return [
            Grade(rulings[pair].verdict, hit.answer, hit.found_by, rulings[pair].pass_share)
            if hit and pair
            else Grade(Verdict.NO_ANSWER, None, None)
            for hit, pair in zip(found, pairs, strict=True)
        ]

    def close(self) -> None:
        """Let go of what the grader holds; most hold nothing."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def load_grader(name: str) -> Grader:
    """The grader called `name`.

    Raises:
        GraderError: there is none of this name.
    """
    module_name = f"{__package__}.{name}"
    try:
        found = getattr(import_module(module_name), f"{name.capitalize()}Grader", None)
    except ModuleNotFoundError as error:
        if error.name != module_name:
            raise
        found = None
    if found is None:
        raise GraderError(
            f"no grader is called {name!r}",
            where="grading",
            remedy="name one that has a file of its own in elastic/answers/, such as exact or math",
        )
    grader: Grader = found()
    return grader
