"""Params of the stage report."""

from __future__ import annotations

from elastic.contracts.params.common import Count, Strict


class ReportParams(Strict):
    """Attributes:
    title: of the page.
    examples: example traces a kind (natural, forced, truncated).
    """

    title: str
    examples: Count
