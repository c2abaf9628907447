"""Compute everything that the lab's report says: analysis.json.

Run it alone, in this folder: `python -m lab.analyse`. One file of lab/sections answers one question; each corrects for
the number of differences that it looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from elastic.contracts.params.common import validate
from elastic.contracts.records import write_json
from elastic.engines.loading import load_reader
from elastic.prompts import Prompter
from lab.analysis import Analysis, Section
from lab.analysis_params import AnalyseParams
from lab.evidence import Evidence, cell
from lab.params import PIPELINE, PROBLEMS, RESULTS, ModelsBlock, SetsBlock, SwapParams, model_folder
from lab.sections import (
    adaptive,
    allocation,
    behaviours,
    cost,
    early_stopping,
    fractured,
    grid,
    lengths,
    log_linear,
    mistakes,
    mixtures,
    published,
    swap,
    transfer,
    variation,
    voting,
)
from stages.common import Context, exit_with_message, params_block, run_stage

OUT = Path("analysis.json")
SECTIONS: tuple[Callable[[Evidence], Section], ...] = (
    grid.section,
    swap.section,
    fractured.section,
    voting.section,
    early_stopping.section,
    adaptive.section,
    allocation.section,
    mixtures.section,
    lengths.section,
    mistakes.section,
    behaviours.section,
    transfer.section,
    log_linear.section,
    cost.section,
    variation.section,
    published.section,
)


def analyse(evidence: Evidence, say: Callable[[str], None]) -> Analysis:
    """All sections, in the order of the page.

    Args:
        evidence: what was sampled.
        say: told the name of each section as it begins.

    Raises:
        DataError: an evaluation that a section reads is missing.
    """
    answers = evidence.answers(evidence.base, "test")
    sections = []
    for section in SECTIONS:
        say(section.__module__.rpartition(".")[2])
        sections.append(section(evidence))
    free = cell(answers, "unconstrained")
    return Analysis(
        headline=grid.headline(evidence),
        models=list(evidence.models),
        problems=answers["problem_id"].n_unique(),
        samples=answers["sample"].n_unique(),
        main=str(evidence.main),
        limit=free["limit"][0],
        confidence=evidence.params.confidence,
        sections=sections,
    )


def main() -> None:
    """Read params and results, write the analysis and the record."""
    models = validate(ModelsBlock, {"models": params_block("models")}, where="")
    sets = validate(SetsBlock, {"sets": params_block("sets")}, where="").sets
    swapped = validate(SwapParams, params_block("swap"), where="swap").models
    params = validate(AnalyseParams, params_block("analyse"), where="analyse")

    def run(context: Context) -> None:
        reader = load_reader(model_folder(models.models[0]))
        prompter = Prompter(reader.tokenizer)
        evidence = Evidence(
            params,
            models.models,
            swapped,
            RESULTS,
            PROBLEMS,
            PIPELINE,
            lambda ids: prompter.text(ids, reader.markers),
        )
        found = analyse(evidence, context.progress)
        write_json(OUT, found)
        context.facts = {"sections": len(found.sections), "figures": sum(len(one.plots) for one in found.sections)}

    places = [RESULTS / model / name for model, name in product(models.models, sets)]
    places += [RESULTS / "swap" / f"{thinker}-{solver}" for thinker, solver in product(swapped, swapped)]
    shared = ("reference", "behaviours.yaml", "prices.yaml", "bucketed/rates.parquet", "curated/training.parquet")
    run_stage(
        "analyse",
        {"models": models, "analyse": params},
        [PROBLEMS, model_folder(models.models[0]), *places, *(PIPELINE / "data" / name for name in shared)],
        [OUT],
        run,
    )


if __name__ == "__main__":
    exit_with_message(main)
