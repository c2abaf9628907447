"""The stage collect: rows of every source into one frame, as they came, and what is known of each source.

    python -m stages.collect

Sources stand in params.yaml in the order in which copies of a problem are preferred; the frame keeps that order. Data
sets of the catalogue (data/sources) come over the network, or from the folder that ELASTIC_DATA_MIRROR names.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from elastic.contracts.frames import Collected, write_frame
from elastic.contracts.params.collect import CollectParams, FilesSource
from elastic.contracts.params.common import validate
from elastic.contracts.records import write_json
from elastic.data.catalogue import CATALOGUE
from elastic.data.sources import collect_rows, facts_of
from stages.common import Context, exit_with_message, params_block, run_stage

PROBLEMS = Path("data/collected/problems.parquet")
SOURCES = Path("data/collected/sources.json")
_SCHEMA = dict.fromkeys(Collected.to_schema().columns, pl.String)


def run(params: CollectParams, context: Context, *, problems: Path = PROBLEMS, sources: Path = SOURCES) -> None:
    """Collect every source; write the frame Collected to `problems` and a list of SourceFacts to `sources`."""
    frames, facts = [], []
    for source in params.sources:
        rows = []
        for row in collect_rows(source):
            rows.append(row)
            context.progress(f"{source.name}: {len(rows)} rows")
        frames.append(pl.DataFrame(rows, schema=_SCHEMA))
        facts.append(facts_of(source, len(rows)))
        context.facts[source.name] = len(rows)
        context.say(f"{source.name}: {len(rows)} rows in all")
    write_frame(Collected, pl.concat(frames), problems)
    write_json(sources, [fact.model_dump(mode="json") for fact in facts])
    context.say(f"{sum(context.facts.values())} rows from {len(facts)} sources")


def main() -> None:
    """Run the stage on params.yaml."""
    params = validate(CollectParams, params_block("collect"), where="collect")
    folders = [Path(source.folder) for source in params.sources if isinstance(source, FilesSource)]
    inputs = [folder for folder in (*folders, CATALOGUE) if folder.is_dir()]
    run_stage("collect", {"collect": params}, inputs, [PROBLEMS, SOURCES], lambda context: run(params, context))


if __name__ == "__main__":
    exit_with_message(main)
