from __future__ import annotations

import ast
import os
import random
import shutil

import pytest

from bench import mutations
from bench.mutations import mutate, mutated_nodes


def all_mutants(expression: str) -> set[str]:
    node = ast.parse(expression).body[0]
    inner = node.value if isinstance(node, ast.Expr) else node
    return {ast.unparse(new) for _, new in mutated_nodes(inner)}


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a == b", {"a != b"}),
        ("a < b < c", {"a <= b < c", "a >= b < c", "a < b <= c", "a < b >= c"}),
        ("a + b", {"a - b"}),
        ("a // b", {"a * b"}),
        ("a and b", {"a or b"}),
        ("7", {"8", "6"}),
        ("True", set()),
        ("'7'", set()),
        ("a if b else c", {"a if not b else c"}),
        ("a += 1", {"a -= 1", "pass"}),
        ("return a", {"pass"}),
    ],
)
def test_mutations_of_a_node(source: str, mutants: set[str]) -> None:
    assert all_mutants(source) == mutants


def test_a_mutant_differs_in_one_place_and_follows_the_seed() -> None:
    program = 'def f(a: List[int], b: 3) -> 4:\n    """Docs."""\n    if a[0] < b:\n        return b\n    return a[1]\n'
    mutants = {mutate(program, random.Random(seed))[0] for seed in range(60)}
    plain = ast.unparse(ast.parse(program)).splitlines()
    for mutant in mutants:
        assert mutant != "\n".join(plain)
        assert mutant.splitlines()[:2] == plain[:2]
    assert len(mutants) > 8
    assert mutate(program, random.Random(1)) == mutate(program, random.Random(1))
    with pytest.raises(ValueError, match="no mutation"):
        mutate("import math", random.Random(0))


@pytest.mark.nightly
def test_the_drill_holds() -> None:
    if shutil.which("bwrap") is None or not os.environ.get(mutations.MIRROR):
        pytest.skip(f"needs bubblewrap, and {mutations.MIRROR} to name a mirror")
    assert mutations.main() == 0
