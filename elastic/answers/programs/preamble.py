"""The imports that a program may leave out, as public evaluators give them (LiveCodeBench's lcb_runner, DeepCoder).

They star-import two dozen modules before each program. Here a program gets the names that its text holds, which is the
same to it and starts faster. A name that is also a built-in stays the built-in.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Container
from functools import cache
from importlib import import_module

# LiveCodeBench's order, but for typing, which has a Counter too; of equal names the last one counts.
_MODULES = (
    *("typing", "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("fractions", "decimal", "itertools", "functools", "operator", "json"),
)
_BARE_MODULES = frozenset((*_MODULES, "sys", "os", "io", "time"))
# The shell's own exit and quit are not there where the site module is not.
_OTHERS = {
    "exit": "from sys import exit",
    "quit": "from sys import exit as quit",
    "setrecursionlimit": "from sys import setrecursionlimit",
    "maxsize": "from sys import maxsize",
    "stdin": "from sys import stdin",
    "stdout": "from sys import stdout",
    "StringIO": "from io import StringIO",
    "BytesIO": "from io import BytesIO",
    "commonprefix": "from os.path import commonprefix",
}
_WORD = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_]\w*)(?P<dotted>\s*\.)?")


@cache
def _names() -> dict[str, str]:
    """Import statements by the name that they give."""
    found = {}
    for module_name in _MODULES:
        module = import_module(module_name)
        for name in getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]:
            if not hasattr(builtins, name) or name in ("exit", "quit"):
                found[name] = f"from {module_name} import {name}"
    return found | _OTHERS


def given_names() -> frozenset[str]:
    """Every name that a program may leave the import of out."""
    return frozenset(_names()) | _BARE_MODULES


def preamble(source: str, own: Container[str] = ()) -> str:
    """Import statements for the names that `source` holds, without those in `own`.

    A name of a module and of something in it (`bisect`, `copy`) is the module where a dot follows it anywhere.
    """
    lines: dict[str, None] = {}
    words: dict[str, bool] = {}
    for word in _WORD.finditer(source):
        words[word["name"]] = words.get(word["name"], False) or bool(word["dotted"])
    known = _names()
    for name, dotted in sorted(words.items()):
        if name in own:
            continue
        if name in _BARE_MODULES and (dotted or name not in known):
            lines[f"import {name}"] = None
        elif name in known:
            lines[known[name]] = None
    return "\n".join(lines)
