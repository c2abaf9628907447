"""A check source made ready: its asserts report one by one, and the names that it needs of the program are known."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from functools import lru_cache

from elastic.answers.programs.preamble import given_names, preamble

# Defined for every check in elastic/answers/programs/inside/bodies.py.
HELPERS = frozenset({"list_node", "tree_node", "is_same_list", "is_same_tree"})
_ASSERT = "_assert_"


class NoCheckError(ValueError):
    """A text that is no check source, or checks nothing of a program."""


@dataclass(frozen=True)
class Check:
    """A check source as the sandbox runs it.

    Attributes:
        source: Python, with `assert X` replaced by a call that reports it and goes on.
        preamble: imports that it leaves out.
        wanted: names that the program has to have.
        asserts: how many asserts stand in it; more may be executed, in loops.
    """

    source: str
    preamble: str
    wanted: tuple[str, ...]
    asserts: int


class _Reporting(ast.NodeTransformer):
    def __init__(self) -> None:
        self.asserts = 0

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.asserts += 1
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        text = ast.Constant(ast.unparse(node.test)[:300])
        call = ast.Call(ast.Name(_ASSERT, ast.Load()), [ast.Lambda(nothing, node.test), text], [])
        return ast.Expr(call)


@lru_cache(maxsize=64)
def read_check(source: str, entry: str | None) -> Check:
    """Make a check source ready.

    Only what the source itself leaves undefined is asked of the program, and nothing that Python, the imports of
    `elastic.answers.programs.preamble` or the helpers define: what compares must never be the program's.

    Args:
        source: runs after the program and raises unless that is right.
        entry: a name that is the program's even where a module of the standard library has it.

    Raises:
        NoCheckError: it is no Python, or needs nothing of the program.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoCheckError(f"the check source is no Python: {error}") from None
    used: set[str] = set()
    defined: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
    own = {entry.partition(".")[0]} if entry else set()
    wanted = (used - defined - set(dir(builtins)) - HELPERS - given_names()) | (own & used)
    if not wanted:
        raise NoCheckError("the check source uses nothing of the program")
    reporting = _Reporting()
    ready = ast.unparse(ast.fix_missing_locations(reporting.visit(tree)))
    return Check(ready, preamble(source, own), tuple(sorted(wanted)), reporting.asserts)
