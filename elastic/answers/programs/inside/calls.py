"""A program whose functions are called: once with given arguments, or by a check in another process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from .nodes import is_same_list, is_same_tree, list_node, tree_node
from .remote import Channel, serve
from .script import load
from .values import NoValueError

Names = dict[str, Any]

_HELPERS = {helper.__name__: helper for helper in (list_node, tree_node, is_same_list, is_same_tree)}


def call(source: str, names: Names, entry: str, arguments: str, result: BinaryIO) -> None:
    """Call a program's function and write the JSON of what it returns.

    Args:
        source: the program.
        names: what its globals start with.
        entry: name of the function; as LiveCodeBench has it, it is a method of the class Solution where there is one.
        arguments: JSON of a list.
        result: where to.
    """
    found = load(source, names, "solution")
    name = entry.rpartition(".")[2]
    solution = found.get("Solution")
    function = found[name] if solution is None else getattr(solution(), name)
    text = json.dumps(function(*json.loads(arguments)), default=_plain)
    result.write(text.encode())
    result.flush()
    os._exit(0)


def _plain(value: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
        return value.tolist()
    raise NoValueError(f"a {type(value).__name__} is no JSON")


def answer(source: str, names: Names, requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve a program's names to its checker."""
    serve(load(source, names, "solution"), requests, replies)
    os._exit(0)


def check(
    source: str, names: Names, wanted: list[str], requests: BinaryIO, replies: BinaryIO, report: BinaryIO
) -> None:
    """Run a check source against a served program.

    Its asserts are calls of `_assert_` by now (elastic/answers/programs/checks.py). The report has a line for each:
    `pass`, or `fail` and what failed; then `end` and the number of calls into the program.

    Args:
        source: the check source.
        names: what its globals start with.
        wanted: names that the program must have.
        requests, replies: pipes to and from the program.
        report: pipe to the runner.
    """
    channel = Channel(requests, replies)

    def say(line: str) -> None:
        report.write(line.encode("ascii", "backslashreplace").replace(b"\n", b" ")[:400] + b"\n")
        report.flush()

    def judge(claim: Callable[[], Any], text: str) -> None:
        try:
            good = bool(claim())
        except Exception as error:
            say(f"fail {type(error).__name__}: {error}; {text}")
        else:
            say("pass" if good else f"fail {text}")

    try:
        found = {name: channel.find(name) for name in wanted}
        load(source, names | _HELPERS | found | {"_assert_": judge}, "checker")
    except BaseException as error:
        say(f"fail {type(error).__name__}: {error}")
    say(f"end {channel.calls}")
    os._exit(0)
