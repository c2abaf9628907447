"""Published figures as data: every file is whole, names sets and contradictions that exist, and keeps to its units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from elastic.budget import Budget
from elastic.contracts.reference import (
    CONTRADICTIONS,
    Published,
    load_contradictions,
    load_reference,
    published_figures,
)
from elastic.data.catalogue import load_source
from elastic.errors import DataError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/reference"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name != CONTRADICTIONS)


def figures(name: str) -> list[Published]:
    return list(published_figures(load_reference(FOLDER / f"{name}.yaml"), load_contradictions(FOLDER)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_gives_figures_with_their_source_and_contradictions(path: Path) -> None:
    found = figures(path.stem)
    assert found
    assert all(figure.source.startswith(load_reference(path).paper) for figure in found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sets_have_as_many_problems_as_the_catalogue_says(path: Path) -> None:
    for name, count in load_reference(path).sets.items():
        source = load_source(name, ROOT / "data/sources")
        assert source.rows == count, name


def test_known_figures() -> None:
    [e1] = [
        f
        for f in figures("e1_math")
        if (f.model, f.budget, f.measure) == ("E1-Math-1.5B", Budget(2048, 1024), "tokens")
    ]
    assert (e1.value, e1.problems, e1.n_problems, e1.protocol.samples) == (2650, "aime24", 30, 16)
    swaps = {f.setting: f.value for f in figures("component_swap")}
    assert swaps["solution from E1"] == 0.108
    last_four = [f for f in figures("fractured") if f.setting == "last 4 depths, m = 4" and f.problems == "aimo2"]
    assert {(f.measure, f.value) for f in last_four} == {("best_of_n", 0.7), ("majority", 0.6)}


def test_the_two_sources_of_the_base_at_half_a_k_contradict_each_other() -> None:
    card = [f for f in figures("e1_math") if (f.model, f.budget) == ("DeepScaleR-1.5B", Budget(512, 1024))]
    swap = [f for f in figures("component_swap") if f.setting == "both from the base"]
    assert {f.value for f in card if f.measure == "accuracy"} == {0.052}
    assert [f.value for f in swap] == [0.021]
    assert all("2.10" in "".join(f.contradictions) for f in [*card, *swap])


def test_means_over_the_five_sets_follow_from_their_rows() -> None:
    """Within a tenth of a point, but for what the paper's own rounding explains."""
    rows = [f for f in figures("fractured") if f.measure in ("best_of_n", "majority")]
    for mean in (f for f in rows if f.problems is None):
        setting = mean.setting.removesuffix(", mean of the five sets").removesuffix("mean of the five sets")
        same = [
            f for f in rows if f.problems and (f.model, f.measure, f.setting) == (mean.model, mean.measure, setting)
        ]
        assert sum(f.value for f in same) / 5 == pytest.approx(mean.value, abs=0.0011), (mean.measure, setting)


def test_half_of_aime25_says_that_it_is_half() -> None:
    aime25 = [f for f in figures("fractured") if f.problems == "aime25_I"]
    assert all(any("15 problems" in text for text in f.contradictions) for f in aime25)


MINE: dict[str, Any] = {
    "name": "mine",
    "paper": "p",
    "finding": "f",
    "sets": {"aime24": 30},
    "tables": [
        {
            "title": "t",
            "source": "s",
            "confidence": "paper",
            "problems": "aime24",
            "protocol": {"samples": 16, "temperature": 0.6, "top_p": None, "tokens": "not stated"},
            "rows": [{"model": "m", "budget": "1K+1K", "values": {"accuracy": 0.4}}],
        }
    ],
}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"values": {"accuracy": 41.0}}, "write 0.41 for 41.0"),
        ({"limit": 4096}, "a budget or a limit, not both"),
        ({"problems": "aime25"}, "sets has no aime25"),
        ({"values": {"acuracy": 0.4}}, "acuracy"),
    ],
)
def test_a_figure_in_the_wrong_unit_or_place_is_refused(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(MINE), encoding="utf-8")
    assert load_reference(path).name == "mine"
    [table] = MINE["tables"]
    changed = MINE | {"tables": [table | {"rows": [table["rows"][0] | row]}]}
    path.write_text(yaml.safe_dump(changed), encoding="utf-8")
    with pytest.raises(DataError, match=said) as caught:
        load_reference(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.yaml"):
        load_reference(tmp_path / "none.yaml")
    with pytest.raises(DataError, match=r"contradictions\.yaml"):
        load_contradictions(tmp_path)
