"""Whether a phase that its budget cut was going round in circles.

Published repetition checks (Laser-DE's, `elastic/rewards/laser_de.py`) ask whether anything stands twice; a model that
checks itself repeats without being lost. Here a loop is what fills the end of a phase: at least half of the tokens in
its last quarter lie in 5-grams that stand 4 or more times in the phase. Exact repetition is not asked for, because a
sampled loop varies a word now and then.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_GRAM, _TIMES = 5, 4
_TAIL, _FILLED = 0.25, 0.5


def loops(ids: Sequence[int]) -> bool:
    """Whether the end of a phase repeats what stands in it again and again.

    Args:
        ids: of the phase, shape (L,).
    """
    if len(ids) < _GRAM + _TIMES - 1:
        return False
    grams = np.lib.stride_tricks.sliding_window_view(np.asarray(ids), _GRAM)
    _, kinds, counts = np.unique(grams, axis=0, return_inverse=True, return_counts=True)
    often = counts[kinds] >= _TIMES
    within = np.convolve(often, np.ones(_GRAM)) > 0
    return bool(within[-max(1, int(_TAIL * len(ids))) :].mean() >= _FILLED)
