"""The pipeline as a Prefect flow: a task a stage, in DVC's order; DVC decides which of them run.

    python -m flows.pipeline [TARGET...]

The flow adds nothing to a result: `dvc repro` gives the same dvc.lock without it. What it adds is for people: progress,
a table of what happened, how each round's training went, the report's summary, and patience with a repository that
another DVC process holds. A stage that fails is never tried again, for it would fail again; the next run of the flow
goes on from there.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect import flow, task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.states import Completed, State

from elastic.contracts.params.profile import load_profile
from elastic.contracts.records import TrainingOutcome
from elastic.errors import ElasticError
from elastic.reporting.words import course
from elastic.training.recipe import check_rounds
from flows.command import run_command
from flows.dag import plan
from flows.server import has_own_server
from flows.stage import Outcome, RepositoryBusyError, run_stage
from stages.common import PARAMS

SUMMARY = Path("reports/summary.md")
_PAUSES = [min(2**attempt, 60) for attempt in range(10)]


def _is_busy(_task: Any, _run: Any, state: State) -> bool:
    return isinstance(state.result(raise_on_failure=False), RepositoryBusyError)


@task(name="params", task_run_name="params", cache_policy=NO_CACHE)
def check_params() -> None:
    """Refuse a params.yaml that some stage would refuse later, before any work."""
    profile = load_profile(PARAMS)
    check_rounds(profile.rounds, profile.train, profile.bucket.buckets)


@task(
    name="stage",
    task_run_name="{stage}",
    cache_policy=NO_CACHE,
    retries=len(_PAUSES),
    retry_delay_seconds=_PAUSES,
    retry_condition_fn=_is_busy,
)
def reproduce(stage: str) -> State[Outcome]:
    """Let DVC reproduce one stage; the state of the task run is named after what happened."""
    outcome = run_stage(stage)
    print(f"[{stage}] {outcome.words} ({outcome.seconds:.1f} s)", flush=True)
    if outcome.training:
        _write_training(stage, outcome.training)
    return Completed(name=outcome.happened.capitalize(), message=outcome.words, data=outcome)


def _write_training(stage: str, training: TrainingOutcome) -> None:
    """An artifact of the stage's own: `train-r1`."""
    for alert in training.alerts:
        print(f"[{stage}] ALERT: {alert}", flush=True)
    create_markdown_artifact(
        "\n".join(
            [
                f"# {stage}",
                "",
                *(f"**ALERT**: {alert}\n" for alert in training.alerts),
                *(f"- {what}: {answer}" for what, answer in course(training)),
                "",
            ]
        ),
        key=re.sub(r"[^a-z0-9]+", "-", stage),
        description="How the training of the round went",
    )


def _write_table(outcomes: list[Outcome]) -> None:
    create_table_artifact(
        [
            {
                "stage": outcome.stage,
                "what happened": outcome.words,
                "seconds": outcome.seconds,
                "sampled tokens": outcome.sampled_tokens,
                "alerts": "; ".join(outcome.training.alerts) if outcome.training else None,
            }
            for outcome in outcomes
        ],
        key="pipeline-stages",
        description="What became of each stage",
    )


@flow(name="pipeline", log_prints=has_own_server())
def pipeline(targets: list[str] | None = None) -> list[Outcome]:
    """Reproduce the pipeline.

    Args:
        targets: stages to reproduce, with all that they depend on; everything, if none is named.

    Raises:
        ElasticError: params.yaml, dvc.yaml or a stage is at fault; the text is the stage's own.
    """
    check_params()
    stages = plan(targets or [])
    progress = cast(UUID, create_progress_artifact(0.0, key="pipeline-progress"))
    outcomes: list[Outcome] = []
    for stage in stages:
        share = 100 * len(outcomes) / len(stages)
        update_progress_artifact(progress, share, description=f"{stage}, {len(outcomes) + 1} of {len(stages)}")
        clock = time.monotonic()
        try:
            outcomes.append(reproduce(stage).result())
        except ElasticError:
            _write_table([*outcomes, Outcome(stage, "failed", round(time.monotonic() - clock, 2))])
            raise
    update_progress_artifact(progress, 100.0, description="done")
    _write_table(outcomes)
    if SUMMARY.exists():
        create_markdown_artifact(SUMMARY.read_text(encoding="utf-8"), key="pipeline-summary")
    return outcomes


def summarise(outcomes: list[Outcome]) -> str:
    """One line on a whole run."""
    happened = [outcome.happened for outcome in outcomes]
    counts = ", ".join(f"{happened.count(word)} {word}" for word in ("ran", "restored", "skipped"))
    return f"{len(outcomes)} stages: {counts}"


def announce_server() -> None:
    """Say why nothing happens for a while, where that is so."""
    if not has_own_server():
        print("starting a temporary Prefect server", flush=True)


def main() -> None:
    """Run the flow on the server that PREFECT_API_URL names, or on a temporary one."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.pipeline", description="Reproduce the pipeline under Prefect."
    )
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help="stages to reproduce; everything, if none is named"
    )
    targets = parser.parse_args().targets
    announce_server()
    print(summarise(pipeline(targets)), flush=True)


if __name__ == "__main__":
    run_command(main)
