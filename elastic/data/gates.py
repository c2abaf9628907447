"""Distribution gates: bounds on whole frames, checked by Great Expectations, with pages that a person can read.

The truth of single rows belongs to pandera (elastic/contracts/frames.py) and is never repeated here. This is the only
module that imports Great Expectations, and it does so when a gate runs: the import takes many seconds. Every context
is ephemeral; nothing of it stays but the pages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

Measure = Literal["rows", "mean", "distinct", "figure"]


@dataclass(frozen=True)
class Bound:
    """A closed range for one figure of a frame; None leaves a side open.

    Attributes:
        frame: name of the frame.
        measure: number of rows, mean of `column`, number of distinct values in `column`, or the one value of `column`
            in a frame of one row.
        column: None for the number of rows.
        note: what a reader should know beside the figure.
    """

    frame: str
    measure: Measure
    column: str | None = None
    low: float | None = None
    high: float | None = None
    note: str | None = None

    def __str__(self) -> str:
        figure = f"{self.measure} of {self.column}" if self.column else self.measure
        figure = str(self.column) if self.measure == "figure" else figure
        sides = [f"at least {self.low:g}" if self.low is not None else ""]
        sides += [f"at most {self.high:g}" if self.high is not None else ""]
        return f"{self.frame}: {figure} {' and '.join(filter(None, sides))}"


@dataclass(frozen=True)
class Outcome:
    """A bound and what was observed; `observed` is None where the frame has no such figure (a mean of no rows)."""

    bound: Bound
    observed: float | None
    held: bool

    def __str__(self) -> str:
        observed = "nothing" if self.observed is None else f"{self.observed:g}"
        return f"{self.bound}, but observed {observed}" + (f" ({self.bound.note})" if self.bound.note else "")

    def as_record(self) -> dict[str, Any]:
        """The outcome as an item of GateResult.expectations."""
        bound = self.bound
        return {
            "frame": bound.frame,
            "measure": bound.measure,
            "column": bound.column,
            "min": bound.low,
            "max": bound.high,
            "observed": self.observed,
        }


def _expectation(gx: Any, bound: Bound, number: int) -> Any:
    limits = {"min_value": bound.low, "max_value": bound.high, "meta": {"bound": number}, "notes": bound.note}
    if bound.measure == "rows":
        return gx.expectations.ExpectTableRowCountToBeBetween(**limits)
    kinds = {
        "mean": gx.expectations.ExpectColumnMeanToBeBetween,
        "figure": gx.expectations.ExpectColumnMeanToBeBetween,
        "distinct": gx.expectations.ExpectColumnUniqueValueCountToBeBetween,
    }
    return kinds[bound.measure](column=bound.column, **limits)


def _context(gx: Any, gate: str, docs: Path) -> Any:
    """An ephemeral context whose only Data Docs site is `docs`."""
    context = gx.get_context(mode="ephemeral")
    context.enable_analytics(False)
    context.variables.progress_bars = {"globally": False}
    for site in list(context.get_site_names()):
        context.delete_data_docs_site(site)
    context.add_data_docs_site(
        gate,
        {
            "class_name": "SiteBuilder",
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(docs.resolve())},
        },
    )
    return context


def run_gate(gate: str, frames: Mapping[str, pl.DataFrame], bounds: Sequence[Bound], docs: Path) -> list[Outcome]:
    """Check every bound and write the Data Docs.

    Args:
        gate: name of the gate.
        frames: by name; numeric columns for means.
        bounds: what must hold.
        docs: folder for the pages, `index.html` first.

    Returns:
        One outcome a bound, in the order of `bounds`.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "False"
    import great_expectations as gx

    context = _context(gx, gate, docs)
    source = context.data_sources.add_pandas(gate)
    outcomes: dict[int, Outcome] = {}
    for name, frame in frames.items():
        suite = context.suites.add(gx.ExpectationSuite(name))
        for number, bound in enumerate(bounds):
            if bound.frame == name:
                suite.add_expectation(_expectation(gx, bound, number))
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("all rows")
        definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=batch, suite=suite))
        checkpoint = context.checkpoints.add(
            gx.Checkpoint(name=name, validation_definitions=[definition], result_format="BASIC")
        )
        (result,) = checkpoint.run(batch_parameters={"dataframe": frame.to_pandas()}).run_results.values()
        for said in result.results:
            number, observed = said.expectation_config.meta["bound"], said.result.get("observed_value")
            figure = None if observed is None else float(observed)
            outcomes[number] = Outcome(bounds[number], figure, bool(said.success))
    context.build_data_docs()
    return [outcomes[number] for number in range(len(bounds))]
