"""The stage curate: collected rows into splits that share no problem, every row that leaves kept with its reason.

    python -m stages.curate

Gold answers are graded by themselves: a gold that does not come back correct would reward nobody for the right answer.
The splits' rules stand in elastic/data/splits.py, those of copies in elastic/data/duplicates.py. All files of the
folder appear together or not at all, after what was written has been read again and compared for contamination.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from elastic.answers.graders import Grader, load_grader
from elastic.answers.verdict import Gold, Verdict
from elastic.contracts.frames import EVALUATED_SPLITS, SPLITS, Collected, Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.common import validate
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.records import Contamination, Curation, write_json
from elastic.data.duplicates import mark_disagreement
from elastic.data.ledger import open_ledger, problems_of, reject, rejected_of
from elastic.data.overlap import find_overlaps
from elastic.data.splits import OVERLAP, cut_splits
from elastic.errors import DataError
from stages.common import Context, exit_with_message, params_block, run_stage, staged

COLLECTED = Path("data/collected/problems.parquet")
CURATED = Path("data/curated")
TAUGHT_SPLITS = [split for split in SPLITS if split not in EVALUATED_SPLITS]
_CHUNK = 1000


def _verdicts(grader: Grader, answers: list[str], golds: list[str], context: Context) -> list[Verdict]:
    """What the grader says of each boxed answer."""
    verdicts: list[Verdict] = []
    for start in range(0, len(answers), _CHUNK):
        piece = slice(start, start + _CHUNK)
        grades = grader.grade_many([f"\\boxed{{{answer}}}" for answer in answers[piece]], list(map(Gold, golds[piece])))
        verdicts += [grade.verdict for grade in grades]
        context.progress(f"{len(verdicts)} of {len(answers)} different golds graded by themselves")
    return verdicts


def _reject_golds(ledger: pl.DataFrame, grader: Grader, context: Context) -> pl.DataFrame:
    """Reject every row whose gold answer does not come back correct; equal golds are graded once."""
    golds = ledger["answer"].unique().sort().to_list()
    said = pl.DataFrame(
        {"answer": golds, "said": [str(v) for v in _verdicts(grader, golds, golds, context)]},
        schema={"answer": pl.String, "said": pl.String},
    )
    graded = ledger.join(said, on="answer", how="left", maintain_order="left")
    return reject(
        graded, pl.col("said") != str(Verdict.CORRECT), "gold does not grade itself", pl.format("graded {}", "said")
    ).drop("said")


def _counts(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame[column].value_counts().sort(column).iter_rows())


def _write(ledger: pl.DataFrame, params: CurateParams, grader: dict[str, str], folder: Path) -> Curation:
    """Write all files into `folder`, read the splits again, and compare taught with evaluated rows."""
    for split in SPLITS:
        empty = split == "teaching" and params.teaching == 0
        write_frame(Problems, problems_of(ledger, split), folder / f"{split}.parquet", empty=empty)
    write_frame(Rejected, rejected_of(ledger), folder / "rejected.parquet", empty=True)

    written = {split: read_frame(Problems, folder / f"{split}.parquet", empty=True) for split in SPLITS}
    taught = [written[split] for split in TAUGHT_SPLITS]
    evaluated = [written[split] for split in EVALUATED_SPLITS]
    turned_away = ledger.filter(pl.col("reason") == OVERLAP).with_columns(split=pl.lit("training"))
    contamination = Contamination(
        checked=sum(len(frame) for frame in taught),
        against=sum(len(frame) for frame in evaluated),
        overlaps=find_overlaps(taught, evaluated),
        removed=find_overlaps([turned_away], evaluated),
    )
    if contamination.overlaps:
        first = contamination.overlaps[0]
        raise DataError(
            f"{len(contamination.overlaps)} taught rows stand in an evaluation set, the first {first.question!r} in "
            f"{first.split} and {first.met_split}",
            where="curate",
            remedy="this is a fault of the cut in elastic/data/splits.py: report it",
        )
    kept = pl.concat(written.values())
    curation = Curation(
        grader=grader,
        collected=_counts(ledger, "source"),
        rows={name: _counts(kept.filter(source=name), "split") for name in ledger["source"].unique().sort()},
        rejected=_counts(ledger.drop_nulls("reason"), "reason"),
        contamination=contamination,
    )
    write_json(folder / "curation.json", curation)
    return curation


def run(
    params: CurateParams, grading: GradingParams, context: Context, *, collected: Path = COLLECTED, out: Path = CURATED
) -> None:
    """Curate the frame `collected` into the folder `out`."""
    ledger = open_ledger(read_frame(Collected, collected))
    with load_grader(grading.evaluation) as grader:
        versions = {"name": grader.name, "version": grader.version}
        ledger = _reject_golds(ledger, grader, context)
        ledger = mark_disagreement(
            ledger, lambda answers, golds: [v == Verdict.CORRECT for v in _verdicts(grader, answers, golds, context)]
        )
    ledger = cut_splits(ledger, params)
    with staged(out) as folder:
        curation = _write(ledger, params, versions, folder)
    context.facts |= {"rows": _counts(ledger.drop_nulls("split"), "split"), "rejected": curation.rejected}
    for what, counts in context.facts.items():
        context.say(f"{what}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    for overlap in curation.contamination.removed:
        context.say(f"{overlap.source}: {overlap.question!r} stands in {overlap.met_split}, so it was turned away")


def main() -> None:
    """Run the stage on params.yaml."""
    params = validate(CurateParams, params_block("curate"), where="curate")
    grading = validate(GradingParams, params_block("grading"), where="grading")
    files = [*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "curation.json"]
    run_stage(
        "curate",
        {"curate": params, "grading": grading},
        [COLLECTED],
        [CURATED / name for name in files],
        lambda context: run(params, grading, context),
    )


if __name__ == "__main__":
    exit_with_message(main)
