"""Similar pairs: similarities worked out by hand, and what hashing finds against every pair compared."""

from __future__ import annotations

from itertools import combinations
from random import Random

from elastic.contracts.sources import NearDuplicates
from elastic.data.near_duplicates import Pair, runs_of, similar_pairs, similarity


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_runs_and_similarity() -> None:
    assert runs_of(_words("a b c a b"), 2) == {("a", "b"), ("b", "c"), ("c", "a")}
    assert runs_of(_words("a b"), 3) == {("a", "b")}
    assert similarity(runs_of(_words("a b c d"), 2), runs_of(_words("a b c e"), 2)) == 2 / 4


def test_each_length_of_run_lists_its_own_pairs() -> None:
    """Five of seven runs of two words are shared, four of eight runs of three."""
    texts = [_words("a b c d e f g"), _words("a b c d e f h"), _words("p q r s t u v")]
    rules = [NearDuplicates(threshold=0.7, words=2), NearDuplicates(threshold=0.5, words=3)]
    assert similar_pairs(texts, rules) == [Pair(0, 1, 2, 5 / 7), Pair(0, 1, 3, 4 / 6)]
    assert similar_pairs(texts, [NearDuplicates(threshold=0.72, words=2)]) == []
    assert similar_pairs([], rules) == []


def test_hashing_finds_what_comparing_every_pair_finds() -> None:
    rng = Random(3)
    texts = [tuple(rng.choice("abcdefghijklmnopqrstuvwxyz") * 3 for _ in range(30)) for _ in range(40)]
    for text in list(texts):
        changed = list(text)
        for place in rng.sample(range(30), rng.randint(1, 3)):
            changed[place] = "new"
        texts.append(tuple(changed))
    rule = NearDuplicates(threshold=0.6, words=3)
    runs = [runs_of(text, 3) for text in texts]
    all_pairs = {
        (one, other): similarity(runs[one], runs[other])
        for one, other in combinations(range(len(texts)), 2)
        if similarity(runs[one], runs[other]) >= 0.6
    }
    found = {(pair.one, pair.other): pair.similarity for pair in similar_pairs(texts, [rule])}
    assert len(all_pairs) > 20
    assert found == all_pairs
