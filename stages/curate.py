"""The stage curate: collected rows into splits that share no problem, every row that leaves kept with its reason.

    python -m stages.curate

Problems that have no verdict are recognised by rule (elastic/data/fitness.py). Gold answers are graded by themselves,
each with its own policy, and reference programs by their tests: a gold that does not come back correct would reward
nobody for the right answer. The rules of the splits stand in elastic/data/splits.py, those of copies in
elastic/data/duplicates.py. All files of the folder appear together or not at all, after what was written has been read
again and compared for contamination.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import polars as pl

from elastic.answers.frames import grade_frame
from elastic.answers.graders import Grader, load_grader
from elastic.answers.verdict import Verdict
from elastic.contracts.frames import EVALUATED_SPLITS, SPLITS, Collected, Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.common import validate
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.records import Contamination, Curation, read_rows, write_json
from elastic.contracts.sources import SourceFacts
from elastic.data.duplicates import mark_disagreement
from elastic.data.fitness import reject_unfit
from elastic.data.ledger import OPEN, open_ledger, problems_of, reject, rejected_of
from elastic.data.outcome import counts, curation_of, met_an_evaluation_set, table
from elastic.data.overlap import find_overlaps
from elastic.data.splits import Rules, cut_splits
from elastic.errors import DataError, GraderError
from stages.common import Context, exit_with_message, params_block, run_stage, staged

COLLECTED = Path("data/collected/problems.parquet")
SOURCES = Path("data/collected/sources.json")
CURATED = Path("data/curated")
TAUGHT_SPLITS = [split for split in SPLITS if split not in EVALUATED_SPLITS]
_CHUNK = 500
_BOXED = pl.concat_str(pl.lit("\\boxed{"), "answer", pl.lit("}"))
_FENCED = pl.concat_str(pl.lit("```python\n"), "reference", pl.lit("\n```"))
# By domain: what stands for a model's solution, and what it is called when it fails. Code without a reference program
# is kept unchecked.
_PROOFS = {"math": (_BOXED, "gold"), "code": (_FENCED, "reference")}


def _grader(domain: str, grading: GradingParams) -> Grader:
    if domain == "code":
        from elastic.answers.code import CodeGrader  # needs a sandbox, which mathematics does without

        return CodeGrader()
    return load_grader(grading.evaluation)


def _graded(proofs: pl.DataFrame, grader: Grader, folder: Path, context: Context) -> pl.DataFrame:
    """`order`, `verdict` and `pass_share` of rows with a `solution`; what `folder` holds is not graded again."""
    folder.mkdir(parents=True, exist_ok=True)
    chunks = []
    for number, rows in enumerate(proofs.iter_slices(_CHUNK)):
        path = folder / f"chunk-{number:05d}.parquet"
        if path.exists():
            context.resumed_from += 1
        else:
            said = grade_frame(rows, grader).select("order", "verdict", "pass_share")
            temporary = path.with_name(f".{path.name}.partial")
            said.write_parquet(temporary)
            os.replace(temporary, path)
        chunks.append(pl.read_parquet(path))
        context.progress(f"{min((number + 1) * _CHUNK, len(proofs))} of {len(proofs)} graded by {grader.name}")
    return pl.concat(chunks)


def _reject_golds(
    ledger: pl.DataFrame, graders: dict[str, Grader], params: CurateParams, context: Context
) -> pl.DataFrame:
    """Reject every row whose gold answer, or reference program, does not come back correct."""
    for domain, grader in graders.items():
        solution, what = _PROOFS[domain]
        proofs = (
            ledger.filter(OPEN & (pl.col("domain") == domain))
            .select("order", pl.col("answer").alias("gold"), "policy", "question", "tests", solution=solution)
            .drop_nulls("solution")
        )
        if proofs.is_empty():
            continue
        said = _graded(proofs, grader, context.scratch / f"golds-{domain}", context)
        faults = said.filter(verdict=str(Verdict.ERROR))
        if len(faults) > params.max_error_share * len(said):
            questions = proofs.filter(pl.col("order").is_in(faults["order"].implode()))["question"]
            raise GraderError(
                f"could not judge {len(faults)} of {len(said)} {what}s, the first for {questions[0][:200]!r}",
                where=f"grader {grader.name}",
                remedy="look at these rows; raise curate.max_error_share to reject them all the same",
            )
        marked = ledger.join(said, on="order", how="left", maintain_order="left")
        tests = pl.format("passes {} of the tests", pl.col("pass_share").round(3))
        for verdict in Verdict:
            if verdict != Verdict.CORRECT:
                marked = reject(
                    marked,
                    pl.col("verdict") == str(verdict),
                    f"{what} graded {verdict}",
                    pl.coalesce(tests, pl.format("{} by {}", pl.col("answer"), pl.lit(grader.name))),
                )
        ledger = marked.drop("verdict", "pass_share")
    return ledger


def _equal_in_value(claims: pl.DataFrame, grader: Grader) -> list[bool]:
    """Whether `answer` is correct where `reference` is the gold."""
    rows = claims.select("policy", solution=_BOXED, gold="reference")
    return (grade_frame(rows, grader)["verdict"] == str(Verdict.CORRECT)).to_list()


def _write(
    ledger: pl.DataFrame,
    params: CurateParams,
    rules: Rules,
    graders: dict[str, str],
    unfit: dict[str, dict[str, int]],
    folder: Path,
) -> Curation:
    """Write all files into `folder`, read the splits again, and compare taught with evaluated rows."""
    for split in SPLITS:
        empty = split == "teaching" and params.teaching == 0
        write_frame(Problems, problems_of(ledger, split), folder / f"{split}.parquet", empty=empty)
    write_frame(Rejected, rejected_of(ledger), folder / "rejected.parquet", empty=True)

    written = {split: read_frame(Problems, folder / f"{split}.parquet", empty=True) for split in SPLITS}
    taught = [written[split] for split in TAUGHT_SPLITS]
    evaluated = [written[split] for split in EVALUATED_SPLITS]
    contamination = Contamination(
        checked=sum(len(frame) for frame in taught),
        against=sum(len(frame) for frame in evaluated),
        overlaps=find_overlaps(taught, evaluated, rules, params.overlap_share),
        removed=find_overlaps([met_an_evaluation_set(ledger)], evaluated, rules, params.overlap_share),
    )
    if contamination.overlaps:
        first = contamination.overlaps[0]
        raise DataError(
            f"{len(contamination.overlaps)} taught rows stand in an evaluation set, the first {first.question!r} in "
            f"{first.split} and {first.met_split}",
            where="curate",
            remedy="this is a fault of the cut in elastic/data/splits.py: report it",
        )
    curation = curation_of(ledger, graders, unfit, contamination)
    write_json(folder / "curation.json", curation)
    return curation


def _report(curation: Curation, context: Context) -> None:
    context.say("what became of the rows\n" + table(curation))
    for overlap in curation.contamination.removed:
        how = f"{overlap.measure} {overlap.share:.2f}"
        context.say(f"{overlap.source}: {overlap.question!r} meets {overlap.met_source} in {overlap.met_split} ({how})")
    for departure in curation.departures:
        context.say(
            f"{departure.rows} rows of {departure.source} do not train, unlike in the papers: {departure.validates} "
            "validates"
        )
    for rule, held in curation.unfit.items():
        named = ", ".join(f"{source} {count}" for source, count in held.items())
        context.say(f"kept in benchmarks although the rule {rule!r} holds: {named}")
    for source, count in curation.unchecked.items():
        context.say(f"{source}: {count} rows have no reference program, so that their tests were not tried")


def run(
    params: CurateParams,
    grading: GradingParams,
    context: Context,
    *,
    collected: Path = COLLECTED,
    sources: Path = SOURCES,
    out: Path = CURATED,
) -> None:
    """Curate the frame `collected`, of which `sources` tells, into the folder `out`."""
    facts = read_rows(SourceFacts, sources)
    rules = {source.name: source.near_duplicates for source in facts if source.near_duplicates}
    ledger, unfit = reject_unfit(open_ledger(read_frame(Collected, collected), worded=rules))
    with ExitStack() as stack:
        graders = {domain: stack.enter_context(_grader(domain, grading)) for domain in ledger["domain"].unique().sort()}
        ledger = _reject_golds(ledger, graders, params, context)
        ledger = mark_disagreement(ledger, lambda claims: _equal_in_value(claims, graders["math"]))
        versions = {domain: grader.label for domain, grader in graders.items()}
    context.say("cutting the splits")
    ledger = cut_splits(ledger, params, rules)
    with staged(out) as folder:
        curation = _write(ledger, params, rules, versions, unfit, folder)
    context.facts |= {"rows": counts(ledger, "split"), "rejected": curation.rejected}
    _report(curation, context)
    for source in facts:
        for overlap in source.overlaps:
            context.say(f"{source.name}, known of it: {overlap}")


def main() -> None:
    """Run the stage on params.yaml."""
    params = validate(CurateParams, params_block("curate"), where="curate")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    files = [*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "curation.json"]
    run_stage(
        "curate",
        {"curate": params, "grading": grading},
        [COLLECTED, SOURCES],
        [CURATED / name for name in files],
        lambda context: run(params, grading, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
