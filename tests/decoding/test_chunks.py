"""Chunks: what was committed is kept, what was not is sampled, and the outcome is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from elastic.budget import Budget
from elastic.contracts.frames import Traces, write_frame
from elastic.decoding.chunks import Pace, in_chunks
from elastic.decoding.frame import traces_frame
from elastic.decoding.plan import Prompt, Sampled
from elastic.engines.protocol import Progress
from elastic.errors import DataError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.trace import Trace

PROMPTS = [Prompt(f"p{number}", (2, number)) for number in range(7)]


class Drawer:
    """Gives every prompt a trace that tells its problem; stops before the chunk numbered `until`."""

    def __init__(self, tokenizer: Any, markers: Markers, until: int | None = None) -> None:
        self.prompter, self.markers, self.until = Prompter(tokenizer), markers, until
        self.chunks: list[list[str]] = []

    def __call__(self, chunk: Sequence[Prompt], progress: Progress) -> pl.DataFrame:
        if len(self.chunks) == self.until:
            raise KeyboardInterrupt
        self.chunks.append([prompt.problem_id for prompt in chunk])
        rows = [
            Sampled(p.problem_id, 0, "separate", Budget(2, 2), None, Trace(p.ids, p.ids, (9, 1), "forced", "eos"))
            for p in chunk
        ]
        progress(len(chunk), 10 * len(chunk))
        progress(len(chunk), 1)
        return traces_frame(rows, self.prompter, self.markers, split="test", model="base")


def test_a_killed_run_goes_on_after_its_last_chunk(tmp_path: Path, tiny_tokenizer: Any, tiny_markers: Markers) -> None:
    whole_folder, folder = tmp_path / "whole", tmp_path / "killed"
    lines: list[str] = []
    whole = in_chunks(PROMPTS, 3, whole_folder, Drawer(tiny_tokenizer, tiny_markers), lines.append)
    assert (whole.resumed_from, whole.sampled_tokens) == (0, 70 + 3)
    assert whole.frame["problem_id"].to_list() == [prompt.problem_id for prompt in PROMPTS]

    with pytest.raises(KeyboardInterrupt):
        in_chunks(PROMPTS, 3, folder, Drawer(tiny_tokenizer, tiny_markers, until=2), lines.append)
    drawer = Drawer(tiny_tokenizer, tiny_markers)
    resumed = in_chunks(PROMPTS, 3, folder, drawer, lines.append)
    assert drawer.chunks == [["p6"]]
    assert (resumed.resumed_from, resumed.sampled_tokens) == (2, whole.sampled_tokens)
    paths = [tmp_path / name for name in ("whole.parquet", "resumed.parquet")]
    for path, chunked in zip(paths, (whole, resumed), strict=True):
        write_frame(Traces, chunked.frame, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert any("chunk 2 of 3" in line and "tokens/s" in line and "s left" in line for line in lines)


def test_works_in_a_row_share_one_pace() -> None:
    lines: list[str] = []
    pace = Pace(3, lines.append, of=5)
    for label in ("one: ", "two: "):
        pace.label = label
        pace.count(4, 1000)
        pace.committed()
    pace.count(4, 1000)
    assert [line.partition("  ")[0] for line in lines] == [
        "one: chunk 3 of 5",
        "two: chunk 4 of 5",
        "two: chunk 5 of 5",
    ]
    assert ["40% done" in lines[0], "60% done" in lines[1], "80% done" in lines[2]] == [True] * 3
    assert ["s left" in line for line in lines] == [False, True, True]
    assert "  3,000 tokens" in lines[2]


def test_a_chunk_without_its_frame_is_sampled_again(tmp_path: Path, tiny_tokenizer: Any, tiny_markers: Markers) -> None:
    in_chunks(PROMPTS, 3, tmp_path, Drawer(tiny_tokenizer, tiny_markers), lambda line: None)
    (tmp_path / "chunk-00001.traces.parquet").unlink()
    drawer = Drawer(tiny_tokenizer, tiny_markers)
    assert in_chunks(PROMPTS, 3, tmp_path, drawer, lambda line: None).resumed_from == 2
    assert drawer.chunks == [["p3", "p4", "p5"]]


def test_a_damaged_chunk_is_named(tmp_path: Path, tiny_tokenizer: Any, tiny_markers: Markers) -> None:
    in_chunks(PROMPTS, 3, tmp_path, Drawer(tiny_tokenizer, tiny_markers), lambda line: None)
    path = tmp_path / "chunk-00002.traces.parquet"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"chunk-00002\.traces\.parquet"):
        in_chunks(PROMPTS, 3, tmp_path, Drawer(tiny_tokenizer, tiny_markers), lambda line: None)
