"""Rating and percentile on Codeforces from solved problems, as DeepCoder's public code has them (after CodeElo).

In each contest, the model's problems are scored like a human's: the points of a problem less 50 for every attempt
before the accepted one; under ICPC rules one a problem, and 10 penalty for each such attempt. That gives a place among
the humans. The contest's rating is the one whose owner is expected to come in at that place, where somebody rated q
beats somebody rated r with probability 1 / (1 + 10^((r - q) / 400)) (CodeElo, arXiv 2501.01257; Codeforces' own rule).
The model's rating is the mean over contests, its percentile the share of humans who are rated lower.

What this flatters, as published: no time passes, so that no points are lost to it; samples are attempts, and the first
accepted one counts; all divisions count.

Departures: the public code compares the expected place, 1 + the sum of probabilities, with the number of humans ahead,
which is one less than the model's place, and so rates it too high, most of all near the top; `faithful` does the same.
It skips contests with missing tables in silence; here they are an error, and contests with too few humans are named. It
cuts ratings to whole numbers and rounds percentiles to 0.1; here they stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.optimize import brentq

from elastic.contracts.codeforces import CodeforcesTables, Contest
from elastic.errors import DataError
from elastic.metrics.intervals import Interval, mean_interval

LEAST_HUMANS = 201
_WRONG_POINTS, _WRONG_PENALTY = 50.0, 10.0
_ABOVE_THE_BEST = 100.0


@dataclass(frozen=True)
class CodeforcesRating:
    """The rating of a model.

    Attributes:
        rating: mean over contests, with its interval over them.
        percentile: share of humans rated lower than its mean, 0 to 1.
        by_contest: rating in each.
        left_out: contests that have too few humans.
    """

    rating: Interval
    percentile: float
    by_contest: dict[int, float]
    left_out: tuple[int, ...]


def codeforces_rating(
    attempts: Mapping[str, Sequence[bool]],
    tables: CodeforcesTables,
    *,
    confidence: float,
    resamples: int,
    seed: int,
    faithful: bool = False,
    least_humans: int = LEAST_HUMANS,
) -> CodeforcesRating:
    """Rate a model.

    Args:
        attempts: by place in the benchmark ("0", ...), whether each sample solved the problem, in order. Every problem
            of the tables must be there.
        tables: contests and humans.
        confidence, resamples, seed: of the interval over contests.
        faithful: the public code's place, which is one too good.
        least_humans: rated participants that a contest must have.

    Raises:
        DataError: problems are missing or unknown, or no contest has enough humans.
    """
    if missing := sorted(set(tables.problems) ^ set(attempts), key=int):
        raise DataError(
            f"{len(missing)} problems stand either in the attempts or in problems.json, not in both: "
            f"{', '.join(missing[:5])}",
            where="codeforces",
            remedy="rate an evaluation of the whole benchmark codeforces, by the problems.json that belongs to it",
        )
    solved: dict[int, dict[str, Sequence[bool]]] = {}
    for place, (contest, index) in tables.problems.items():
        solved.setdefault(contest, {})[index] = attempts[place]
    enough = {name: contest for name, contest in tables.contests.items() if len(contest.standings) >= least_humans}
    if not enough:
        raise DataError(
            f"no contest has {least_humans} rated participants", where="codeforces", remedy="look at the standings"
        )
    by_contest = {name: contest_rating(solved[name], contest, faithful=faithful) for name, contest in enough.items()}
    rating = mean_interval(
        np.array(list(by_contest.values())), confidence=confidence, resamples=resamples, seed=seed, bounds=None
    )
    return CodeforcesRating(
        rating=rating,
        percentile=float(np.searchsorted(tables.ratings, rating.mean, side="left") / len(tables.ratings)),
        by_contest=by_contest,
        left_out=tuple(sorted(set(tables.contests) - set(enough))),
    )


def attempts_of(answers: pl.DataFrame, problems: pl.DataFrame) -> dict[str, list[bool]]:
    """The attempts of one cell of an evaluation, in the order of samples; what ended in a grader's error is no attempt.

    Args:
        answers: columns problem_id, sample and verdict.
        problems: columns problem_id and source_id, as the benchmark codeforces gives them.
    """
    placed = problems.select("problem_id", "source_id").join(
        answers.filter(pl.col("verdict") != "error"), on="problem_id", how="left"
    )
    found: dict[str, list[bool]] = {place: [] for place in placed["source_id"]}
    for place, verdict in placed.sort("sample").select("source_id", "verdict").drop_nulls().iter_rows():
        found[place].append(verdict == "correct")
    return found


def contest_score(attempts: Mapping[str, Sequence[bool]], contest: Contest) -> tuple[float, float]:
    """Points and penalty of attempts by problem index; problems that the contest does not have count nothing."""
    points = penalty = 0.0
    for index, most in contest.points.items():
        tries = list(attempts.get(index, ()))
        if True not in tries:
            continue
        wrong = tries.index(True)
        if most is None:
            points, penalty = points + 1, penalty + _WRONG_PENALTY * wrong
        else:
            points += max(0.0, most - _WRONG_POINTS * wrong)
    return points, penalty


def contest_rating(attempts: Mapping[str, Sequence[bool]], contest: Contest, *, faithful: bool = False) -> float:
    """The rating that is expected to come in where these attempts do; from 0 to 100 above the contest's best human.

    Args:
        attempts: by problem index, in order.
        contest: with at least one human. Who is level with the model counts as ahead of it.
        faithful: the public code's place, which is one too good.
    """
    points, penalty = contest_score(attempts, contest)
    ahead = sum(
        human.points > points or (human.points == points and human.penalty <= penalty) for human in contest.standings
    )
    ratings = np.array([human.rating for human in contest.standings])
    wanted = ahead - 1 if faithful else ahead

    def surplus(rating: float) -> float:
        """Humans expected ahead of `rating`, less those wanted."""
        return float((1 / (1 + 10 ** ((rating - ratings) / 400))).sum()) - wanted

    lowest, highest = 0.0, float(ratings.max()) + _ABOVE_THE_BEST
    if surplus(lowest) <= 0:
        return lowest
    return highest if surplus(highest) >= 0 else float(brentq(surplus, lowest, highest))
