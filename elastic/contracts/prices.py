"""Prices of tokens, by name: what data/prices.yaml, which anybody may edit, says."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from elastic.contracts.params.common import Strict, read_params, validate
from elastic.errors import DataError, ParamsError

PRICES = Path("data/prices.yaml")
PerMillion = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Strict):
    """What a million tokens cost.

    Attributes:
        currency: of all three.
        input: tokens that the model reads anew.
        cached: tokens found in a prefix cache; null where they cost as much as others.
        output: sampled tokens, thinking among them.
        source: where the figures are from.
        date: from which they hold.
    """

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    input: PerMillion
    cached: PerMillion | None
    output: PerMillion
    source: Annotated[str, Field(min_length=1)]
    date: datetime.date


class PriceTable(Strict):
    """All prices that are known, by name."""

    prices: dict[str, Price]


def read_price(name: str, path: Path = PRICES) -> Price:
    """The price called `name`.

    Raises:
        DataError: the file is missing or breaks its contract, or has no such price; names file and keys.
    """
    if not path.exists():
        raise DataError("no such file", where=str(path), remedy=f"write it like {PRICES} of the repository")
    try:
        table = validate(PriceTable, read_params(path), where="")
    except ParamsError as error:
        raise DataError(error.what, where=str(path), remedy=f"edit {path} at the keys named above") from None
    if name not in table.prices:
        known = ", ".join(sorted(table.prices)) or "none"
        raise DataError(f"there is no price {name!r}", where=str(path), remedy=f"add it; known are {known}")
    return table.prices[name]
