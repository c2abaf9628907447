"""A model under evaluation: what reads its prompts is there at once, its weights when the first token is sampled.

So budgets that a model cannot hold are refused, and what is on disk is shown, before any weights are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elastic.contracts.evaluation_records import Named
from elastic.engines.loading import load_engine, load_reader
from elastic.engines.meter import Meter
from elastic.engines.protocol import Engine, EngineName
from elastic.markers import THINK, Markers
from elastic.prompts import Prompter


@dataclass(frozen=True)
class Checkpoint:
    """One model.

    Attributes:
        named: its name in all frames, and sha256 of its files.
        engine_name: what samples.
        prompter: its tokenizer, with the system turn.
        markers: its delimiters.
        context: the longest sequence that it can hold; None where that is not known.
        load: gives the engine.
    """

    named: Named
    engine_name: EngineName
    prompter: Prompter
    markers: Markers
    context: int | None
    load: Callable[[], Engine]

    @cached_property
    def engine(self) -> Meter:
        """The engine, loaded once."""
        return Meter(self.load())


def checkpoint_in(
    folder: Path,
    named: Named,
    *,
    batch_size: int,
    engine: EngineName = "transformers",
    system: str | None = None,
    delimiters: tuple[str, str] = THINK,
) -> Checkpoint:
    """The checkpoint in a folder.

    Args:
        folder: a model and its tokenizer, as `save_pretrained` writes them.
        named: how it is called, and its sha256.
        batch_size: rows decoded together.
        engine: what samples.
        system: the system turn, where there is one.
        delimiters: how the opening and the closing delimiter of thinking are written.

    Raises:
        DataError: tokenizer or config are missing or damaged.
        MarkerError: the delimiters cannot be used.
    """
    reader = load_reader(folder, delimiters=delimiters)
    return Checkpoint(
        named,
        engine,
        Prompter(reader.tokenizer, system=system),
        reader.markers,
        reader.context,
        lambda: load_engine(folder, batch_size=batch_size, engine=engine, delimiters=delimiters)[0],
    )


def checkpoint_of(engine: Engine, engine_name: EngineName, named: Named, prompter: Prompter) -> Checkpoint:
    """A checkpoint that is loaded already; the prompter has its tokenizer."""
    return Checkpoint(named, engine_name, prompter, engine.markers, engine.context, lambda: engine)
