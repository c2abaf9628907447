"""Drill of the grader `code`: reference programs must pass, and programs with one seeded mutation must not.

    ELASTIC_DATA_MIRROR=FOLDER python -m bench.mutations

Reads FOLDER/code/leetcode_train.json. Grades every reference program and prints the share that passes with each
failure; then mutates 200 passing ones, one mutation each, and prints the share that comes back wrong with each
survivor. Ends with 1 where that share is below 85 %.

A mutation is one of the usual operators (Offutt et al. 1996, "An experimental determination of sufficient mutant
operators"): a relational or arithmetic operator, a logical connector or an integer constant replaced, a condition
negated, a statement removed. Some mutants equal their program, and a few examples cannot tell all others apart: 100 %
is not to be had.
"""

from __future__ import annotations

import ast
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from elastic.answers.code import self_test
from elastic.answers.programs.trial import NoTestsError, Trial, try_program
from elastic.answers.sandbox import SandboxError
from elastic.contracts.code_tests import CodeTests
from elastic.data.code_formats import CodeProblem, leetcode

MIRROR = "ELASTIC_DATA_MIRROR"
FILE = Path("code", "leetcode_train.json")
MUTANTS = 200
WANTED = 0.85
SEED = 0

_RELATIONS: dict[type[ast.AST], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.AST], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.If, ast.Continue, ast.Break)


def mutated_nodes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node may be replaced by: the operator's name and the new node."""
    if isinstance(node, ast.Compare):
        for place, relation in enumerate(node.ops):
            for other in _RELATIONS[type(relation)]:
                yield (
                    "relation",
                    ast.Compare(node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators),
                )
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield "arithmetic", ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield "arithmetic", ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value)
    elif isinstance(node, ast.BoolOp):
        yield "connector", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (("constant", ast.Constant(node.value + step)) for step in (1, -1))
    elif isinstance(node, ast.If | ast.While):
        yield "condition", type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.IfExp):
        yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, _STATEMENTS) and not docstring:
        yield "statement removed", ast.Pass()


class _Replacing(ast.NodeTransformer):
    """Replaces one node; type hints are left alone."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def _places(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are run: type hints are not."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _places(child)


def mutate(program: str, stream: random.Random) -> tuple[str, str]:
    """The program with one mutation, drawn from all that it allows, and the mutation in words.

    Raises:
        ValueError: it allows none.
    """
    tree = ast.parse(program)
    options = [(node, name, new) for node in _places(tree) for name, new in mutated_nodes(node)]
    if not options:
        raise ValueError("the program allows no mutation")
    node, name, new = stream.choice(options)
    before, after = ast.unparse(node).partition("\n")[0], ast.unparse(new).partition("\n")[0]
    changed = _Replacing(node, new).visit(tree)
    return ast.unparse(ast.fix_missing_locations(changed)), f"{name}, line {node.lineno}: {before}  ->  {after}"


def tried(programs: list[tuple[str, CodeTests]], workers: int) -> list[Trial | str]:
    """What came of each program, or why it is an error."""

    def one(pair: tuple[str, CodeTests]) -> Trial | str:
        try:
            return try_program(*pair)
        except (NoTestsError, SandboxError) as error:
            return f"ERROR {type(error).__name__}: {error}"

    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(one, programs))


def passes(result: Trial | str) -> bool:
    """Whether all tests were passed."""
    return isinstance(result, Trial) and result.passed == result.total


def title(number: int, problem: CodeProblem) -> str:
    """A row by its number and the name of its method; problem texts are nobody's to print."""
    check = problem.tests.check or ""
    return f"row {number} ({check.rpartition('Solution().')[2].strip().rstrip(')')})"


def main() -> int:
    """Run the drill."""
    mirror = os.environ.get(MIRROR)
    if not mirror:
        print(f"skipped: {MIRROR} names no mirror")
        return 0
    self_test()
    rows = json.loads(Path(mirror, FILE).read_text(encoding="utf-8"))
    problems = [leetcode(row) for row in rows]
    workers = len(os.sched_getaffinity(0))

    started = time.perf_counter()
    results = tried([(problem.reference or "", problem.tests) for problem in problems], workers)
    seconds = time.perf_counter() - started
    good = [number for number, result in enumerate(results) if passes(result)]
    print(f"reference programs that pass: {len(good)} of {len(rows)} ({len(good) / len(rows):.1%}), {seconds:.0f} s")
    for number, result in enumerate(results):
        if not passes(result):
            print(f"  {title(number, problems[number])}: {result.fault if isinstance(result, Trial) else result}")

    stream = random.Random(SEED)
    mutants: list[tuple[int, str, str]] = []
    for number in stream.sample(good, len(good)):
        if len(mutants) == MUTANTS:
            break
        try:
            mutants.append((number, *mutate(problems[number].reference or "", stream)))
        except ValueError:
            continue
    judged = tried([(program, problems[number].tests) for number, program, _ in mutants], workers)
    wrong = sum(isinstance(result, Trial) and not passes(result) for result in judged)
    share = wrong / len(mutants)
    print(f"mutants that come back wrong: {wrong} of {len(mutants)} ({share:.1%}; wanted {WANTED:.0%})")
    operators: Counter[str] = Counter(what.partition(",")[0] for _, _, what in mutants)
    survived: Counter[str] = Counter()
    for (number, _, what), result in zip(mutants, judged, strict=True):
        if not isinstance(result, Trial) or passes(result):
            survived[what.partition(",")[0]] += 1
            verdict = "survives" if isinstance(result, Trial) else result
            print(f"  {title(number, problems[number])} {verdict}: {what}")
    print(
        "survivors by operator: "
        + ", ".join(f"{name} {survived[name]} of {n}" for name, n in sorted(operators.items()))
    )
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
