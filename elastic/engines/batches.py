"""Which jobs are decoded together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from elastic.engines.prefixes import longest_of
from elastic.engines.protocol import Job


def batches(jobs: Mapping[int, Job], size: int) -> Iterator[list[int]]:
    """Numbers of jobs in batches of up to `size`: of like limits and then like lengths, so that little is padding.

    Jobs that start from given thinking come apart from the others, each with those that share it.
    """

    def rank(number: int) -> tuple[int, int, int]:
        return jobs[number].wanted, jobs[number].given, number

    fresh = [[number] for number in sorted(jobs, key=rank) if not jobs[number].from_given]
    yield from _keep_together(fresh, size)
    given = [number for number, job in jobs.items() if job.from_given]
    sequences = [(*jobs[number].prompt_ids, *jobs[number].thinking) for number in given]
    paths = defaultdict(list)
    for number, source in zip(given, longest_of(sequences), strict=True):
        paths[source].append(number)
    # A path that is too long for a batch is split where its prefixes are of like lengths.
    ordered = [sorted(path, key=lambda number: (jobs[number].given, number)) for path in paths.values()]
    yield from _keep_together(sorted(ordered, key=lambda path: max(map(rank, path))), size)


def _keep_together(paths: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """Batches in order that split a path only where it is longer than a batch."""
    batch: list[int] = []
    for path in paths:
        for start in range(0, len(path), size):
            piece = path[start : start + size]
            if len(batch) + len(piece) > size:
                yield batch
                batch = []
            batch += piece
    if batch:
        yield batch
