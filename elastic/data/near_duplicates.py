"""Near duplicates: pairs of questions whose runs of words have a Jaccard similarity over a threshold.

Candidates come from MinHash signatures in locality-sensitive hashing (Broder 1997; datasketch), and each is verified
by its exact similarity: hashing may miss a pair (under one in a hundred at the threshold), but it lists none that is
not one. Each source sets its own threshold and length of a run (data/sources/*.yaml). Sources without them, such as
generated worlds, whose problems differ in a digit, know exact equality alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elastic.contracts.sources import NearDuplicates

# Candidates are looked for from this much below a threshold on: 128 permutations then find over 99 % of the pairs at
# thresholds of 0.5 and more.
_SLACK = 0.1
_PERMUTATIONS = 128

Words = tuple[str, ...]


def runs_of(words: Words, length: int) -> frozenset[Words]:
    """The runs of `length` words; a shorter text is one run."""
    return frozenset(words[start : start + length] for start in range(max(1, len(words) - length + 1)))


def similarity(one: frozenset[Words], other: frozenset[Words]) -> float:
    """Jaccard similarity of two sets of runs."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


@dataclass(frozen=True)
class Pair:
    """Two different texts that are similar.

    Attributes:
        one, other: positions in the list of texts; `one` is the smaller.
        words: length of the runs that were compared.
        similarity: Jaccard, 0 to 1.
    """

    one: int
    other: int
    words: int
    similarity: float


def _pairs_of_length(texts: Sequence[Words], length: int, threshold: float) -> Iterator[Pair]:
    # datasketch imports scipy, and worlds whose sources know exact equality alone need neither.
    from datasketch import MinHash, MinHashLSH

    runs = [runs_of(words, length) for words in texts]
    signatures = MinHash.bulk(
        [[" ".join(run).encode() for run in sorted(each)] for each in runs], num_perm=_PERMUTATIONS
    )
    # A false candidate costs one exact comparison, a missed one a duplicate: so recall weighs more.
    index = MinHashLSH(threshold=max(threshold - _SLACK, threshold / 2), num_perm=_PERMUTATIONS, weights=(0.1, 0.9))
    for number, signature in enumerate(signatures):
        for earlier in sorted(index.query(signature)):
            value = similarity(runs[earlier], runs[number])
            if value >= threshold:
                yield Pair(earlier, number, length, value)
        index.insert(number, signature)


def similar_pairs(texts: Sequence[Words], rules: Sequence[NearDuplicates]) -> list[Pair]:
    """Similar pairs at every length of run that a rule names, down to its smallest threshold.

    Args:
        texts: different ones.
        rules: of the sources whose rows are compared.
    """
    thresholds: dict[int, float] = {}
    for rule in rules:
        thresholds[rule.words] = min(rule.threshold, thresholds.get(rule.words, 1.0))
    return [pair for length, least in sorted(thresholds.items()) for pair in _pairs_of_length(texts, length, least)]
