from __future__ import annotations

import polars as pl
import pytest

from elastic.errors import DataError
from elastic.metrics.depths import at_depths, depth_count, evenly_spaced, last_depths, linear_weights


@pytest.mark.parametrize(
    ("count", "depths"),
    [(1, (16,)), (2, (8, 16)), (3, (5, 10, 16)), (4, (4, 8, 12, 16)), (6, (2, 4, 7, 10, 13, 16)), (16, range(1, 17))],
)
def test_even_depths_follow_the_published_rounding_and_hold_the_last(count: int, depths: tuple[int, ...]) -> None:
    assert evenly_spaced(16, count) == tuple(depths)


def test_every_number_of_depths_gives_as_many_different_ones() -> None:
    for depths in range(1, 20):
        for count in range(1, depths + 1):
            chosen = evenly_spaced(depths, count)
            assert len(set(chosen)) == count
            assert (min(chosen) >= 1, chosen[-1]) == (True, depths)


def test_last_depths_and_weights() -> None:
    assert last_depths(16, 4) == (13, 14, 15, 16)
    assert linear_weights(4) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert linear_weights(16).sum() == pytest.approx(1)
    with pytest.raises(DataError, match="5 of 4 depths"):
        last_depths(4, 5)


def test_depths_of_a_frame() -> None:
    frame = pl.DataFrame({"depth": [1, 2, 3, 4]})
    assert depth_count(frame) == 4
    assert depth_count(pl.DataFrame({"depth": [None]}, schema={"depth": pl.Int64})) == 1
    assert at_depths(frame, (2, 4))["depth"].to_list() == [2, 4]
