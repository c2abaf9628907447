from __future__ import annotations

from pathlib import Path

import pytest

from elastic.contracts.prices import PRICES, read_price
from elastic.errors import DataError

ENTRY = """prices:
  mine: {currency: EUR, input: 1, cached: null, output: 2, source: a bill, date: 2026-02-03}
"""


def test_the_shipped_table_is_valid_and_says_where_it_is_from() -> None:
    price = read_price("deepseek-reasoner", Path(__file__).parents[2] / PRICES)
    assert (price.input, price.cached, price.output, price.currency) == (0.55, 0.14, 2.19, "USD")
    assert price.source.startswith("https://")


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(ENTRY, encoding="utf-8")
    assert read_price("mine", path).date.isoformat() == "2026-02-03"
    with pytest.raises(DataError, match=r"there is no price 'yours'\nRemedy: add it; known are mine"):
        read_price("yours", path)


@pytest.mark.parametrize(("old", "new"), [("input: 1", "input: -1"), (", source: a bill", ""), ("EUR", "euros")])
def test_an_impossible_price_is_refused_by_its_key(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(ENTRY.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=r"prices\.mine\.(input|source|currency)"):
        read_price("mine", path)
    with pytest.raises(DataError, match="no such file"):
        read_price("mine", tmp_path / "none.yaml")
