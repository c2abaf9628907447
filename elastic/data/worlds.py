"""Worlds that generate problems, through reasoning-gym's dataset interface."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from reasoning_gym import create_dataset
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, register_dataset

from elastic.contracts.params.collect import GeneratedSource
from elastic.data.chains import ChainsConfig, ChainsDataset
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


def generate_rows(source: GeneratedSource) -> Iterator[dict[str, Any]]:
    """Question, answer and demonstration of every problem of a world, in its own order.

    Raises:
        ParamsError: the source names a dataset or a configuration that does not exist.
        DataError: a problem has no gold answer.
    """
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
