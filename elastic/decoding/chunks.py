"""Sampling in committed chunks: a killed run goes on after its last chunk and ends with the same frame.

Where chunks begin depends on the order of the problems and the chunk size alone, and a chunk is kept whatever came out
of it, so that resuming cannot bias a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from elastic.contracts.frames import Traces, read_frame, write_frame
from elastic.contracts.records import read_json, write_json
from elastic.decoding.plan import Prompt
from elastic.engines.protocol import Progress


@dataclass(frozen=True)
class Chunked:
    """All chunks together.

    Attributes:
        frame: their traces (contract Traces), in the order of the problems.
        sampled_tokens: tokens drawn from the model, by interrupted runs too; shared ones count once.
        resumed_from: chunks that an earlier run had committed.
    """

    frame: pl.DataFrame
    sampled_tokens: int
    resumed_from: int


def in_chunks(
    prompts: Sequence[Prompt],
    size: int,
    folder: Path,
    draw: Callable[[Sequence[Prompt], Progress], pl.DataFrame],
    report: Callable[[str], None],
) -> Chunked:
    """Sample `prompts` chunk by chunk, skipping the chunks that `folder` holds already.

    Args:
        prompts: problems to sample.
        size: problems a chunk.
        folder: where chunks are committed; it must belong to these prompts and this `draw` alone.
        draw: samples one chunk, telling its progress, and gives a frame of the contract Traces.
        report: is told a line of progress now and then.

    Raises:
        DataError: a chunk breaks its contract, or one on disk cannot be read.
    """
    chunks = [prompts[start : start + size] for start in range(0, len(prompts), size)]
    paths = [folder / f"chunk-{number:05d}.parquet" for number in range(len(chunks))]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    meter = _Meter(len(chunks), report)
    for done, number in enumerate(missing):
        meter.start(number, done, len(missing))
        frame = draw(chunks[number], meter.count)
        # The count is written first: a chunk is committed once its frame is there.
        write_json(_count_path(paths[number]), {"sampled_tokens": meter.chunk_tokens})
        write_frame(Traces, frame, paths[number])
    return Chunked(
        frame=pl.concat([read_frame(Traces, path) for path in paths]),
        sampled_tokens=sum(read_json(_count_path(path))["sampled_tokens"] for path in paths),
        resumed_from=len(chunks) - len(missing),
    )


def _count_path(path: Path) -> Path:
    return path.with_suffix(".json")


class _Meter:
    """Counts tokens and turns them into lines of progress."""

    def __init__(self, chunks: int, report: Callable[[str], None]) -> None:
        self.chunks, self.report = chunks, report
        self.started = time.monotonic()
        self.tokens = self.chunk_tokens = 0

    def start(self, number: int, done: int, wanted: int) -> None:
        """Begin chunk `number`, after `done` of the `wanted` chunks of this run."""
        elapsed = time.monotonic() - self.started
        self.number, self.chunk_tokens = number, 0
        self.expected = elapsed * wanted / done if done else None

    def count(self, jobs: int, tokens: int) -> None:
        """Add what was sampled since the last call."""
        self.tokens += tokens
        self.chunk_tokens += tokens
        elapsed = time.monotonic() - self.started
        line = (
            f"chunk {self.number + 1} of {self.chunks}  {self.tokens:,} tokens  {self.tokens / elapsed:,.0f} tokens/s"
        )
        if self.expected is not None:
            line += f"  about {max(self.expected - elapsed, 0):,.0f} s left"
        self.report(line)
