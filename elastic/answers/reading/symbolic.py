r"""The slow leaf judge: math-verify, and the worker that runs it.

math-verify parses LaTeX into sympy and compares symbolically. It may hang inside big-integer arithmetic, where no
signal of its own would reach it, and signals fail in threads: so it runs without its timeouts, in processes with a
limit of time and memory (`elastic.answers.pool`). Only its LaTeX parser is used; its reader of plain expressions goes
through Python's `eval`.

It sees single expressions only, never units, lists or words, which it would drop or merge. It rounds absolutely, so
that tiny numbers look equal: constants that it finds equal must also agree to a relative difference.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from elastic.answers.pool import Ask, serve
from elastic.answers.reading.judge import judge
from elastic.answers.reading.leaves import exact_leaf
from elastic.answers.reading.tokens import Tokens
from elastic.answers.verdict import Gold
from elastic.contracts.policy import Policy

_DIGITS = 30
_SIGNIFICANT, _EXACT = 1e-6, 1e-20


class MathVerify:
    """Compares two expressions by math-verify; loading takes seconds."""

    def __init__(self) -> None:
        from math_verify import LatexExtractionConfig, parse, verify

        # It warns that its own timeouts are off, as they must be.
        logging.getLogger("math_verify").setLevel(logging.ERROR)
        target = [LatexExtractionConfig(boxed_match_priority=0, try_extract_without_anchor=False)]

        def read(text: str) -> list[Any]:
            return parse(f"\\boxed{{{text}}}", target, extraction_mode="first_match", parsing_timeout=None)

        self._read, self._verify = read, verify
        self._read_gold = lru_cache(maxsize=256)(read)

    def __call__(self, answer: Tokens, gold: Tokens, policy: Policy) -> bool:
        """Whether one expression equals another; what cannot be read equals nothing."""
        wanted = self._read_gold(gold.joined())
        try:
            given = self._read(answer.joined())
            # The order matters: math-verify takes the gold first.
            equal = bool(self._verify(wanted, given, timeout_seconds=None))
        except (MemoryError, RecursionError):
            raise
        except Exception:
            # The answer made a library stumble: it is not readable as mathematics.
            return False
        return equal and not _only_rounded(given, wanted)


def _only_rounded(given: list[Any], wanted: list[Any]) -> bool:
    """Whether two constants differ after all: math-verify rounds decimals to six places and drops what is tiny."""
    from sympy import Expr, Float

    if not given or not wanted:
        return False
    a, b = given[0], wanted[0]
    if not isinstance(a, Expr) or not isinstance(b, Expr) or a.free_symbols or b.free_symbols:
        return False
    x, y = (value.evalf(_DIGITS) for value in (a, b))
    if not (x.is_number and y.is_number and x.is_finite and y.is_finite):
        return False
    allowed = _SIGNIFICANT if a.has(Float) or b.has(Float) else _EXACT
    return bool(abs(x - y) > allowed * max(abs(x), abs(y)))


def load() -> Ask:
    """What a worker answers: whether an answer equals a gold, each expression by exact rules or by math-verify."""
    slow = MathVerify()

    def leaf(answer: Tokens, gold: Tokens, policy: Policy) -> bool | None:
        settled = exact_leaf(answer, gold, policy)
        return slow(answer, gold, policy) if settled is None else settled

    def equals(request: Any) -> bool:
        answer, gold, policy, question = request
        return bool(judge(answer, Gold(gold, Policy.from_text(policy), question), leaf))

    # The first comparison builds the parser: it belongs to the start, not to the limits of somebody's answer.
    equals((r"\int x dx", "1", None, None))
    return equals


if __name__ == "__main__":
    serve(load)
