"""The stage collect: rows of every source into one frame, as they came.

    python -m stages.collect

Sources stand in params.yaml in the order in which copies of a problem are preferred; the frame keeps that order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from elastic.contracts.frames import Collected, write_frame
from elastic.contracts.params.collect import CollectParams, FilesSource
from elastic.contracts.params.common import validate
from elastic.data.sources import collect_rows
from stages.common import Context, exit_with_message, params_block, run_stage

PROBLEMS = Path("data/collected/problems.parquet")


def run(params: CollectParams, context: Context, *, out: Path = PROBLEMS) -> None:
    """Collect every source and write the frame Collected to `out`."""
    rows: list[dict[str, Any]] = []
    for source in params.sources:
        before = len(rows)
        for row in collect_rows(source):
            rows.append(row)
            context.progress(f"{source.name}: {len(rows) - before} rows")
        context.facts[source.name] = len(rows) - before
        context.say(f"{source.name}: {len(rows) - before} rows in all")
    schema = dict.fromkeys(Collected.to_schema().columns, pl.String)
    write_frame(Collected, pl.DataFrame(rows, schema=schema), out)


def main() -> None:
    """Run the stage on params.yaml."""
    params = validate(CollectParams, params_block("collect"), where="collect")
    folders = [Path(source.folder) for source in params.sources if isinstance(source, FilesSource)]
    inputs = [folder for folder in folders if folder.is_dir()]
    run_stage("collect", {"collect": params}, inputs, [PROBLEMS], lambda context: run(params, context))


if __name__ == "__main__":
    exit_with_message(main)
