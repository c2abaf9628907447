"""Rows of our own making in each public format; where the mirror is set, all its rows too."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.data import code_formats
from elastic.data.code_formats import codeforces, humaneval_plus, leetcode, livecodebench, synthetic_1, taco
from elastic.errors import DataError

QUESTION = "Read n, print n squared."
METHOD = "class Solution:\n    def square(self, n: int) -> int:\n        "


def packed(cases: object) -> str:
    """Private tests as LiveCodeBench has them."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()


def test_taco_as_the_hub_and_as_mirrors_have_it() -> None:
    both = {"inputs": ["3\n", "10\n"], "outputs": ["9\n", "100\n"]}
    hub = taco({"question": QUESTION, "input_output": json.dumps(both), "solutions": json.dumps(["print(1)", "pass"])})
    mirror = taco({"problem": QUESTION, "tests": both, "solutions": ["print(1)", "pass"]})
    assert hub == mirror
    assert hub.reference == "print(1)"
    assert hub.tests == CodeTests(
        kind="stdin",
        tests=(CodeTest(input="3\n", outputs=("9\n",)), CodeTest(input="10\n", outputs=("100\n",))),
        seconds=12,
    )
    assert hub.question.startswith(QUESTION)
    assert "standard input" in hub.question


def test_taco_calls_a_function_where_it_names_one() -> None:
    both = {"fn_name": "add", "inputs": [[1, 2], [[3], "x"]], "outputs": [[3], "y"]}
    problem = taco({"problem": "Add.", "tests": both, "solutions": "[]"})
    assert problem.tests.kind == "functional"
    assert problem.tests.entry == "add"
    assert problem.tests.tests == (
        CodeTest(input="[1, 2]", outputs=("[3]", "3")),
        CodeTest(input='[[3], "x"]', outputs=('"y"',)),
    )
    assert problem.reference is None
    assert "`add`" in problem.question


def test_taco_keeps_the_15_longest_inputs_in_their_order() -> None:
    inputs = ["1" * length for length in (5, 1, 9, 7, *range(20, 34))]
    problem = taco({"problem": "p", "tests": {"inputs": inputs, "outputs": inputs}})
    assert [len(test.input) for test in problem.tests.tests] == [9, *range(20, 34)]


def test_taco_joins_lines() -> None:
    both = {"inputs": [["1", "2"]], "outputs": [["3", "4"]]}
    assert taco({"problem": "p", "tests": both}).tests.tests == (CodeTest(input="1\n2", outputs=("3\n4",)),)


def test_livecodebench_stdin_with_packed_private_tests() -> None:
    public = [{"input": "3\n", "output": "9\n", "testtype": "stdin"}]
    private = [{"input": "4\n", "output": "16\n", "testtype": "stdin"}]
    row = {"question_content": QUESTION, "starter_code": "", "metadata": "{}", "public_test_cases": json.dumps(public)}
    for cases in (packed(private), json.dumps(private)):
        problem = livecodebench({**row, "private_test_cases": cases})
        assert problem.tests.kind == "stdin"
        assert problem.tests.seconds == 6
        assert [(test.input, test.outputs) for test in problem.tests.tests] == [("3\n", ("9\n",)), ("4\n", ("16\n",))]


def test_livecodebench_functional() -> None:
    cases = [{"input": '[1, 2]\n"a"', "output": "3", "testtype": "functional"}]
    row = {"problem": "p", "starter_code": METHOD, "tests": cases}
    for more in ({"metadata": {"func_name": "square"}}, {"metadata": '{"func_name": "square"}'}):
        problem = livecodebench({**row, **more})
        assert problem.tests.entry == "square"
        assert problem.tests.tests == (CodeTest(input='[[1, 2], "a"]', outputs=("3",)),)
        assert METHOD.rstrip() in problem.question
    inside = [{**cases[0], "metadata": {"func_name": "square"}}]
    assert livecodebench({**row, "tests": json.dumps(inside)}).tests.entry == "square"
    with pytest.raises(DataError, match="names no function"):
        livecodebench(row)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (open, ("/nonexistent-folder/canary", "w"))


@pytest.mark.parametrize(
    "private",
    [
        base64.b64encode(zlib.compress(pickle.dumps(Evil()))).decode(),
        base64.b64encode(zlib.compress(pickle.dumps([1]))).decode(),
        base64.b64encode(zlib.compress(pickle.dumps("[1]"))[:-9]).decode(),
        base64.b64encode(b"no zlib").decode(),
        "no base64!",
        packed({"not": "a list"}),
    ],
    ids=["a call", "no string", "cut", "no zlib", "no base64", "no list"],
)
def test_private_tests_that_are_no_packed_string_are_refused_unexecuted(private: str) -> None:
    with pytest.raises(DataError, match="private_test_cases"):
        livecodebench({"question_content": "p", "public_test_cases": "[]", "private_test_cases": private})


def test_private_tests_do_not_unpack_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_formats, "_UNPACKED_BYTES", 1000)
    bomb = base64.b64encode(zlib.compress(pickle.dumps("[" * 100_000))).decode()
    with pytest.raises(DataError, match="more than 1000 bytes"):
        livecodebench({"question_content": "p", "public_test_cases": "[]", "private_test_cases": bomb})


def test_codeforces_is_a_list_of_tests() -> None:
    tests = [{"input": "3\n", "output": "9\n"}]
    for given in (tests, json.dumps(tests)):
        problem = codeforces({"problem": QUESTION, "tests": given})
        assert problem.tests.tests == (CodeTest(input="3\n", outputs=("9\n",)),)
        assert problem.reference is None


def test_synthetic_1_takes_the_program_out_of_its_fence() -> None:
    cases = [{"type": "stdin_stdout", "fn_name": None, "input": "3\n", "output": "9\n"}]
    info = {"language": "python", "test_cases": cases}
    solution = "```python\nprint(int(input()) ** 2)\n```"
    problem = synthetic_1(
        {"prompt": QUESTION, "verification_info": json.dumps(info), "gold_standard_solution": solution}
    )
    assert problem.reference == "print(int(input()) ** 2)\n"
    assert problem.tests.tests == (CodeTest(input="3\n", outputs=("9\n",)),)
    with pytest.raises(DataError, match="javascript"):
        synthetic_1({"prompt": "p", "verification_info": {"language": "javascript", "test_cases": cases}})


def test_humaneval_plus_checks_with_the_prompts_own_helpers() -> None:
    prompt = 'import math\n\ndef poly(x):\n    return x\n\n\ndef root(x):\n    """Docs."""\n'
    row = {
        "prompt": prompt,
        "canonical_solution": "    return x\n",
        "entry_point": "root",
        "test": "def check(candidate):\n    assert poly(candidate(1)) == 1\n",
    }
    problem = humaneval_plus(row)
    assert problem.reference == prompt + "    return x\n"
    assert prompt in problem.question
    check = problem.tests.check or ""
    assert check.endswith("check(root)\n")
    assert "def poly" in check
    assert "def root" not in check
    assert problem.tests.entry == "root"


def test_leetcode_with_and_without_the_call_of_its_check() -> None:
    check = "def check(candidate):\n    assert candidate(n=3) == 9"
    program = METHOD + "return n * n\n\n    def _other(self):\n        pass\n"
    row = {"problem": "p", "solutions": program, "tests": {"functional": check}}
    problem = leetcode(row)
    assert problem.tests.check == f"{check}\n\ncheck(Solution().square)\n"
    assert problem.question == "p"
    assert problem.reference == program
    called = f"{check}\n\ncheck(Solution().square)"
    assert leetcode({**row, "tests": json.dumps({"functional": called})}).tests.check == called
    with pytest.raises(DataError, match="never called"):
        leetcode({**row, "solutions": "class Solution: ..."})


@pytest.mark.parametrize(
    ("read", "row", "says"),
    [
        (taco, {"problem": "p", "tests": {"inputs": [], "outputs": []}}, "at least one test"),
        (taco, {"problem": "p", "tests": {"inputs": ["1"], "outputs": []}}, "1 inputs and 0 outputs"),
        (taco, {"problem": "p", "tests": {"inputs": ["1"], "outputs": [" \n"]}}, "every output is blank"),
        (taco, {"problem": "p", "tests": "no json"}, "mapping was expected"),
        (taco, {"problem": "p"}, "mapping was expected"),
        (taco, {"tests": {"inputs": ["1"], "outputs": ["1"]}}, "question: holds no text"),
        (codeforces, {"problem": "p", "tests": []}, "at least one test"),
        (codeforces, {"problem": "p", "tests": {"inputs": []}}, "list was expected"),
        (livecodebench, {"problem": "p", "tests": []}, "at least one test"),
        (leetcode, {"problem": "p", "tests": {"functional": " "}}, "no check source"),
        (leetcode, {"problem": "p", "tests": {"functional": "def ("}}, "no Python"),
        (humaneval_plus, {"prompt": "def (", "entry_point": "f", "test": "x"}, "no Python"),
    ],
)
def test_a_row_without_tests_that_can_be_run_is_an_error_that_names_the_field(read: Any, row: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(row)


def test_every_row_of_the_mirror_is_read() -> None:
    mirror = os.environ.get("ELASTIC_DATA_MIRROR")
    if not mirror:
        pytest.skip("ELASTIC_DATA_MIRROR names no mirror")
    files = {
        "leetcode_train": (leetcode, 1889),
        "leetcode_test": (leetcode, 200),
        "codeforces_test": (codeforces, 408),
        "code_contests_test": (taco, 165),
    }
    for name, (read, rows) in files.items():
        raw = json.loads(Path(mirror, "code", f"{name}.json").read_text(encoding="utf-8"))
        problems = [read(row) for row in raw]
        assert len(problems) == rows
        assert all(CodeTests.from_text(problem.tests.to_text()) == problem.tests for problem in problems)
