"""Fractured runs made by hand or by chance, for tests of what is measured on them."""

from __future__ import annotations

import numpy as np
import polars as pl

WORDS = {"c": "correct", "w": "wrong", "n": "no_answer", "t": "timeout", "e": "error"}


def run_of(**problems: list[list[str]]) -> pl.DataFrame:
    """Answers of a run: a list of paths a problem, a text of draws a depth; a letter of WORDS an answer.

    Thinking at depth d of a path is 10 d tokens, every solution 4; correct answers are "7", others their own letter.
    """
    rows = [
        {
            "problem_id": problem,
            "sample": sample,
            "depth": depth,
            "draw": draw,
            "n_think": 10 * depth,
            "n_solution": 4,
            "verdict": WORDS[letter],
            "answer": {"c": "7", "n": None}.get(letter, letter),
        }
        for problem, paths in problems.items()
        for sample, depths in enumerate(paths)
        for depth, draws in enumerate(depths, start=1)
        for draw, letter in enumerate(draws)
    ]
    return pl.DataFrame(rows)


def random_run(
    problems: int, paths: int, depths: int, draws: int, *, seed: int, answers: int = 5, errors: float = 0.0
) -> pl.DataFrame:
    """A run in which problems differ in difficulty and deep answers are better; answer "0" is the right one."""
    rng = np.random.default_rng(seed)
    shape = problems, paths, depths, draws
    place = np.indices(shape).reshape(4, -1)
    chance = rng.random(problems)[place[0]] * (0.4 + 0.6 * (place[2] + 1) / depths)
    answer = np.where(rng.random(place.shape[1]) < chance, 0, rng.integers(1, answers, place.shape[1]))
    length = rng.integers(40, 120, (problems, paths))
    verdict = np.where(answer == 0, "correct", "wrong")
    verdict = np.where(rng.random(len(verdict)) < errors, "error", verdict)
    return pl.DataFrame(
        {
            "problem_id": [f"{number:04d}" for number in place[0]],
            "sample": place[1],
            "depth": place[2] + 1,
            "draw": place[3],
            "n_think": length[place[0], place[1]] * (place[2] + 1) // depths,
            "n_solution": rng.integers(3, 9, place.shape[1]),
            "verdict": verdict,
            "answer": answer.astype(str),
            "logprob": np.round(-rng.random(place.shape[1]) + 0.3 * (answer == 0) - 0.3, 1),
        }
    )
