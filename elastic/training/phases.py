"""The two phases of training for brevity: length adaptation, then refinement at a steady length.

The field reports a quick fall of response length followed by a long stretch in which accuracy recovers (The Art of
Efficient Reasoning, arXiv 2602.20945). The turn is found as the best place to bend a line: two straight pieces that
meet there are fitted by least squares at every step, and the step with the smallest squared error wins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FEWEST = 8
# A bend must explain this share of what one straight line leaves over, or there is no second phase.
_WORTH = 0.5


def turning_step(steps: Sequence[int], lengths: Sequence[float]) -> int | None:
    """The step at which the course of mean lengths bends, or None where one straight line serves as well.

    Args:
        steps: of the log, rising.
        lengths: mean tokens of a response at each.
    """
    if len(steps) < _FEWEST:
        return None
    x, y = np.asarray(steps, dtype=float), np.asarray(lengths, dtype=float)

    def error(*columns: np.ndarray) -> float:
        design = np.stack([np.ones_like(x), *columns], axis=1)
        left, *_ = np.linalg.lstsq(design, y, rcond=None)
        return float(np.square(y - design @ left).sum())

    straight = error(x)
    inner = range(2, len(x) - 2)
    errors = [error(x, np.maximum(x - x[place], 0.0)) for place in inner]
    best = int(np.argmin(errors))
    if straight <= 1e-12 or errors[best] > (1 - _WORTH) * straight:
        return None
    return int(x[inner[best]])
