"""The tests of a code problem: what a program is judged by, in one form for every public format.

A row carries them as JSON. Three kinds: `stdin` feeds a program its input and compares what it prints, `functional`
calls a function with arguments (LiveCodeBench style), `asserts` runs a checking program against it (HumanEval+ and
LeetCode's check source).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from elastic.contracts.params.common import Count, Positive, Strict


class CodeTest(Strict):
    """One test.

    Attributes:
        input: standard input; of `functional`, JSON of the list of arguments.
        outputs: every acceptable output, at least one; of `functional`, each the JSON of a result.
    """

    input: str
    outputs: Annotated[tuple[str, ...], Field(min_length=1)]


class CodeTests(Strict):
    """All tests of one problem, at least one.

    Attributes:
        kind: how a program is run.
        tests: of the kinds `stdin` and `functional`, in order.
        entry: name of the function, or `Solution.method`. Of `functional`, what is called. Of `asserts`, a name that
            the check takes from the program even where the standard library has it too.
        check: source that is run against the program and raises unless it is right; of the kind `asserts` only.
        seconds: processor time a test may take; the whole of a check is one test.
        megabytes: memory a test may take, above the interpreter's own need.
    """

    kind: Literal["stdin", "functional", "asserts"]
    tests: tuple[CodeTest, ...] = ()
    entry: str | None = None
    check: str | None = None
    seconds: Positive = 6.0
    megabytes: Count = 512

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        if self.kind == "asserts" and not (self.check and self.check.strip()):
            raise ValueError("tests of the kind asserts need a check source")
        if self.kind != "asserts" and not self.tests:
            raise ValueError(f"tests of the kind {self.kind} need at least one test")
        if self.kind == "functional" and not self.entry:
            raise ValueError("tests of the kind functional need the entry that they call")
        return self

    def to_text(self) -> str:
        """As a row carries them."""
        return self.model_dump_json(exclude_defaults=True)

    @classmethod
    def from_text(cls, text: str) -> CodeTests:
        """The tests that a row carries.

        Raises:
            ValidationError: the text holds no tests.
        """
        return cls.model_validate_json(text)
