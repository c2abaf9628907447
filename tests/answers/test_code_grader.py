from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator

import pytest

from elastic.answers.code import CodeGrader, self_test
from elastic.answers.graders import Grader, load_grader
from elastic.answers.programs.trial import NoTestsError, Trial, try_program
from elastic.answers.verdict import Gold, Grade, Verdict
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.errors import GraderError

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SQUARES = CodeTests(
    kind="stdin", tests=tuple(CodeTest(input=f"{n}\n", outputs=(f"{n * n}",)) for n in (3, 10, -2)), seconds=2
)
CALLS = CodeTests(
    kind="functional",
    entry="Solution.square",
    tests=(CodeTest(input="[3]", outputs=("9",)), CodeTest(input="[4]", outputs=("16",))),
    seconds=2,
)
CHECK = (
    "def check(candidate):\n    assert candidate(n=3) == 9\n    assert candidate(4) == 16\n\ncheck(Solution().square)\n"
)
ASSERTS = CodeTests(kind="asserts", check=CHECK, seconds=2)
RIGHT = "class Solution:\n    def square(self, n: int) -> int:\n        return n * n\n"


def fenced(program: str) -> str:
    return f"So:\n\n```python\n{program}\n```\n"


def method(*lines: str, before: str = "") -> str:
    body = "\n        ".join(lines)
    return f"{before}\nclass Solution:\n    def square(self, n):\n        {body}\n"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with load_grader("code") as grader:
        yield grader


@sandboxed
def test_verdicts_with_their_share(grader: Grader) -> None:
    right = "print(int(input()) ** 2)"
    two_of_three = "n = int(input())\nprint(abs(n) * n)"
    cases = {
        fenced(right): (Verdict.CORRECT, 1.0),
        fenced(two_of_three): (Verdict.WRONG, 2 / 3),
        fenced("print(0)"): (Verdict.WRONG, 0.0),
        fenced("print("): (Verdict.WRONG, 0.0),
        fenced("pass"): (Verdict.WRONG, 0.0),
        fenced(right + "\n1 / 0"): (Verdict.WRONG, 0.0),
        fenced("print(0)") + fenced(right): (Verdict.CORRECT, 1.0),
        fenced(right) + fenced("print(0)"): (Verdict.WRONG, 0.0),
        right: (Verdict.NO_ANSWER, None),
        fenced(right) + "```python\nprint(": (Verdict.NO_ANSWER, None),
        f"<think>{fenced(right)}": (Verdict.NO_ANSWER, None),
    }
    gold = Gold("", tests=SQUARES.to_text())
    grades = grader.grade_many([*cases, None], [gold] * (len(cases) + 1))
    assert [(grade.verdict, grade.pass_share) for grade in grades] == [*cases.values(), (Verdict.NO_ANSWER, None)]
    assert grades[0] == Grade(Verdict.CORRECT, right + "\n", "fenced", 1.0)
    assert grader.version.startswith("1, Python 3.")


@sandboxed
@pytest.mark.parametrize(
    "tests",
    [
        None,
        "",
        "{}",
        "null",
        '{"kind": "stdin"}',
        '{"kind": "stdin", "tests": [{"input": "", "outputs": []}]}',
        '{"kind": "asserts", "check": "x ="}',
        '{"kind": "functional", "entry": "f", "tests": [{"input": "[1]", "outputs": ["no json"]}]}',
        '{"kind": "functional", "tests": [{"input": "[1]", "outputs": ["1"]}]}',
    ],
)
def test_no_tests_is_an_error_and_never_a_pass(grader: Grader, tests: str | None) -> None:
    [grade] = grader.grade_many([fenced("print(1)")], [Gold("", tests=tests)])
    assert (grade.verdict, grade.pass_share) == (Verdict.ERROR, None)


@sandboxed
@pytest.mark.parametrize(
    "check",
    [
        "def check(candidate):\n    assert candidate(3) == 9\n",
        "assert 1 == 1\n",
        "for case in []:\n    assert Solution().square(case) == 9\n",
        "def check(candidate):\n    for case in []:\n        assert candidate(case)\ncheck(Solution)\n",
    ],
)
def test_a_check_that_never_calls_the_program_is_an_error(grader: Grader, check: str) -> None:
    tests = CodeTests(kind="asserts", check=check, entry="Solution")
    [grade] = grader.grade_many([fenced(RIGHT)], [Gold("", tests=tests.to_text())])
    assert grade.verdict == Verdict.ERROR


@sandboxed
def test_over_the_limit_of_time_is_wrong_and_ends_the_trial() -> None:
    short = SQUARES.model_copy(update={"seconds": 0.5})
    trial = try_program("n = int(input())\nwhile n == 10:\n    pass\nprint(n * n)", short)
    assert (trial.passed, trial.total) == (1, 3)
    assert trial.fault in ("over its limit of processor time", "over its limit of wall time")
    assert try_program(method("while True: pass"), ASSERTS.model_copy(update={"seconds": 0.3})).passed == 0


@sandboxed
@pytest.mark.parametrize(
    "program",
    [
        "import sys\nsys.stdout.write(str(int(sys.stdin.readline()) ** 2) + '  \\n\\n')",
        "import sys\nprint(int(sys.stdin.buffer.read()) ** 2, end='')",
        "print(int(open(0).read()) ** 2)",
        "print(int(open('/dev/stdin').read()) ** 2)",
        "import threading\nthreading.Thread(target=lambda: print(int(input()) ** 2)).start()",
        "import atexit\natexit.register(lambda: print(int(input()) ** 2))",
        "def main():\n    print(int(input()) ** 2)\nif __name__ == '__main__':\n    main()",
        "print(int(input()) ** 2)\nexit()",
        "print(int(input()) ** 2)\nexit(0)",
        "import sys\nprint(int(input()) ** 2)\nsys.stderr.write('debug')\nsys.exit()",
        "import os\nos.write(1, str(int(input()) ** 2).encode())\nos._exit(0)",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    n: 'int'\nprint(P(int(input())).n ** 2)",
        "import numpy as np\nprint(np.array([int(input())])[0] ** 2)",
        "from sortedcontainers import SortedList\nprint(SortedList([int(input())])[0] ** 2)",
        "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(30000) - 30000 + int(input()) ** 2)",
        "n = int(input())\nprint(n ** 2 if len(str(10 ** 9999)) == 10000 else 0)",
        "x: List[int] = list(accumulate([int(input())]))\nprint(x[0] ** 2)",
    ],
)
def test_what_judges_take_is_taken(program: str) -> None:
    assert try_program(program, SQUARES) == Trial(3, 3, None)


@sandboxed
@pytest.mark.parametrize("tests", [CALLS, ASSERTS], ids=["functional", "asserts"])
def test_functions_are_called(tests: CodeTests) -> None:
    assert try_program(RIGHT, tests) == Trial(2, 2, None)
    assert try_program(method("print(n)", "return n ** 2", before="print('loaded')"), tests) == Trial(2, 2, None)
    assert try_program(method("return 9"), tests).passed == 1
    assert try_program(method("return None"), tests).passed == 0
    assert try_program("class Solution: pass", tests).passed == 0
    assert try_program("1 / 0", tests).passed == 0


@sandboxed
def test_a_plain_function_is_called_where_there_is_no_class() -> None:
    assert try_program("def square(n):\n    return n * n\n", CALLS) == Trial(2, 2, None)


@sandboxed
@pytest.mark.parametrize("tests", [SQUARES, CALLS, ASSERTS], ids=["stdin", "functional", "asserts"])
@pytest.mark.parametrize(
    "program",
    [
        "import sys\nsys.exit(0)",
        "import os\nos._exit(0)",
        "raise SystemExit",
        "import atexit, os\natexit.register(os._exit, 0)",
        "import sys\nsys.exit = print\nexit = quit = lambda *_: None",
        "import builtins\nbuiltins.print = lambda *_: None\nbuiltins.AssertionError = KeyboardInterrupt",
    ],
)
def test_leaving_early_is_no_pass(tests: CodeTests, program: str) -> None:
    assert try_program(program, tests).passed == 0


ALL_EQUAL = """
class Same(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
class Any:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __bool__ = lambda self: True
"""
FORGERIES = {
    "claims to equal everything": method("return Any()", before=ALL_EQUAL),
    "a number that claims so": method("return Same(7)", before=ALL_EQUAL),
    "a list of such": method("return [Any()]", before=ALL_EQUAL),
    "prints a report": method("print('pass\\nend 1')", "return 0", before="print('pass\\npass\\nend 2')"),
    "writes to every pipe": method(
        "for fd in range(3, 256):",
        "    try: os.write(fd, b'pass\\npass\\nend 2\\n')",
        "    except OSError: pass",
        "os._exit(0)",
        before="import os",
    ),
    "answers before it is asked": method(
        "return 0",
        before="import os, struct\n"
        'for text in [b\'{"value": {"object": 0}}\'] * 2 + [b\'{"value": 9}\'] * 9:\n'
        "    os.write(4, struct.pack('>Q', len(text)) + text)",
    ),
    "answers without end": method("os.write(4, b'\\xff' * 65536)", "return 9", before="import os"),
    "replaces what compares": method(
        "return 0",
        before="import builtins, operator, json\n"
        "builtins.all = builtins.any = builtins.bool = lambda *_: True\noperator.eq = lambda *_: True\n"
        "json.dumps = lambda *_, **__: '9'",
    ),
    "replaces the harness": method(
        "return 0",
        before="import sys\nfor name, module in list(sys.modules.items()):\n"
        "    if name.startswith('inside'):\n"
        "        for key in dir(module):\n"
        "            if callable(getattr(module, key)): setattr(module, key, lambda *_, **__: True)",
    ),
    "kills its checker": method(
        "[os.kill(int(p), 9) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]",
        "return 9",
        before="import os",
    ),
    "stops its checker": method(
        "[os.kill(int(p), 19) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]",
        "return 0",
        before="import os",
    ),
    "writes into its checker": method(
        "for p in os.listdir('/proc'):",
        "    for fd in range(256 if p.isdigit() else 0):",
        "        try: open(f'/proc/{p}/fd/{fd}', 'wb').write(b'pass\\npass\\nend 2\\n')",
        "        except OSError: pass",
        "return 0",
        before="import os",
    ),
    "searches memory for the check": method(
        "wanted = re.compile(rb'candidate.(?:n=)?' + str(n).encode() + rb'. == ([0-9]+)')",
        "for line in open('/proc/self/maps'):",
        "    low, high = (int(end, 16) for end in line.split()[0].split('-'))",
        "    try: memory.seek(low); found = wanted.search(memory.read(high - low))",
        "    except (OSError, OverflowError): continue",
        "    if found: return int(found[1])",
        before="import re\nmemory = open('/proc/self/mem', 'rb', 0)",
    ),
}


@sandboxed
@pytest.mark.parametrize("name", FORGERIES)
def test_a_pass_cannot_be_forged(name: str) -> None:
    trial = try_program(FORGERIES[name], ASSERTS.model_copy(update={"seconds": 0.3}))
    assert trial.passed < trial.total


@sandboxed
@pytest.mark.parametrize("name", ["claims to equal everything", "a number that claims so", "replaces the harness"])
def test_a_result_cannot_be_forged(name: str) -> None:
    assert try_program(FORGERIES[name], CALLS).passed == 0


@sandboxed
def test_a_program_does_not_lend_its_checker_what_compares() -> None:
    check = """
def check(candidate):
    assert is_same_list(candidate(3), list_node([9]))
    assert math.isclose(median([1, 2, 4]), 2)
    assert abs(candidate(3) - 9) < 1
check(Solution().square)
"""
    program = method(
        "return 1",
        before="import types\nis_same_list = lambda *_: True\nabs = lambda *_: 0\nmedian = lambda *_: 3\n"
        "math = types.SimpleNamespace(isclose=lambda *_: True)",
    )
    trial = try_program(program, CodeTests(kind="asserts", check=check))
    assert (trial.passed, trial.total) == (1, 3)


@sandboxed
def test_the_entry_is_the_programs_even_where_a_library_has_the_name() -> None:
    check = "def check(candidate):\n    assert candidate([3, 1, 2]) == 2\n\ncheck(median)\n"
    tests = CodeTests(kind="asserts", entry="median", check=check)
    assert try_program("def median(x):\n    return sorted(x)[len(x) // 2]\n", tests) == Trial(1, 1, None)
    assert try_program("def median(x):\n    return 0\n", tests).passed == 0
    assert try_program("def other(x):\n    return 2\n", tests).passed == 0


@sandboxed
def test_nodes_pass_by_value() -> None:
    check = """
def check(candidate):
    assert is_same_list(candidate(a=list_node([1, 2, 3]), b=tree_node([1, None, 2])), list_node([3, 2, 1]))
    assert is_same_list(candidate(a=list_node([]), b=tree_node([5])), list_node([]))
check(Solution().turn)
"""
    program = """
class Solution:
    def turn(self, a: Optional[ListNode], b: Optional[TreeNode]) -> Optional[ListNode]:
        assert b.left is None and (b.right is None or b.right.val == 2)
        before = None
        while a:
            a.next, before, a = before, a, a.next
        return before
"""
    own = (
        "class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val, self.next = val, next\n"
        + program
    )
    tests = CodeTests(kind="asserts", check=check)
    assert try_program(program, tests) == Trial(2, 2, None)
    assert try_program(own, tests) == Trial(2, 2, None)
    assert try_program(program.replace("return before", "return b"), tests).passed == 0


@sandboxed
def test_exceptions_of_a_program_reach_its_check() -> None:
    check = """
def check(f):
    try:
        f(0)
        assert False
    except ValueError:
        assert f(1) == (1, {2})
check(f)
"""
    tests = CodeTests(kind="asserts", check=check, entry="f")
    raises = "def f(n):\n    if not n:\n        raise ValueError('no')\n    return (1, {2})\n"
    assert try_program(raises, tests) == Trial(2, 2, None)
    wrong = try_program("def f(n):\n    return [1, {2}]\n", tests)
    assert wrong.passed == 0


@sandboxed
def test_several_outputs_are_good() -> None:
    tests = CodeTests(kind="stdin", tests=(CodeTest(input="", outputs=("1 2", "2 1")),))
    assert try_program("print(2, 1)", tests).passed == 1
    assert try_program("print(1, 1)", tests).passed == 0
    results = CodeTests(kind="functional", entry="f", tests=(CodeTest(input="[]", outputs=("[1]", "[0.3333333]")),))
    assert try_program("def f():\n    return (1 / 3,)", results).passed == 1


@sandboxed
def test_random_numbers_are_the_same_in_every_run() -> None:
    program = "import random\nprint(random.random())"
    tests = CodeTests(kind="stdin", tests=(CodeTest(input="", outputs=("0.8444218515250481",)),))
    assert try_program(program, tests).passed == 1


def test_a_check_that_is_no_python_is_refused_before_anything_starts() -> None:
    with pytest.raises(NoTestsError, match="no Python"):
        try_program("pass", CodeTests(kind="asserts", check="def ("))


def test_without_bubblewrap_no_program_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with CodeGrader() as grader, pytest.raises(GraderError, match="install bubblewrap"):
        grader.grade_many([fenced("print(1)")], [Gold("", tests=SQUARES.to_text())])


def test_the_switch_runs_programs_without_a_sandbox_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("ELASTIC_UNSANDBOXED", "1")
    with caplog.at_level(logging.WARNING), load_grader("code") as grader:
        [right, wrong] = grader.grade_many(
            [fenced("print(int(input()) ** 2)"), fenced("import os\nos.fork()")],
            [Gold("", tests=SQUARES.to_text())] * 2,
        )
    assert (right.verdict, wrong.verdict) == (Verdict.CORRECT, Verdict.WRONG)
    assert "WITHOUT A SANDBOX" in caplog.text
    assert grader.version.endswith("no sandbox")


@sandboxed
def test_a_harness_that_cannot_tell_right_from_wrong_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    self_test()
    monkeypatch.setattr("elastic.answers.programs.trial.any_printed", lambda *_: True)
    with pytest.raises(GraderError, match="self-test"):
        self_test()


def test_tests_survive_their_text() -> None:
    for tests in (SQUARES, CALLS, ASSERTS):
        assert CodeTests.from_text(tests.to_text()) == tests
    assert json.loads(ASSERTS.to_text()).keys() == {"kind", "check", "seconds"}
