"""Which sequences are prefixes of others: each is read once, in the longest that it is a prefix of.

Solutions from several depths of one thinking trace, and several draws at one depth, start from such sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def longest_of(sequences: Sequence[tuple[int, ...]]) -> list[int]:
    """For each sequence the number of one that it is a prefix of and that is itself a prefix of no longer one.

    Of equal sequences it is the first.
    """
    # In lexicographic order a sequence that is a prefix of any later one is a prefix of the next.
    order = sorted(range(len(sequences)), key=lambda i: (sequences[i], -i))
    found = list(range(len(sequences)))
    for here, after in reversed(list(pairwise(order))):
        length = len(sequences[here])
        if sequences[after][:length] == sequences[here]:
            found[here] = found[after]
    return found
