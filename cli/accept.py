"""`elastic accept`: the data that the gates looked at last becomes the version that later ones are compared with.

The figures come from reports/drift/, which the check stages write even where a gate is breached: a change that is
meant to be is looked at in the Data Docs, accepted, and checked again. They are small, and versioned in git.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DRIFT = Path("reports/drift")


class Gate(StrEnum):
    """The check stages, by what they look at."""

    CURATED = "curated"
    BUCKETED = "bucketed"


def command(
    gates: Annotated[list[Gate] | None, typer.Argument(help="Whose data; of both gates if none is named.")] = None,
) -> None:
    """Accept the present data: later versions are gated against its distribution."""
    from elastic.contracts.distribution import DriftResult
    from elastic.contracts.records import read_record, write_json
    from elastic.data.distribution import accepted_path

    for gate in gates or Gate:
        drift = read_record(DriftResult, DRIFT / f"{gate}.json")
        path = accepted_path(drift.profile, gate)
        write_json(path, drift.present)
        rows = ", ".join(f"{name} {figures.rows:,}" for name, figures in drift.present.frames.items())
        print(f"{path}: {rows} rows; commit it, then `dvc repro check@{gate}` compares with it")
