"""A small world: a question of k words is solved by every path from t = 8k on, if the solution has 8 tokens.

Below that each path guesses a different wrong answer, so that only finished problems agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

THINK, SOLUTION, PATHS = (8, 16, 24, 32), (4, 8), 2


def answer_row(problem: str, words: int, think: int, solution: int, sample: int) -> dict[str, Any]:
    solved = think >= 8 * words
    verdict = "no_answer" if solution < 8 else "correct" if solved else "wrong"
    return {
        "problem_id": problem,
        "sample": sample,
        "method": "separate",
        "think_budget": think,
        "solution_budget": solution,
        "n_think": min(think, 8 * words),
        "n_solution": min(solution, 6),
        "verdict": verdict,
        "answer": None if verdict == "no_answer" else f" {problem}" if solved else f"guess {sample}",
    }


@pytest.fixture
def world() -> Callable[[str, int], tuple[pl.DataFrame, dict[str, str]]]:
    """Answers and questions of `each` problems of each length of 1 to 4 words, named from `name`."""

    def build(name: str, each: int) -> tuple[pl.DataFrame, dict[str, str]]:
        lengths = {f"{name}{number:03}": number % 4 + 1 for number in range(4 * each)}
        rows = [
            answer_row(problem, words, think, solution, sample)
            for problem, words in lengths.items()
            for think in THINK
            for solution in SOLUTION
            for sample in range(PATHS)
        ]
        return pl.DataFrame(rows), {problem: " ".join(["add"] * words) for problem, words in lengths.items()}

    return build
