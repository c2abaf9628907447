"""Sampling in committed chunks: a killed run goes on after its last chunk and ends with the same frames.

Where chunks begin depends on the order of the problems and the chunk size alone, and a chunk is kept whatever came out
of it, so that resuming cannot bias a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from elastic.contracts.frames import StrictFrame, Traces, read_frame, write_frame
from elastic.contracts.records import read_json, write_json
from elastic.decoding.plan import Prompt
from elastic.engines.protocol import Progress

_TRACES = "traces"


@dataclass(frozen=True)
class Chunked:
    """All chunks together.

    Attributes:
        frames: by name, in the order of the problems.
        sampled_tokens: tokens drawn from the model, by interrupted runs too; shared ones count once.
        resumed_from: chunks that an earlier run had committed.
    """

    frames: dict[str, pl.DataFrame]
    sampled_tokens: int
    resumed_from: int

    @property
    def frame(self) -> pl.DataFrame:
        """The traces of `in_chunks`."""
        return self.frames[_TRACES]


class Pace:
    """How far sampling is and how fast, told in lines; several works in a row can share one.

    Args:
        chunks: that are left to sample, of all the works together.
        report: is told a line now and then.
        of: chunks of the works, those that are committed already among them.
    """

    def __init__(self, chunks: int, report: Callable[[str], None], *, of: int) -> None:
        self._left, self._report, self._of = chunks, report, of
        self._started = time.monotonic()
        self._done = self._tokens = 0
        self._seconds_left: float | None = None
        self._estimated = self._started
        self.label = ""

    def count(self, jobs: int, tokens: int) -> None:
        """Add the tokens that were sampled since the last call."""
        self._tokens += tokens
        now = time.monotonic()
        place = self._of - self._left + self._done
        rate = self._tokens / max(now - self._started, 1e-9)
        line = f"{self.label}chunk {place + 1} of {self._of}  {place / self._of:.0%} done  "
        line += f"{self._tokens:,} tokens  {rate:,.0f} tokens/s"
        if self._seconds_left is not None:
            line += f"  about {max(self._seconds_left - (now - self._estimated), 0):,.0f} s left"
        self._report(line)

    def committed(self) -> None:
        """A chunk is done."""
        self._done += 1
        self._estimated = time.monotonic()
        self._seconds_left = (self._estimated - self._started) * (self._left - self._done) / self._done


class Chunks:
    """The chunks of one work in its folder.

    Args:
        prompts: problems to sample.
        size: problems a chunk.
        folder: where chunks are committed; it must belong to these prompts and what is drawn for them alone.
        contracts: of the frames that a chunk is made of, by name.
    """

    def __init__(
        self, prompts: Sequence[Prompt], size: int, folder: Path, contracts: Mapping[str, type[StrictFrame]]
    ) -> None:
        self._folder, self._contracts = folder, contracts
        self._chunks = [prompts[start : start + size] for start in range(0, len(prompts), size)]

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def missing(self) -> list[int]:
        """Numbers of the chunks that are not committed: those whose last frame is not there."""
        last = [*self._contracts][-1]
        return [number for number in range(len(self)) if not self._path(number, last).exists()]

    def sample(self, draw: Callable[[Sequence[Prompt], Progress], Mapping[str, pl.DataFrame]], pace: Pace) -> Chunked:
        """Sample the chunks that are missing, and read all.

        Args:
            draw: samples one chunk, telling its progress, and gives a frame of each contract.
            pace: is told of tokens and chunks.

        Raises:
            DataError: a chunk breaks its contract, or one on disk cannot be read.
        """
        missing = self.missing
        for number in missing:
            tokens = 0

            def count(jobs: int, sampled: int) -> None:
                nonlocal tokens
                tokens += sampled
                pace.count(jobs, sampled)

            frames = draw(self._chunks[number], count)
            write_json(self._folder / f"chunk-{number:05d}.json", {"sampled_tokens": tokens})
            for name, contract in self._contracts.items():
                write_frame(contract, frames[name], self._path(number, name))
            pace.committed()
        return Chunked(
            frames={
                name: pl.concat(read_frame(contract, self._path(number, name)) for number in range(len(self)))
                for name, contract in self._contracts.items()
            },
            sampled_tokens=sum(
                read_json(self._folder / f"chunk-{number:05d}.json")["sampled_tokens"] for number in range(len(self))
            ),
            resumed_from=len(self) - len(missing),
        )

    def _path(self, number: int, name: str) -> Path:
        return self._folder / f"chunk-{number:05d}.{name}.parquet"


def in_chunks(
    prompts: Sequence[Prompt],
    size: int,
    folder: Path,
    draw: Callable[[Sequence[Prompt], Progress], pl.DataFrame],
    report: Callable[[str], None],
) -> Chunked:
    """Sample traces of `prompts` chunk by chunk, skipping the chunks that `folder` holds already.

    Args:
        prompts, size, folder: as for `Chunks`.
        draw: samples one chunk, telling its progress, and gives a frame of the contract Traces.
        report: is told a line of progress now and then.

    Raises:
        DataError: a chunk breaks its contract, or one on disk cannot be read.
    """
    chunks = Chunks(prompts, size, folder, {_TRACES: Traces})
    pace = Pace(len(chunks.missing), report, of=len(chunks))
    return chunks.sample(lambda chunk, progress: {_TRACES: draw(chunk, progress)}, pace)
