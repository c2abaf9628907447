"""The promoted checkpoint, ready to load and serve, with its card; all or nothing.

Run it alone: `python -m stages.export`. The folder is written under a temporary name, checked (files, loading with
plain transformers, weights, delimiters, greedy ids against the training checkpoint, an answer inside the budget) and
renamed only when every check has passed.
"""

from __future__ import annotations

from pathlib import Path

from elastic.budget import Budget
from elastic.contracts.frames import Problems, read_frame
from elastic.contracts.params.collect import CollectParams
from elastic.contracts.params.common import validate
from elastic.contracts.params.export import ExportParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.train import RoundParams, RoundsBlock
from elastic.contracts.records import Decision, GridRow, Record, read_json, read_record
from elastic.engines.loading import load_engine
from elastic.errors import ExportError
from elastic.exporting.card import CardFacts, render_card
from elastic.exporting.checks import check_budgets, check_files, check_loads
from elastic.prompts import Prompter
from stages.common import RECORDS, Context, exit_with_message, params_block, run_stage, staged

DECISION = Path("results/decision.json")
SCORES = Path("results/scores/test")
VALIDATION = Path("data/curated/validation.parquet")
CURATION = Path("data/curated/curation.json")
MODELS = Path("models")
OUTPUT = Path("exports/model")


def chain_of(promoted: str, rounds: dict[str, RoundParams]) -> list[tuple[str, str | None]]:
    """The promoted model and its ancestors, newest first, each with its training budget."""
    chain: list[tuple[str, str | None]] = []
    while promoted != "base":
        chain.append((promoted, str(rounds[promoted].budget)))
        promoted = rounds[promoted].prev
    return [*chain, ("base", None)]


def run(
    params: ExportParams,
    rounds: dict[str, RoundParams],
    prompt: PromptParams,
    sources: list[tuple[str, str]],
    output: Path,
    context: Context,
) -> None:
    """Write, check and publish the promoted checkpoint.

    Raises:
        ExportError: a check failed; `output` does not exist then.
    """
    decision = read_record(Decision, DECISION)
    if decision.promoted != "base" and decision.promoted not in rounds:
        raise ExportError(
            f"the decision promotes {decision.promoted!r}, which is no round", where=str(DECISION), remedy="run decide"
        )
    curation = read_json(CURATION)
    if curation["contamination"]["overlaps"]:
        raise ExportError(
            f"{len(curation['contamination']['overlaps'])} evaluation problems stand in teaching or training data",
            where=str(CURATION),
            remedy="run curate again and look at data/curated/rejected.parquet",
        )
    rows = [GridRow.model_validate(row) for row in read_json(SCORES / decision.promoted / "grid.json")]
    chain = chain_of(decision.promoted, rounds)
    records = [
        read_record(Record, path)
        for name, budget in chain
        if (path := RECORDS / (f"train@{name}.json" if budget else f"{name}.json")).exists()
    ]
    problems = read_frame(Problems, VALIDATION).sort("problem_id").head(params.check_problems)
    engine, tokenizer = load_engine(MODELS / decision.promoted, batch_size=params.check_problems)
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    prompts = [prompter.render(question) for question in problems["question"]]
    card = render_card(
        CardFacts(
            name=params.name,
            licence=params.licence,
            chain=chain,
            decision=decision,
            rows=[row for row in rows if row.method != "truncate" and row.solution in (None, decision.solution_budget)],
            sources=sources,
            overlaps=len(curation["contamination"]["overlaps"]),
            template=prompt.template,
            records=records,
        )
    )
    widest = max((row.limit for row in rows if row.limit), default=0)
    separate = [row for row in rows if row.method == "separate"]
    if not widest or not separate:
        raise ExportError("the budget table is not whole", where=str(SCORES / decision.promoted), remedy="run score")
    with staged(output) as folder:
        engine.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")
        check_files(folder)
        check_loads(folder, prompts, engine, new_tokens=widest)
        check_budgets(engine, prompts, Budget(max(row.think or 0 for row in separate), decision.solution_budget))
    context.facts = {"promoted": decision.promoted, "checked_prompts": len(prompts)}


def main() -> None:
    """Read params, export, write the record."""
    params = validate(ExportParams, params_block("export"), where="export")
    rounds = validate(RoundsBlock, {"rounds": params_block("rounds")}, where="").rounds
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    collect = validate(CollectParams, params_block("collect"), where="collect")
    sources = [(source.name, source.licence) for source in collect.sources]
    run_stage(
        "export",
        {"export": params, "prompt": prompt},
        [DECISION, SCORES, VALIDATION, CURATION, MODELS],
        [OUTPUT],
        lambda context: run(params, rounds, prompt, sources, OUTPUT, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
