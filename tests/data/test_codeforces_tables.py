"""The tables behind a rating on Codeforces: read as they are downloaded, and asked for by address where missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elastic.contracts.codeforces import Standing
from elastic.data.codeforces import load_codeforces
from elastic.errors import DataError

FILES: dict[str, Any] = {
    "problems.json": ["1971A", "1971D1"],
    "ratings.json": {"1500": 2, "-3": 1, "900": 1},
    "standings/1971.json": {
        "status": "OK",
        "result": {
            "problems": [{"index": "A", "points": 500.0}, {"index": "D1"}],
            "rows": [
                {"party": {"members": [{"handle": "ann"}]}, "points": 500.0, "penalty": 3},
                {"party": {"members": [{"handle": "unrated"}]}, "points": 400.0, "penalty": 0},
            ],
        },
    },
    "rating_changes/1971.json": {"status": "OK", "result": [{"handle": "ann", "oldRating": 1400, "newRating": 1410}]},
}


def fill(folder: Path, **changed: Any) -> Path:
    for name, value in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(changed.get(path.parent.name if "/" in name else path.stem, value)), "utf-8")
    return folder


def test_only_humans_with_a_rating_before_and_after_stand_in_a_contest(tmp_path: Path) -> None:
    tables = load_codeforces(fill(tmp_path))
    assert tables.problems == {"0": (1971, "A"), "1": (1971, "D1")}
    assert tables.contests[1971].points == {"A": 500.0, "D1": None}
    assert tables.contests[1971].standings == (Standing(500.0, 3.0, 1400.0),)
    assert tables.ratings.tolist() == [-3.0, 900.0, 1500.0, 1500.0]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("problems.json", "metadata_cf.json"),
        ("ratings.json", "ratings_2024.json"),
        ("standings/1971.json", "contest.standings?contestId=1971"),
        ("rating_changes/1971.json", "contest.ratingChanges?contestId=1971"),
    ],
)
def test_a_missing_file_is_asked_for_by_address(tmp_path: Path, name: str, address: str) -> None:
    (fill(tmp_path) / name).unlink()
    with pytest.raises(DataError) as caught:
        load_codeforces(tmp_path)
    assert str(tmp_path / name) in str(caught.value)
    assert address in str(caught.value)
    assert "save it there" in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "file"),
    [
        ({"problems": ["A1971"]}, "problems.json"),
        ({"ratings": {"high": 1}}, "ratings.json"),
        ({"standings": {"status": "FAILED"}}, "standings/1971.json"),
        ({"rating_changes": {"status": "FAILED"}}, "rating_changes/1971.json"),
    ],
)
def test_a_file_of_another_form_is_named(tmp_path: Path, changed: dict[str, Any], file: str) -> None:
    with pytest.raises(DataError) as caught:
        load_codeforces(fill(tmp_path, **changed))
    assert str(tmp_path / file) in str(caught.value)
