"""Findings: what the report says of the evidence, computed once for page, table and summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastic.metrics.log_linear import LogLinear
from elastic.reporting.comparisons import Paired, log_linear_fits, round_differences, separate_minus_truncate
from elastic.reporting.evidence import Evidence
from elastic.reporting.headline import Headline, build_headline


@dataclass(frozen=True)
class Findings:
    """What was found on the test split.

    Attributes:
        headline: the result.
        rounds: each round against its `prev` and against base, with the correction for their number.
        cut: separate budgets minus plain truncation at equal totals, by model.
        fits: the log-linear fit of each model, or None.
    """

    headline: Headline
    rounds: Sequence[Paired]
    cut: Mapping[str, Sequence[Paired]]
    fits: Mapping[str, LogLinear | None]


def find(evidence: Evidence) -> Findings:
    """Compute everything that the report states."""
    rounds = round_differences(evidence)
    return Findings(
        build_headline(evidence, rounds), rounds, separate_minus_truncate(evidence), log_linear_fits(evidence)
    )
