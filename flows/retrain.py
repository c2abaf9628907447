"""New problems to a new decision: validate files, make them a data version, reproduce the pipeline, say what came out.

    python -m flows.retrain [FILE...]

Without a file, everything in `data/incoming/` is taken, by name. A file with any bad row is refused whole and stays
where it is; the others go on, and the run ends as failed, with the faults named, so that nobody overlooks it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from elastic.contracts.params.profile import load_profile
from elastic.contracts.records import Curation, Decision, read_record
from elastic.errors import DataError
from flows.command import run_command
from flows.incoming import INCOMING, accept, require_source, waiting
from flows.pipeline import announce_server, pipeline, summarise
from flows.server import has_own_server
from stages.common import PARAMS

CURATION = Path("data/curated/curation.json")
DECISION = Path("results/decision.json")


@task(name="accept", task_run_name="accept", cache_policy=NO_CACHE)
def accept_files(files: list[Path]) -> str:
    """Make files versions of the raw data.

    Returns:
        What was refused and why; empty when nothing was.

    Raises:
        DataError: every file was refused.
    """
    require_source(load_profile(PARAMS))
    refused = []
    for path in files:
        try:
            version, is_new = accept(path)
            print(f"{path}: {'now' if is_new else 'already known as'} {version}", flush=True)
        except DataError as fault:
            refused.append(str(fault))
    faults = "\n".join(refused)
    if len(refused) == len(files):
        raise _refusal(faults)
    return faults


def _refusal(faults: str) -> DataError:
    return DataError(f"refused, and left where it is\n{faults}", remedy="mend the rows named and run again")


def _changes(title: str, before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    yield from (f"| {title} | rows | change |", "|---|---:|---:|")
    for name in sorted({*before, *after}):
        now = after.get(name, 0)
        yield f"| {name} | {now} | {now - before.get(name, 0):+d} |"
    yield ""


def _by_split(curation: Curation) -> dict[str, int]:
    return {
        f"{split}, from {source}": count for source, splits in curation.rows.items() for split, count in splits.items()
    }


def render(decision: Decision, before: Curation | None, after: Curation) -> str:
    """The decision and what changed in the data, in Markdown.

    Args:
        decision: what decide found after the reproduction.
        before: what curate had found before it, if there was anything.
        after: what curate found in it.
    """
    lines = [f"# Promoted: {decision.promoted}", "", decision.rule, ""]
    lines += ["| model | against | measure | difference | 95 % interval | problems |", "|---|---|---|---:|---|---:|"]
    lines += [
        f"| {row.model} | {row.control} | {row.measure} | {100 * row.difference:+.1f} points | "
        f"{100 * row.ci_low:+.1f} to {100 * row.ci_high:+.1f} | {row.n_problems} |"
        for row in decision.comparisons
    ]
    lines += ["", "# Data", ""]
    lines += _changes("kept", _by_split(before) if before else {}, _by_split(after))
    lines += _changes("rejected because", before.rejected if before else {}, after.rejected)
    return "\n".join(lines)


@flow(name="retrain", log_prints=has_own_server())
def retrain(files: list[Path] | None = None) -> str:
    """Take new problems through the whole pipeline.

    Args:
        files: JSONL files; none for all of `data/incoming/`.

    Returns:
        What to tell the user.

    Raises:
        ElasticError: a file, params.yaml or a stage is at fault.
    """
    found = files or waiting()
    if not found:
        return f"nothing new: no *.jsonl in {INCOMING} (`python -m flows.pipeline` goes on with what was taken before)"
    refused = accept_files(found)
    before = read_record(Curation, CURATION) if CURATION.exists() else None
    outcomes = pipeline()
    decision = read_record(Decision, DECISION)
    create_markdown_artifact(render(decision, before, read_record(Curation, CURATION)), key="retrain-decision")
    if refused:
        raise _refusal(refused)
    return f"{summarise(outcomes)}; promoted: {decision.promoted}"


def main() -> None:
    """Run the flow on the server that PREFECT_API_URL names, or on a temporary one."""
    parser = argparse.ArgumentParser(prog="python -m flows.retrain", description="Train again on new problems.")
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help=f"JSONL; all of {INCOMING}, if none is named"
    )
    files = parser.parse_args().files
    announce_server()
    print(retrain(files), flush=True)


if __name__ == "__main__":
    run_command(main)
