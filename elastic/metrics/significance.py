"""Whether differences over problems are more than chance, and the correction for how many of them are looked at.

The test is the two-sided sign-flip test (Fisher, The Design of Experiments, 1935); the correction is Holm's (1979).
"""

from __future__ import annotations

import math

import numpy as np


def sign_flip(differences: np.ndarray, flips: int, rng: np.random.Generator) -> float:
    """p of the two-sided sign-flip test: without an effect, either model could have been the one that did better.

    Args:
        differences: one a problem, shape (n problems,).
        flips: random assignments of signs; the smallest p is 1 / (flips + 1).
        rng: draws them.
    """
    signs = rng.choice(np.array([-1.0, 1.0]), size=(flips, len(differences)))
    as_far = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9  # equal sums may differ in rounding
    return float((as_far.sum() + 1) / (flips + 1))


def holm(chances: list[float], level: float) -> list[bool]:
    """Which of several tests hold when the chance of any false one is to stay below `level` (Holm, 1979).

    Args:
        chances: p of each test.
        level: 0.05 for 95%.
    """
    holds = [False] * len(chances)
    for rank, index in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        if chances[index] > level / (len(chances) - rank):
            break
        holds[index] = True
    return holds


def draws_for(tests: int, level: float, least: int) -> int:
    """Random draws a test needs so that its smallest p lies well below `level` over the number of tests.

    Args:
        tests: that are corrected together.
        level: 0.05 for 95%.
        least: draws even where fewer would do.
    """
    return max(least, math.ceil(10 * tests / level))
