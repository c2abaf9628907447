"""Params of the stage export."""

from __future__ import annotations

from elastic.contracts.params.common import Count, Strict


class ExportParams(Strict):
    """Attributes:
    name: name of the exported model, in its card.
    licence: of the exported weights.
    check_problems: validation problems whose greedy ids must equal those of the training checkpoint.
    """

    name: str
    licence: str
    check_problems: Count
