"""Which sequence each is read in, and which jobs are decoded together."""

from __future__ import annotations

import random

from elastic.budget import Budget
from elastic.engines.batches import batches
from elastic.engines.prefixes import longest_of
from elastic.engines.protocol import Job


def test_known_sequences() -> None:
    sequences = [(1, 2), (1, 2, 3), (1, 3), (), (1, 2, 3), (1,), (2,)]
    found = longest_of(sequences)
    assert [sequences[source] for source in found][:2] == [(1, 2, 3), (1, 2, 3)]
    assert found[1] == found[4] == found[0] == 1
    assert found[2] == 2
    assert found[6] == 6
    assert longest_of([]) == []


def test_every_sequence_is_a_prefix_of_its_source_and_no_source_of_another() -> None:
    rng = random.Random(0)
    for _ in range(200):
        sequences = [tuple(rng.randint(0, 1) for _ in range(rng.randint(0, 5))) for _ in range(rng.randint(1, 12))]
        found = longest_of(sequences)
        for sequence, source in zip(sequences, found, strict=True):
            assert sequences[source][: len(sequence)] == sequence
        for source in set(found):
            longer = [s for s in sequences if len(s) > len(sequences[source])]
            assert not any(s[: len(sequences[source])] == sequences[source] for s in longer)
            assert source == sequences.index(sequences[source])


def solve(prompt: int, length: int, solution: int = 4) -> Job:
    return Job.solve((prompt,), (7,) * length, solution, 0, closed="forced")


def test_a_path_stays_in_one_batch_and_apart_from_jobs_without_thinking() -> None:
    jobs = [solve(prompt, length) for length in (3, 1, 2) for prompt in (1, 2, 3)]
    jobs += [Job.separate((9,), Budget(2, solution), 0) for solution in (3, 1)]
    found = list(batches(dict(enumerate(jobs)), 7))
    assert found[0] == [10, 9]  # by limits
    assert [sorted({jobs[i].prompt_ids for i in batch}) for batch in found[1:]] == [[(1,), (2,)], [(3,)]]
    assert sorted(index for batch in found for index in batch) == list(range(len(jobs)))


def test_a_path_that_is_too_long_is_split_by_length() -> None:
    lengths = [5, 1, 4, 2, 3, 6]
    found = list(batches(dict(enumerate(solve(1, length) for length in lengths)), 4))
    assert [[lengths[i] for i in batch] for batch in found] == [[1, 2, 3, 4], [5, 6]]


def test_numbers_that_are_left_out_are_in_no_batch() -> None:
    assert list(batches({4: solve(1, 1), 2: solve(2, 1)}, 8)) == [[2, 4]]
