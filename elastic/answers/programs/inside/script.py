"""A program as a script, and its globals.

Programs are compiled in their own process and not in the runner: a source can end the interpreter that compiles it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECURSION = 50_000  # as LiveCodeBench has it


def load(source: str, names: dict[str, Any], module: str) -> dict[str, Any]:
    """The globals that a program leaves when it has run as `module`.

    Random numbers come from a fixed seed, so that a verdict does not change from run to run.

    Args:
        source: the program.
        names: what its globals start with.
        module: its name.
    """
    sys.setrecursionlimit(RECURSION)
    # Judges have no limit on the digits of an integer, or had none when their solutions were written.
    sys.set_int_max_str_digits(0)
    if "random" in sys.modules:
        sys.modules["random"].seed(0)
    made = type(sys)(module)
    made.__dict__.update(names)
    sys.modules[module] = made
    exec(compile(source, "program.py", "exec"), made.__dict__)
    return made.__dict__


def run_script(source: str, names: dict[str, Any]) -> None:
    """Run a program: standard input, standard output, exit status."""
    sys.argv = ["program.py"]
    load(source, names, "__main__")
