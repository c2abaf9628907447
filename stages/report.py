"""The report: what a person reads (index.html, summary.md) and what a machine reads (summary.json).

    python -m stages.report

Models are the base and the rounds of params.yaml, in their order; what an earlier set of rounds left in the folders is
not read. Costs come from records/, which differ from run to run: a record whose outputs are no longer those on disk
is not shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elastic.contracts.distribution import DriftResult
from elastic.contracts.frames import (
    EVALUATED_SPLITS,
    PassRates,
    Problems,
    Rejected,
    Scored,
    read_frame,
)
from elastic.contracts.params.profile import Profile, load_profile
from elastic.contracts.records import (
    Curation,
    Decision,
    GateResult,
    GridRow,
    TrainingOutcome,
    read_record,
    read_rows,
    write_json,
)
from elastic.contracts.reference import load_reference
from elastic.contracts.sources import SourceFacts
from elastic.errors import DataError
from elastic.reporting.evidence import BASE, Evidence, Gate
from elastic.reporting.findings import find
from elastic.reporting.markdown import render_markdown
from elastic.reporting.page import render_page
from elastic.reporting.summary import build_summary
from stages.common import PARAMS, Context, current_record, exit_with_message, run_stage

GATES = ("curated", "bucketed")
DECISION = Path("results/decision.json")
SCORES = Path("results/scores")
CURATED = Path("data/curated")
SOURCES = Path("data/collected/sources.json")
RATES = Path("data/bucketed/rates.parquet")
PUBLISHED = Path("data/reference/iterative_training.yaml")
TRAINING = Path("reports/training")
CHECKS = Path("reports/checks")
DRIFT = Path("reports/drift")
DATA_DOCS = Path("reports/data_docs")
CARD = Path("exports/model/README.md")
OUTPUT = Path("reports")
FILES = ("index.html", "summary.json", "summary.md")


def models_of(profile: Profile) -> list[str]:
    """The base, then the rounds in their order."""
    return [BASE, *profile.rounds]


def stages_of(profile: Profile) -> list[str]:
    """Every stage of the DAG before the report, in its order."""
    rounds = list(profile.rounds)

    def per_model(name: str) -> list[str]:
        base = [f"{name}-base@{split}" for split in EVALUATED_SPLITS]
        return base + [f"{name}@{model}-{split}" for model in rounds for split in EVALUATED_SPLITS]

    before = ["collect", "curate", "check@curated", "base", "probe", "bucket", "check@bucketed"]
    trained = [f"train@{name}" for name in rounds]
    return [*before, *trained, *per_model("sample"), *per_model("score"), "decide", "export"]


def inputs_of(profile: Profile) -> list[Path]:
    """Every file that the report reads; records are no inputs."""
    models = models_of(profile)
    return [
        DECISION,
        *(SCORES / split / model / "grid.json" for split in EVALUATED_SPLITS for model in models),
        *(SCORES / "test" / model / "scored.parquet" for model in models),
        *(CURATED / name for name in ("test.parquet", "rejected.parquet", "curation.json")),
        SOURCES,
        RATES,
        PUBLISHED,
        *(TRAINING / name / file for name in profile.rounds for file in ("metrics.jsonl", "outcome.json")),
        *(folder / f"{gate}.json" for folder in (CHECKS, DRIFT) for gate in GATES),
        CARD,
    ]


def _log(path: Path) -> list[Mapping[str, Any]]:
    """Rows of a JSONL file.

    Raises:
        DataError: a line is not JSON.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(
                f"line {number} is not JSON: {error}",
                where=str(path),
                remedy="run `dvc repro -f` on this round's train",
            ) from None
    return rows


def _gate(name: str) -> Gate:
    page = DATA_DOCS / name / "index.html"
    return Gate(
        read_record(GateResult, CHECKS / f"{name}.json"),
        read_record(DriftResult, DRIFT / f"{name}.json"),
        str(page.relative_to(OUTPUT)) if page.exists() else None,
    )


def read_evidence(profile: Profile) -> Evidence:
    """Read and validate everything under the present folder that the report is made of.

    Raises:
        DataError: naming the file that is missing or breaks its contract.
    """
    models = models_of(profile)
    questions = read_frame(Problems, CURATED / "test.parquet")
    return Evidence(
        profile=profile,
        grid=[
            row
            for split in EVALUATED_SPLITS
            for m in models
            for row in read_rows(GridRow, SCORES / split / m / "grid.json")
        ],
        decision=read_record(Decision, DECISION),
        scored={model: read_frame(Scored, SCORES / "test" / model / "scored.parquet") for model in models},
        questions=dict(questions.select("problem_id", "question").iter_rows()),
        rates=read_frame(PassRates, RATES),
        rejected=read_frame(Rejected, CURATED / "rejected.parquet", empty=True),
        curation=read_record(Curation, CURATED / "curation.json"),
        sources=read_rows(SourceFacts, SOURCES),
        gates={name: _gate(name) for name in GATES},
        training={name: _log(TRAINING / name / "metrics.jsonl") for name in profile.rounds},
        outcomes={name: read_record(TrainingOutcome, TRAINING / name / "outcome.json") for name in profile.rounds},
        records={stage: current_record(stage) for stage in stages_of(profile)},
        published=load_reference(PUBLISHED),
        card=os.path.relpath(CARD, OUTPUT),
    )


def run(profile: Profile, context: Context, *, output: Path = OUTPUT) -> None:
    """Write the three files of the report, each whole or not at all, once all three could be made."""
    evidence = read_evidence(profile)
    context.say("read everything; comparing and drawing")
    findings = find(evidence)
    page, table = render_page(evidence, findings), render_markdown(evidence, findings)
    summary = build_summary(evidence, findings)
    output.mkdir(parents=True, exist_ok=True)
    for name, text in (("index.html", page), ("summary.md", table)):
        temporary = output / f".{name}.partial"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, output / name)
    write_json(output / "summary.json", summary)
    context.facts = {"promoted": evidence.decision.promoted}
    context.say(f"the report is {(output / 'index.html').resolve()}")


def main() -> None:
    """Read params, write the report and the record."""
    profile = load_profile(PARAMS)
    run_stage(
        "report",
        {"profile": profile},
        inputs_of(profile),
        [OUTPUT / name for name in FILES],
        lambda context: run(profile, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
