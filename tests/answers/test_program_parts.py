"""The parts of code verdicts that need no sandbox: fences, outputs, imports, check sources, values, the filter."""

from __future__ import annotations

import io
import json
import struct
from collections import Counter, deque
from typing import Any

import pytest

from elastic.answers.programs.checks import NoCheckError, read_check
from elastic.answers.programs.fences import last_fenced_block
from elastic.answers.programs.inside import nodes
from elastic.answers.programs.inside.confine import system_call_filter
from elastic.answers.programs.inside.frames import receive, send
from elastic.answers.programs.inside.values import NoValueError, decode, encode
from elastic.answers.programs.outputs import any_returned, printed_equal, values_equal
from elastic.answers.programs.preamble import preamble


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\nprint(1)\n```", "print(1)\n"),
        ("```\nprint(1)\n```\nDone.", "print(1)\n"),
        ("a\n```py\n1\n```\nb\n``` python3 \n2\n```  ", "2\n"),
        ("1. So\n   ```python\n   if x:\n       y\n   ```", "if x:\n    y\n"),
        ("````md\n```python\n1\n```\n````", "```python\n1\n```\n"),
        ("~~~python\n1\n~~~", "1\n"),
        ("```python\r\n1\r\n```", "1\n"),
        ("```python\nx = '''\n```python\n'''\n```", "x = '''\n```python\n'''\n"),
        ("```python\n1\n```\n```python\n2", None),
        ("```python\n1\n```\n```\n\n```", None),
        ("`print(1)`", None),
        ("print(1)", None),
        ("```python print(1)```", None),
        ("", None),
    ],
)
def test_the_program_is_the_last_closed_block(text: str, program: str | None) -> None:
    assert last_fenced_block(text) == program


@pytest.mark.parametrize(
    ("printed", "expected", "equal"),
    [
        ("1 2\n", "1 2", True),
        ("1  2 \n\n", "\n1 2\n", True),
        ("1\n2", "1 2", True),
        ("1\r\n2\r\n", "1\n2\n", True),
        ("12", "1 2", False),
        ("", "", True),
        ("", "1", False),
        ("1", "", False),
        ("1 2 3", "1 2", False),
        ("0.3333333", "0.333333333", True),
        ("0.333", "0.333333333", False),
        ("3", "3.0", True),
        (".5", "0.5", True),
        ("5e-1", "0.5", True),
        ("1000000.5", "1000000.0", True),
        ("3.0", "3", False),
        ("1000000007", "1000000008", False),
        ("100000000000000001", "100000000000000000", False),
        ("nan", "1.0", False),
        ("inf", "1e999", False),
        ("1e999", "1.5", False),
        ("0x1", "1.0", False),
        ("1_0.0", "10.0", False),
        ("YES", "yes", False),
        ("-0.0000001", "0.0", True),
    ],
)
def test_printed_text_is_compared_as_judges_do(printed: str, expected: str, equal: bool) -> None:
    assert printed_equal(printed, expected) is equal


@pytest.mark.parametrize(
    ("given", "wanted", "equal"),
    [
        ([1, [2, "a"]], [1, [2, "a"]], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        (2.5000001, 2.5, True),
        (2.51, 2.5, False),
        (2, 2.0, True),
        (10**20, 10**20 + 1, False),
        (10**400, 1.5, False),
        ({"a": [0.1 + 0.2]}, {"a": [0.3]}, True),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
        (None, 0, False),
        (None, None, True),
    ],
)
def test_values_are_compared_with_a_tolerance_for_floats(given: Any, wanted: Any, equal: bool) -> None:
    assert values_equal(given, wanted) is equal


def test_a_result_that_is_no_json_equals_nothing() -> None:
    assert not any_returned("", ["1"])
    assert not any_returned("[" * 100_000, ["1"])
    assert not any_returned("1 1", ["1"])
    assert any_returned("[1, 2.0]", ["0", "[1, 2]"])


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1", set()),
        ("x: List[int] = []", {"from typing import List"}),
        ("Counter(x).most_common()", {"from collections import Counter"}),
        ("heappush(h, math.inf)", {"from heapq import heappush", "import math"}),
        ("bisect(a, 1)", {"from bisect import bisect"}),
        ("bisect.bisect(a, 1)", {"import bisect"}),
        ("sum(map(abs, x)); x.count(1); pow(2, 3, 5)", set()),
        ("exit()", {"from sys import exit"}),
        ("x.median()", set()),
    ],
)
def test_imports_that_evaluators_give(source: str, lines: set[str]) -> None:
    assert set(preamble(source).split("\n")) - {""} == lines


def test_every_import_of_the_preamble_can_be_made() -> None:
    names = preamble("""
        List deque heappop bisect_left lru_cache inf gcd itemgetter ascii_lowercase deepcopy Fraction Decimal randint
        median datetime accumulate reduce loads findall stdin setrecursionlimit maxsize
        StringIO commonprefix quit time.x
    """)
    found: dict[str, Any] = {}
    exec(names, found)
    assert len(names.split("\n")) == 26
    assert {"deque", "inf", "quit", "time", "median"} <= set(found)


def test_a_check_asks_the_program_for_what_only_it_can_have() -> None:
    check = read_check(
        "import math\ndef check(f):\n    for x in [1]:\n        assert f(x) == math.pi\n\ncheck(Solution().area)", None
    )
    assert check.wanted == ("Solution",)
    assert check.asserts == 1
    assert "assert " not in check.source.replace("_assert_", "")
    helped = "def check(f):\n    assert is_same_list(f(poly(1)), list_node([1])) and sorted(inf)\n\ncheck(root)"
    assert read_check(helped, None).wanted == ("poly", "root")
    assert read_check(helped, None).preamble == "from math import inf"
    assert read_check("assert median([1]) == 1", "median").wanted == ("median",)


@pytest.mark.parametrize("source", ["", "x =", "assert 1 == 1", "def check(f):\n    assert f(1)", "assert median([1])"])
def test_a_check_that_needs_nothing_of_the_program_is_refused(source: str) -> None:
    with pytest.raises(NoCheckError):
        read_check(source, None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        10**50,
        -1.5,
        "é\ud800",
        [1, [2, (3, [4])]],
        (1,),
        {1: "a", (1, 2): [3], "tuple": 4},
        {1, 2},
        frozenset({1}),
        deque([1, 2]),
        b"\x00\xff",
        1 + 2j,
        float("inf"),
        [{"object": 1}],
    ],
)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    back = decode(json.loads(json.dumps(encode(value))))
    assert back == value
    assert type(back) is type(value)


def test_only_the_plain_value_of_a_subclass_comes_back() -> None:
    class Same(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    back = decode(json.loads(json.dumps(encode([Same(7), Counter("aab")]))))
    assert back == [7, {"a": 2, "b": 1}]
    assert [type(item) for item in back] == [int, dict]


def test_what_is_no_plain_value_does_not_pass() -> None:
    for thing in (object(), len, iter([]), range(3), {"a": object()}):
        with pytest.raises(NoValueError):
            encode(thing)
    with pytest.raises(NoValueError):
        decode({"object": 1})
    for broken in ({"tuple": [], "set": []}, {"exec": ["1"]}, {"set": [[1]]}):
        with pytest.raises((ValueError, KeyError, TypeError)):
            decode(broken)


def test_nodes_are_their_values() -> None:
    tree = nodes.tree_node([1, None, 2, 3])
    assert tree.right.left.val == 3
    assert encode(tree) == {"tree_node": [1, None, 2, 3]}
    back = decode(encode((tree, nodes.list_node([1, 2]), nodes.list_node([]))))
    assert nodes.is_same_tree(back[0], tree)
    assert nodes.list_values(back[1]) == [1, 2]
    assert back[2] is None
    assert not nodes.is_same_tree(nodes.tree_node([1, 2]), nodes.tree_node([1, None, 2]))
    circle = nodes.list_node([1, 2])
    circle.next.next = circle
    with pytest.raises(ValueError, match="circle"):
        encode(circle)


def test_messages_come_back_whole_or_not_at_all() -> None:
    stream = io.BytesIO()
    send(stream, b"", b"\x00" * 10, "é".encode())
    text = stream.getvalue()
    assert receive(io.BytesIO(text)) == [b"", b"\x00" * 10, "é".encode()]
    for cut in (0, 5, len(text) - 1):
        with pytest.raises(EOFError):
            receive(io.BytesIO(text[:cut]))


def run_filter(machine: str, number: int, argument: int, audit: int) -> int:
    """What the kernel's interpreter of such filters would return."""
    steps = list(struct.iter_unpack("<HBBI", system_call_filter(machine)))
    data = struct.pack("<iIQ6Q", number, audit, 0, argument, *[0] * 5)
    place = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[place]
        place += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            place += if_true if holds else if_false


ALLOWED, REFUSED, UNKNOWN_CALL = 0x7FFF0000, 0x00050001, 0x00050026


@pytest.mark.parametrize(
    ("machine", "audit", "number", "argument", "said"),
    [
        ("x86_64", 0xC000003E, 57, 0, REFUSED),  # fork
        ("x86_64", 0xC000003E, 58, 0, REFUSED),  # vfork
        ("x86_64", 0xC000003E, 56, 0x11, REFUSED),  # clone with SIGCHLD
        ("x86_64", 0xC000003E, 56, 0x3D0F00, ALLOWED),  # clone as pthread_create does
        ("x86_64", 0xC000003E, 435, 0, UNKNOWN_CALL),  # clone3
        ("x86_64", 0xC000003E, 41, 2, REFUSED),  # socket
        ("x86_64", 0xC000003E, 302, 0, ALLOWED),  # prlimit64 of itself
        ("x86_64", 0xC000003E, 302, 1, REFUSED),  # prlimit64 of another
        ("x86_64", 0xC000003E, 0x40000039, 0, REFUSED),  # fork of the x32 ABI
        ("x86_64", 0x40000003, 2, 0, REFUSED),  # fork of i386
        ("x86_64", 0xC000003E, 0, 0, ALLOWED),  # read
        ("x86_64", 0xC000003E, 231, 0, ALLOWED),  # exit_group
        ("aarch64", 0xC00000B7, 220, 0x11, REFUSED),
        ("aarch64", 0xC00000B7, 220, 0x3D0F00, ALLOWED),
        ("aarch64", 0xC00000B7, 198, 2, REFUSED),
        ("aarch64", 0xC00000B7, 261, 1, REFUSED),
        ("aarch64", 0xC00000B7, 63, 0, ALLOWED),
    ],
)
def test_the_filter_refuses_what_it_names(machine: str, audit: int, number: int, argument: int, said: int) -> None:
    assert run_filter(machine, number, argument, audit) == said


def test_no_filter_is_made_up_for_another_architecture() -> None:
    with pytest.raises(KeyError):
        system_call_filter("riscv64")
