"""Random streams by name: every draw belongs to a stream, and a stream is a seed and a path of names.

A trace's stream depends on its problem and sample number alone, never on the batch it was decoded in or on what ran
before it. Interrupted work therefore resumes exactly, and two models sampled with the same seed share their random
numbers, which pairs their comparison.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream_seed(seed: int, *names: str | int) -> int:
    """A 64-bit seed for the stream `names` under the root `seed`."""
    digest = hashlib.sha256(repr((int(seed), *names)).encode()).digest()
    return int.from_bytes(digest[:8], "little")


def uniforms(key: int, count: int) -> np.ndarray:
    """The first `count` draws from U[0, 1) of the stream `key`; a longer call starts with the same draws."""
    return np.random.Generator(np.random.Philox(key=key)).random(count)
