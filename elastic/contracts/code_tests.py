"""The tests of a code problem: what a program is judged by, in one form for every public format.

A row carries them as JSON. Three kinds: `stdin` feeds a program its input and compares what it prints, `functional`
calls a function with arguments (LeetCode and LiveCodeBench style), `asserts` runs a checking program after it
(HumanEval+ and LeetCode's check source).
"""

from __future__ import annotations

from typing import Literal

from elastic.contracts.params.common import Count, Positive, Strict


class CodeTest(Strict):
    """One test.

    Attributes:
        input: standard input; of `functional`, JSON of the list of arguments.
        outputs: every acceptable output; of `functional`, each the JSON of a result.
    """

    input: str
    outputs: tuple[str, ...]


class CodeTests(Strict):
    """All tests of one problem.

    Attributes:
        kind: how a program is run.
        tests: of the kinds `stdin` and `functional`, in order.
        entry: name of the function, or `Solution.method`; of the kind `functional` only.
        check: source that is run after the program; of the kind `asserts` only.
        seconds: processor time a test may take.
        megabytes: memory a test may take, above the interpreter's own need.
    """

    kind: Literal["stdin", "functional", "asserts"]
    tests: tuple[CodeTest, ...] = ()
    entry: str | None = None
    check: str | None = None
    seconds: Positive = 6.0
    megabytes: Count = 512

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
