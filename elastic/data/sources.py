"""Where problems come from: worlds that generate them, and files that hold them.

Every source gives rows for the frame Collected (elastic/contracts/frames.py), as they came: nothing is normalised or
left out here. Generated worlds come through reasoning-gym's dataset interface.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reasoning_gym import create_dataset
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, register_dataset

from elastic.contracts.params.collect import FilesSource, GeneratedSource, Source
from elastic.data.chains import ChainsConfig, ChainsDataset
from elastic.data.files import read_problem_file
from elastic.errors import DataError, ParamsError

CHAINS = "elastic_chains"
if CHAINS not in DATASETS:
    register_dataset(CHAINS, ChainsDataset, ChainsConfig)


def _dataset(source: GeneratedSource) -> ProceduralDataset:
    where = f"collect.sources.{source.name}"
    if source.dataset not in DATASETS:
        raise ParamsError(
            f"{source.dataset!r} is no dataset of reasoning-gym",
            where=f"{where}.dataset",
            remedy=f"use {CHAINS}, or a name that reasoning_gym.factory.DATASETS lists",
        )
    config = DATASETS[source.dataset][1]
    known = {field.name for field in dataclasses.fields(config)} - {"seed", "size"}
    if unknown := sorted(set(source.config) - known):
        raise ParamsError(
            f"{source.dataset} has no key {', '.join(unknown)}",
            where=f"{where}.config",
            remedy=f"use {', '.join(sorted(known))}; seed and rows stand in the source itself",
        )
    try:
        return create_dataset(source.dataset, seed=source.seed, size=source.rows, **source.config)
    except (AssertionError, TypeError, ValueError) as error:
        raise ParamsError(
            f"{source.dataset} refuses its configuration: {error}", where=f"{where}.config", remedy="change the value"
        ) from None


def _generated(source: GeneratedSource) -> Iterator[dict[str, Any]]:
    dataset = _dataset(source)
    for index in range(source.rows):
        item = dataset[index]
        question, answer, metadata = item["question"], item["answer"], item["metadata"]
        if not (isinstance(answer, str) and answer.strip() and question.strip()):
            raise DataError(
                f"row {index} of {source.dataset} has no gold answer or no question",
                where=f"collect.sources.{source.name}",
                remedy="choose a dataset whose every problem has one answer; verdicts compare with it",
            )
        yield {
            "question": question,
            "answer": answer,
            "thinking": metadata.get("thinking"),
            "solution": metadata.get("solution"),
        }


def _from_files(source: FilesSource) -> Iterator[dict[str, Any]]:
    folder = Path(source.folder)
    if not folder.is_dir():
        raise ParamsError(
            f"no such folder: {folder}",
            where=f"collect.sources.{source.name}.folder",
            remedy="create it (it may stay empty), or correct the path",
        )
    for path in sorted(folder.glob("*.jsonl")):
        for row in read_problem_file(path):
            yield row.model_dump()


def collect_rows(source: Source) -> Iterator[dict[str, Any]]:
    """Rows of one source, in its own order; none for an empty folder.

    Raises:
        ParamsError: the source names a dataset, a configuration or a folder that does not exist.
        DataError: a row is malformed.
    """
    rows = _generated(source) if isinstance(source, GeneratedSource) else _from_files(source)
    fixed = {"source": source.name, "role": source.role, "licence": source.licence, "domain": "math"}
    for number, row in enumerate(rows):
        yield fixed | {"source_id": str(number)} | row
