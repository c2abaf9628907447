"""Public formats of code problems, each read into one form: question, tests, reference program.

A function a format, from the raw row as the hub has it or as DeepCoder's mirrors have it (fields that hold JSON as text
there are read too). Nothing of a row is executed: LiveCodeBench's private tests are a pickle, of which only a string is
accepted.

The tests are those of the papers' protocols (Elastic Reasoning's public code): at most 15 of TACO and APPS, those with
the longest inputs, with 12 seconds each; all of the others, with 6.
"""

from __future__ import annotations

import ast
import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.errors import DataError

MOST_TESTS = 15
LONG_SECONDS = 12.0
_UNPACKED_BYTES = 1 << 30

_PROGRAM = (
    "Write a Python program that reads its input from standard input and prints its answer to standard output. "
    "Give the whole program in one ```python block."
)
_FUNCTION = "Write the Python function `{name}` and give it, with all that it needs, in one ```python block."
_STARTER = "Begin with this code, and give the whole program in one ```python block:\n\n```python\n{code}\n```"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class CodeProblem:
    """A code problem.

    Attributes:
        question: as a model is asked, with what is expected of a program.
        tests: what programs are judged by.
        reference: a program that is given as right; None where there is none.
    """

    question: str
    tests: CodeTests
    reference: str | None


def taco(row: Row) -> CodeProblem:
    """TACO, APPS and CodeContests: parallel lists of inputs and outputs, with `fn_name` where a function is called.

    Hub rows: `question`, `input_output`, `solutions`, `starter_code`; mirrors: `problem`, `tests`, `solutions`.

    Raises:
        DataError: the tests cannot be read, or there is none.
    """
    field = "input_output" if "input_output" in row else "tests"
    both = _mapping(row, field)
    name = both.get("fn_name")
    inputs, outputs = _sequence(both, "inputs"), _sequence(both, "outputs")
    if len(inputs) != len(outputs):
        raise _bad(field, f"holds {len(inputs)} inputs and {len(outputs)} outputs")
    if name:
        tests = [_call(list(given), output) for given, output in zip(inputs, outputs, strict=True)]
    else:
        tests = [CodeTest(input=_lines(i), outputs=(_lines(o),)) for i, o in zip(inputs, outputs, strict=True)]
    longest = sorted(range(len(tests)), key=lambda place: -len(tests[place].input))[:MOST_TESTS]
    solutions = _parsed(row.get("solutions") or [])
    return CodeProblem(
        _asked(row, "problem" if "problem" in row else "question", row.get("starter_code"), name),
        _made(field, [tests[place] for place in sorted(longest)], entry=name, seconds=LONG_SECONDS),
        next(iter([solutions] if isinstance(solutions, str) else solutions), None),
    )


def livecodebench(row: Row) -> CodeProblem:
    """LiveCodeBench, stdin and functional.

    Hub rows: `question_content`, `starter_code`, `public_test_cases`, `private_test_cases`, `metadata`; mirrors:
    `problem`, `starter_code`, `tests`, `metadata`.

    Raises:
        DataError: the tests cannot be read, or there is none.
    """
    if "tests" in row:
        field, cases = "tests", _sequence(row, "tests")
    else:
        field = "private_test_cases"
        cases = [*_sequence(row, "public_test_cases"), *_private(row.get(field) or "[]")]
    functional = any(case.get("testtype") == "functional" for case in cases)
    name = None
    if functional:
        name = _mapping(row, "metadata").get("func_name") if row.get("metadata") else None
        name = name or next((case["metadata"].get("func_name") for case in cases if case.get("metadata")), None)
        if not name:
            raise _bad("metadata", "names no function (func_name), though the tests call one")
        tests = [
            CodeTest(
                input=json.dumps([_json(field, line) for line in case["input"].split("\n") if line.strip()]),
                outputs=(json.dumps(_json(field, case["output"])),),
            )
            for case in cases
        ]
    else:
        tests = [CodeTest(input=case["input"], outputs=(case["output"],)) for case in cases]
    return CodeProblem(
        _asked(row, "problem" if "problem" in row else "question_content", row.get("starter_code"), name),
        _made(field, tests, entry=name),
        None,
    )


def codeforces(row: Row) -> CodeProblem:
    """A list of inputs and outputs: Codeforces, and HumanEval+ where a mirror has it in that form.

    Rows: `problem`, `tests`.

    Raises:
        DataError: the tests cannot be read, or there is none.
    """
    tests = [CodeTest(input=case["input"], outputs=(case["output"],)) for case in _sequence(row, "tests")]
    return CodeProblem(_asked(row, "problem"), _made("tests", tests), None)


def synthetic_1(row: Row) -> CodeProblem:
    """SYNTHETIC-1 (PrimeIntellect), its verifiable coding problems.

    Rows: `prompt`, `verification_info` with `test_cases`, `gold_standard_solution`.

    Raises:
        DataError: the tests cannot be read, there is none, or they are for another language than Python.
    """
    field = "verification_info"
    info = _mapping(row, field)
    if info.get("language", "python") != "python":
        raise _bad(field, f"holds tests of programs in {info['language']}")
    cases = _sequence(info, "test_cases")
    name = next((case["fn_name"] for case in cases if case.get("fn_name")), None)
    if name:
        tests = [_call(_parsed(case["input"]), _parsed(case["output"])) for case in cases]
    else:
        tests = [CodeTest(input=_lines(case["input"]), outputs=(_lines(case["output"]),)) for case in cases]
    solution = row.get("gold_standard_solution") or ""
    reference = solution.partition("```python\n")[2].partition("```")[0] if "```" in solution else solution
    return CodeProblem(_asked(row, "prompt", None, name), _made(field, tests, entry=name), reference or None)


def humaneval_plus(row: Row) -> CodeProblem:
    """HumanEval+ (EvalPlus).

    Rows: `prompt`, `canonical_solution`, `entry_point`, `test`. Functions that the prompt defines beside the one asked
    for go into the check: some checks compare by them, and what compares must not be the program's.

    Raises:
        DataError: the prompt is no Python, or the tests are empty.
    """
    prompt, entry = _text(row, "prompt"), _text(row, "entry_point")
    try:
        tree = ast.parse(prompt)
    except SyntaxError as error:
        raise _bad("prompt", f"is no Python: {error}") from None
    tree.body = [node for node in tree.body if getattr(node, "name", None) != entry]
    check = f"{ast.unparse(tree)}\n\n{_text(row, 'test')}\n\ncheck({entry})\n"
    return CodeProblem(
        f"Complete this Python function, and give the whole program in one ```python block:\n\n```python\n{prompt}```",
        _made("test", (), kind="asserts", entry=entry, check=check),
        prompt + _text(row, "canonical_solution"),
    )


def leetcode(row: Row) -> CodeProblem:
    """LeetCode with a check source.

    Rows: `problem`, `solutions`, `tests` with `functional`. A check that no line calls would pass everything; it is
    called with the only public method of the reference program.

    Raises:
        DataError: there is no check source, or it is never called and no method can be named.
    """
    check = _mapping(row, "tests").get("functional")
    if not isinstance(check, str) or not check.strip():
        raise _bad("tests", "hold no check source under functional")
    reference = row.get("solutions") or None
    try:
        called = any(isinstance(node, ast.Expr) for node in ast.parse(check).body)
    except SyntaxError as error:
        raise _bad("tests", f"hold a check source that is no Python: {error}") from None
    if not called:
        check = f"{check}\n\ncheck(Solution().{_only_method(reference or '')})\n"
    return CodeProblem(
        _text(row, "problem"), _made("tests", (), kind="asserts", entry="Solution", check=check), reference
    )


def _only_method(program: str) -> str:
    try:
        classes = [node for node in ast.parse(program).body if isinstance(node, ast.ClassDef)]
    except SyntaxError:
        classes = []
    methods = [
        node.name
        for found in classes
        if found.name == "Solution"
        for node in found.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    if len(methods) != 1:
        raise _bad("tests", f"hold a check that is never called, and {len(methods)} methods could be meant")
    return methods[0]


class _StringUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"names {module}.{name}; only a string is accepted")


def _private(text: str) -> Sequence[Any]:
    """LiveCodeBench's private tests: JSON, or JSON pickled, compressed and in base64."""
    if not text.lstrip().startswith("["):
        field = "private_test_cases"
        try:
            unpacker = zlib.decompressobj()
            unpacked = unpacker.decompress(base64.b64decode(text, validate=True), _UNPACKED_BYTES)
            if not unpacker.eof:
                raise _bad(field, f"are cut, or unpack to more than {_UNPACKED_BYTES} bytes")
            text = _StringUnpickler(io.BytesIO(unpacked)).load()
        except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, ValueError, IndexError) as error:
            raise _bad(field, f"cannot be unpacked: {error}") from None
        if not isinstance(text, str):
            raise _bad(field, f"hold a pickled {type(text).__name__} where a string was expected")
    return _sequence({"private_test_cases": text}, "private_test_cases")


def _call(arguments: list[Any], output: Any) -> CodeTest:
    """A call as APPS has it: some outputs are the result, others a list of it."""
    results = [output, output[0]] if isinstance(output, list) and len(output) == 1 else [output]
    return CodeTest(input=json.dumps(arguments), outputs=tuple(json.dumps(result) for result in results))


def _asked(row: Row, field: str, starter: str | None = None, function: str | None = None) -> str:
    """The question with what is expected of the program."""
    if starter and starter.strip():
        expected = _STARTER.format(code=starter.rstrip())
    else:
        expected = _FUNCTION.format(name=function) if function else _PROGRAM
    return f"{_text(row, field).strip()}\n\n{expected}"


def _made(field: str, tests: Sequence[CodeTest], *, kind: str | None = None, **others: Any) -> CodeTests:
    if tests and not any(output.strip() for test in tests for output in test.outputs):
        raise _bad(field, "expect nothing: every output is blank")
    try:
        return CodeTests.model_validate(
            {"kind": kind or ("functional" if others.get("entry") else "stdin"), "tests": tuple(tests), **others}
        )
    except ValidationError as error:
        faults = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
        raise _bad(field, faults) from None


def _bad(field: str, what: str) -> DataError:
    return DataError(
        what, where=field, remedy="correct the row, or leave it out; a problem needs tests that can be run"
    )


def _json(field: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad(field, f"hold no JSON: {error}") from None


def _parsed(value: Any) -> Any:
    """A value that may be JSON as text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _mapping(row: Row, field: str) -> Mapping[str, Any]:
    value = _parsed(row.get(field))
    if not isinstance(value, Mapping):
        raise _bad(field, f"holds a {type(value).__name__} where a mapping was expected")
    return value


def _sequence(row: Row, field: str) -> list[Any]:
    value = _parsed(row.get(field))
    # Columns of parquet come as arrays.
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _bad(field, f"holds a {type(value).__name__} where a list was expected")
    return list(value)


def _text(row: Row, field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise _bad(field, "holds no text")
    return value


def _lines(value: Any) -> str:
    """Text, or the lines that some rows have in its stead."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
