"""What a rating on Codeforces is computed from: contests with their human participants, and the ratings of humans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Standing:
    """One human participant of a contest.

    Attributes:
        points, penalty: as in the final standings; more points, then less penalty, is better.
        rating: before the contest.
    """

    points: float
    penalty: float
    rating: float


@dataclass(frozen=True)
class Contest:
    """One contest.

    Attributes:
        contest_id: of Codeforces.
        points: most points by problem index ("A", "D1"), None where a solved problem counts one and wrong attempts cost
            penalty (ICPC rules).
        standings: of those whose rating the contest changed.
    """

    contest_id: int
    points: dict[str, float | None]
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class CodeforcesTables:
    """All that is not the model's.

    Attributes:
        problems: contest id and problem index by the problem's place in the benchmark, from "0" on.
        contests: by contest id.
        ratings: of all rated humans, sorted, shape (n humans,).
    """

    problems: dict[str, tuple[int, str]]
    contests: dict[int, Contest]
    ratings: np.ndarray
