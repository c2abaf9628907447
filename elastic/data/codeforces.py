"""The tables behind a rating on Codeforces, read from a folder that its user fills: none of them is ours to ship.

    problems.json            list of "1971A", ..., one a row of the benchmark, in its order
    ratings.json             object of rating -> number of humans who have it
    standings/1971.json      what the interface contest.standings of Codeforces answers
    rating_changes/1971.json what contest.ratingChanges answers

The first two are `metadata_cf.json` and `ratings_2024.json` of DeepCoder's public code; one pair of the others is
needed for each contest that `problems.json` names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from elastic.contracts.codeforces import CodeforcesTables, Contest, Standing
from elastic.contracts.records import read_json
from elastic.errors import DataError

_CODE = "https://github.com/SalesforceAIResearch/Elastic-Reasoning/blob/8871a3c7/scripts/deepcoder/benchmark/codeforces"
_INTERFACE = "https://codeforces.com/api"
_PROBLEM = re.compile(r"(\d+)([A-Z]\d*)")


def load_codeforces(folder: Path) -> CodeforcesTables:
    """Read all tables.

    Args:
        folder: as the module says.

    Raises:
        DataError: a file is missing, naming where it can be had; or is not of its form.
    """
    names = _read(folder / "problems.json", f"{_CODE}/metadata_cf.json")
    problems = {str(place): _problem(name, folder / "problems.json") for place, name in enumerate(names)}
    counts = _read(folder / "ratings.json", f"{_CODE}/ratings_2024.json")
    try:
        ratings = np.sort(np.repeat([float(rating) for rating in counts], [int(n) for n in counts.values()]))
    except (TypeError, ValueError, AttributeError) as error:
        raise _unreadable(folder / "ratings.json", error) from None
    contests = {contest: _contest(folder, contest) for contest in sorted({contest for contest, _ in problems.values()})}
    return CodeforcesTables(problems, contests, ratings)


def _problem(name: Any, path: Path) -> tuple[int, str]:
    match = _PROBLEM.fullmatch(str(name))
    if match is None:
        raise DataError(f"{name!r} is no problem", where=str(path), remedy="write contest and index, as in 1971A")
    return int(match.group(1)), match.group(2)


def _contest(folder: Path, contest: int) -> Contest:
    """The contest's problems, and those who stand both in its standings and among its changes of rating."""
    places = folder / "standings" / f"{contest}.json", folder / "rating_changes" / f"{contest}.json"
    standings = _read(places[0], f"{_INTERFACE}/contest.standings?contestId={contest}&showUnofficial=false")
    changes = _read(places[1], f"{_INTERFACE}/contest.ratingChanges?contestId={contest}")
    path = places[0]
    try:
        points = {problem["index"]: problem.get("points") for problem in standings["result"]["problems"]}
        rows = {row["party"]["members"][0]["handle"]: row for row in standings["result"]["rows"]}
        path = places[1]
        before = {change["handle"]: float(change["oldRating"]) for change in changes["result"]}
        path = places[0]
        humans = tuple(
            Standing(float(row["points"]), float(row["penalty"]), before[handle])
            for handle, row in rows.items()
            if handle in before
        )
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise _unreadable(path, error) from None
    return Contest(contest, points, humans)


def _read(path: Path, address: str) -> Any:
    if not path.is_file():
        raise DataError("no such file", where=str(path), remedy=f"download {address} and save it there")
    return read_json(path)


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(
        f"not of its form: {type(error).__name__} {error}",
        where=str(path),
        remedy="download it again; an answer of the interface that says FAILED holds no result",
    )
