"""The promoted checkpoint, ready to load and serve, with its card; all or nothing.

Run it alone: `python -m stages.export`. The folder is written under a temporary name, checked (files, loading with
plain transformers, weights, delimiters, prompts and greedy ids against the training checkpoint, an answer inside the
budget) and renamed only when every check has passed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from elastic.budget import Budget
from elastic.contracts.frames import Problems, read_frame
from elastic.contracts.params.base import BaseBlock, BaseParams, HubBase
from elastic.contracts.params.common import validate
from elastic.contracts.params.export import ExportParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.train import RoundParams, RoundsBlock
from elastic.contracts.records import Curation, Decision, GridRow, read_record, read_rows
from elastic.contracts.sources import SourceFacts
from elastic.engines.loading import load_engine
from elastic.errors import ExportError
from elastic.exporting.card import CardFacts, render_card
from elastic.exporting.checks import check_budgets, check_files, check_loads
from elastic.prompts import Prompter
from stages.common import Context, current_record, exit_with_message, params_block, run_stage, staged

DECISION = Path("results/decision.json")
SCORES = Path("results/scores/test")
VALIDATION = Path("data/curated/validation.parquet")
CURATION = Path("data/curated/curation.json")
SOURCES = Path("data/collected/sources.json")
MODELS = Path("models")
OUTPUT = Path("exports/model")


def chain_of(promoted: str, rounds: dict[str, RoundParams]) -> list[tuple[str, str | None]]:
    """The promoted model and its ancestors, newest first, each with its training budget."""
    chain: list[tuple[str, str | None]] = []
    while promoted != "base":
        chain.append((promoted, str(rounds[promoted].budget)))
        promoted = rounds[promoted].prev
    return [*chain, ("base", None)]


def origin_of(base: BaseParams) -> str:
    """Where the base comes from, in words."""
    if isinstance(base, HubBase):
        revision = f" at revision `{base.revision}`" if base.revision else ""
        return f"`{base.model}`{revision}, licence {base.licence}"
    return "made from nothing and taught on the demonstrations in the data below"


def run(
    params: ExportParams,
    base: BaseParams,
    rounds: dict[str, RoundParams],
    prompt: PromptParams,
    output: Path,
    context: Context,
) -> None:
    """Write, check and publish the promoted checkpoint.

    Raises:
        ExportError: a check failed; `output` does not exist then.
    """
    # An earlier export must not pass for this decision's.
    shutil.rmtree(output, ignore_errors=True)
    decision = read_record(Decision, DECISION)
    if decision.promoted != "base" and decision.promoted not in rounds:
        raise ExportError(
            f"the decision promotes {decision.promoted!r}, which is no round", where=str(DECISION), remedy="run decide"
        )
    overlaps = read_record(Curation, CURATION).contamination.overlaps
    if overlaps:
        raise ExportError(
            f"{len(overlaps)} evaluation problems stand in teaching or training data",
            where=str(CURATION),
            remedy="run curate again and look at data/curated/rejected.parquet",
        )
    rows = read_rows(GridRow, SCORES / decision.promoted / "grid.json")
    widest = max((row.limit for row in rows if row.limit), default=0)
    separate = [row for row in rows if row.method == "separate"]
    if not widest or not separate:
        raise ExportError("the budget table is not whole", where=str(SCORES / decision.promoted), remedy="run score")
    chain = chain_of(decision.promoted, rounds)
    records = [current_record(f"train@{name}" if budget else name) for name, budget in chain]
    problems = read_frame(Problems, VALIDATION).sort("problem_id").head(params.check_problems)
    engine, tokenizer = load_engine(MODELS / decision.promoted, batch_size=params.check_problems)
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    card = render_card(
        CardFacts(
            name=params.name,
            licence=params.licence,
            chain=chain,
            origin=origin_of(base),
            decision=decision,
            rows=[row for row in rows if row.method != "truncate" and row.solution in (None, decision.solution_budget)],
            sources=read_rows(SourceFacts, SOURCES),
            overlaps=len(overlaps),
            template=prompt.template,
            records=[record for record in records if record],
        )
    )
    questions = problems["question"].to_list()
    with staged(output) as folder:
        engine.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")
        check_files(folder)
        check_loads(folder, engine, prompter, questions, new_tokens=widest)
        budget = Budget(max(row.think or 0 for row in separate), decision.solution_budget)
        check_budgets(engine, [prompter.render(question) for question in questions], budget)
    context.facts = {"promoted": decision.promoted, "checked_prompts": len(questions)}


def main() -> None:
    """Read params, export, write the record."""
    params = validate(ExportParams, params_block("export"), where="export")
    base = validate(BaseBlock, {"base": params_block("base")}, where="").base
    rounds = validate(RoundsBlock, {"rounds": params_block("rounds")}, where="").rounds
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")
    run_stage(
        "export",
        {"export": params, "prompt": prompt},
        [DECISION, SCORES, VALIDATION, CURATION, SOURCES, MODELS],
        [OUTPUT],
        lambda context: run(params, base, rounds, prompt, OUTPUT, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
