"""Greedy traces that may differ where the model has two all but equal logits, as they do in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from elastic.markers import Markers
from elastic.trace import Trace

TIE = 1e-4


def ids_of(trace: Trace, markers: Markers) -> list[int]:
    return [*trace.prompt_ids, *trace.completion_ids(markers.close_id)]


def assert_greedy_equal(model: Any, ours: Sequence[Trace], theirs: Sequence[Trace], markers: Markers) -> None:
    """Equal traces, or a first difference where the model has two all but equal logits."""
    for one, other in zip(ours, theirs, strict=True):
        if one == other:
            continue
        first, second = ids_of(one, markers), ids_of(other, markers)
        place = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
        with torch.inference_mode():
            logits = model(torch.tensor([first[:place]])).logits[0, -1]
        assert abs(logits[first[place]] - logits[second[place]]) < TIE, (one, other)
