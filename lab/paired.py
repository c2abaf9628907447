"""Paired differences of one question, corrected together.

A section asks one question and corrects for the number of differences that it looks at
(elastic/metrics/significance.py); what does not hold after that is not claimed.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from elastic.errors import DataError
from elastic.metrics.intervals import Interval, paired_difference
from elastic.metrics.significance import draws_for, holm, sign_flip
from elastic.seeding import stream_seed
from lab.analysis import Measured
from lab.analysis_params import AnalyseParams


@dataclass(frozen=True)
class Difference:
    """One value minus another over the same problems.

    Attributes:
        value: its mean and interval; the interval is of this difference alone.
        holds: whether it is more than chance, corrected for all differences of the family.
        n_problems: pairs.
    """

    value: Interval
    holds: bool
    n_problems: int

    @property
    def entry(self) -> Measured:
        """As an entry of a table."""
        return Measured(value=self.value.mean, low=self.value.low, high=self.value.high, holds=self.holds)

    @property
    def better(self) -> bool:
        """Whether it holds and is above 0."""
        return self.holds and self.value.mean > 0

    @property
    def worse(self) -> bool:
        """Whether it holds and is below 0."""
        return self.holds and self.value.mean < 0


@dataclass
class Family:
    """Differences that are corrected together.

    Args:
        name: names the random streams.
        params: intervals and tests.
    """

    name: str
    params: AnalyseParams
    _values: dict[Hashable, tuple[np.ndarray, np.ndarray, tuple[float, float] | None]] = field(default_factory=dict)

    def add(
        self,
        key: Hashable,
        values: pl.DataFrame,
        control: pl.DataFrame,
        column: str = "value",
        *,
        bounds: tuple[float, float] | None = (-1.0, 1.0),
    ) -> None:
        """Ask for `values` minus `control`.

        Args:
            key: of the difference in `corrected`.
            values, control: frames with problem_id and `column`; problems that both have count.
            column: what is compared.
            bounds: what a difference can be; None for tokens.

        Raises:
            DataError: the two share no problem.
        """
        pairs = values.select("problem_id", column).join(
            control.select("problem_id", pl.col(column).alias("control")), on="problem_id", validate="1:1"
        )
        if pairs.is_empty():
            raise DataError("no problem was graded on both sides", where=f"{self.name}: {key}")
        ordered = pairs.sort("problem_id")
        self._values[key] = ordered[column].to_numpy(), ordered["control"].to_numpy(), bounds

    def corrected(self) -> dict[Hashable, Difference]:
        """All differences, by key, in the order they were asked for."""
        level = 1 - self.params.confidence
        draws = draws_for(len(self._values), level, self.params.resamples)
        chances = [
            sign_flip(values - control, draws, np.random.default_rng(self._seed("sign-flip", key)))
            for key, (values, control, _) in self._values.items()
        ]
        found = {}
        for (key, (values, control, bounds)), holds in zip(self._values.items(), holm(chances, level), strict=True):
            interval = paired_difference(
                values,
                control,
                confidence=self.params.confidence,
                resamples=self.params.resamples,
                seed=self._seed("interval", key),
                bounds=bounds,
            )
            found[key] = Difference(interval, holds, len(values))
        return found

    def _seed(self, use: str, key: Hashable) -> int:
        return stream_seed(self.params.seed, self.name, use, str(key))
