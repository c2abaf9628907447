"""`elastic eval`: what each token buys, of any local checkpoint on a benchmark or a problem file, outside DVC.

Every strategy is a run of its own (elastic/evaluation), and the same folder takes more strategies and budgets later.
The default, nested budgets, has plain truncation at equal totals and the unconstrained mode beside separate budgets
(Elastic Reasoning, section 4). A killed evaluation goes on after its last chunk.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from filelock import FileLock, Timeout
from pydantic import RootModel, ValidationError

from elastic.budget import Budget
from elastic.contracts.evaluation_records import Named, Protocol, SummaryRow
from elastic.contracts.params.common import BudgetText
from elastic.contracts.params.strategies import Assigned, Grid, Strategy, Swap, parse_strategy
from elastic.contracts.records import read_json
from elastic.engines.protocol import EngineName
from elastic.errors import DataError, ParamsError
from stages.common import SCRATCH, Context, file_digest

if TYPE_CHECKING:
    from elastic.contracts.benchmark import Benchmark
    from elastic.evaluation.checkpoint import Checkpoint
    from elastic.evaluation.problems import Problems

# What a problem file is put and sampled by, as `data/benchmarks/*.yaml` say it for a benchmark.
_DEFAULTS: dict[str, Any] = {"template": "{question}", "temperature": 0.6, "top_p": 1.0, "samples": 1}
_GRADER = "math"


class Format(StrEnum):
    """Files of another tool."""

    LM_EVAL = "lm-eval"
    LIGHTEVAL = "lighteval"


class Assignment(RootModel[dict[str, BudgetText]]):
    """A JSON file of budgets by problem id."""


def command(
    model: Annotated[Path, typer.Option(help="Folder of the checkpoint.")],
    out: Annotated[Path, typer.Option(help="The evaluation's folder, new or begun.")],
    problems: Annotated[
        Path | None,
        typer.Option(help="JSONL rows with question and answer or tests, or a parquet of curated problems."),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Instead of --problems: a file of data/benchmarks by name, or the path of one.")
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option(help="As nested or fractured:depths=16,draws=4; repeatable.")
    ] = None,
    budgets: Annotated[str | None, typer.Option(help="Thinking+solution tokens, as in 512+512,1K+1K.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Tokens of the unconstrained mode; the largest total by default.")
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Thinking traces a problem; 1 by default.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="0 is greedy; 0.6 by default.")] = None,
    top_p: Annotated[float | None, typer.Option(max=1, help="Of nucleus sampling; 1 by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of the random streams.")] = 0,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Go on to a solution after an EOS inside thinking, as E1's code does.")
    ] = False,
    grader: Annotated[str | None, typer.Option(help="math, exact or code; math by default.")] = None,
    template: Annotated[
        str | None, typer.Option(help="The user turn; {question} stands for the question, and is all by default.")
    ] = None,
    solver: Annotated[
        list[Path] | None, typer.Option(help="Folder of a model that solves, for the strategy swap; repeatable.")
    ] = None,
    assignment: Annotated[
        list[Path] | None, typer.Option(help="JSON of budgets by problem id, for the strategy assigned; repeatable.")
    ] = None,
    engine: Annotated[
        EngineName, typer.Option(help="What samples; engines draw differently from a seed.")
    ] = "transformers",
    batch_size: Annotated[int, typer.Option(min=1, help="Rows decoded together.")] = 64,
    export: Annotated[
        list[Format] | None, typer.Option(help="Also for the tools of this format, in OUT/formats; repeatable.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace another evaluation in the same folder.")] = False,
) -> None:
    """Measure a checkpoint under strategies and budgets, with an interval over problems beside every accuracy.

    A benchmark says how it is asked and sampled; options that say otherwise are recorded with the results.
    """
    if (problems is None) == (benchmark is None):
        raise DataError("needs one of --problems and --benchmark", where="elastic eval", remedy="give one of the two")
    solvers = named_apart("--solver", {path: path.resolve().name for path in solver or ()})
    files = named_apart("--assignment", {path: path.stem for path in assignment or ()})
    assignments = {name: read_assignment(path) for name, path in files.items()}
    strategies = read_strategies(strategy or ["nested"], list(solvers), list(assignments))
    for path in (model, *solvers.values()):
        if not path.is_dir():
            raise DataError("there is no such folder", where=str(path), remedy="name the folder of a checkpoint")
    named = {path: Named(name=path.resolve().name, sha256=file_digest(path)) for path in (model, *solvers.values())}

    from elastic.answers.graders import load_grader
    from elastic.data.benchmarks import load_benchmark
    from elastic.evaluation.checkpoint import checkpoint_in
    from elastic.evaluation.evaluate import evaluate
    from elastic.evaluation.planning import Beside
    from elastic.evaluation.problems import problems_in, problems_of

    known = load_benchmark(benchmark) if benchmark else None
    asked = (
        problems_of(known, template) if known else problems_in(problems or Path(), template or _DEFAULTS["template"])
    )
    said = {"template": template, "temperature": temperature, "top_p": top_p, "samples": samples}
    protocol = protocol_of(asked.name, known, said, seed=seed, faithful=faithful)
    opened = {
        folder: checkpoint_in(
            folder,
            name,
            batch_size=batch_size,
            engine=engine,
            system=protocol.system,
            delimiters=protocol.delimiters,
        )
        for folder, name in named.items()
    }
    _note_unknown(opened[model], asked)
    # A folder's chunks are its own: two evaluations at once must not write the same ones.
    context = Context("eval", SCRATCH / f"eval-{hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:12]}")
    with load_grader(grader or (known.grading.grader if known else _GRADER)) as judge, held(context.scratch, out):
        rows = evaluate(
            out,
            context.scratch,
            opened[model],
            asked,
            strategies,
            read_grid(budgets, limit, known),
            protocol,
            judge,
            beside=Beside({name: opened[path] for name, path in solvers.items()}, assignments),
            force=force,
            report=context.progress,
            say=context.say,
        )
    for name in export or ():
        context.say(f"{write_format(out, name)}: the evaluation in the format of {name}")
    print(render(rows))


@contextmanager
def held(scratch: Path, out: Path) -> Iterator[None]:
    """Hold the chunks of one evaluation.

    Raises:
        DataError: another process is at work on it.
    """
    scratch.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{scratch}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DataError(
            "another evaluation is at work on it", where=str(out), remedy="wait for it to end, or name another --out"
        ) from None
    try:
        yield
    finally:
        lock.release()


def write_format(out: Path, name: Format) -> Path:
    """Write an evaluation in the format of another tool, dated as its summary; where it is."""
    from elastic.evaluation.folder import FORMATS, SUMMARY
    from elastic.evaluation.formats.lighteval import write_lighteval
    from elastic.evaluation.formats.lm_eval import write_lm_eval

    write = write_lm_eval if name is Format.LM_EVAL else write_lighteval
    place = out / FORMATS / name
    write(out, place, when=datetime.fromtimestamp((out / SUMMARY).stat().st_mtime))
    return place


def named_apart(option: str, names: Mapping[Path, str]) -> dict[str, Path]:
    """Paths by the names that strategies call them by.

    Raises:
        ParamsError: two paths have one name.
    """
    paths: dict[str, Path] = {}
    for path, name in names.items():
        if name in paths:
            raise ParamsError(
                f"{paths[name]} and {path} have one name, {name}",
                where=option,
                remedy="rename one of them: strategies and frames call it by its name",
            )
        paths[name] = path
    return paths


def read_strategies(texts: Sequence[str], solvers: Sequence[str], assignments: Sequence[str]) -> list[Strategy]:
    """The strategies; a bare `swap` is one swap with every solver, a bare `assigned` a run of every assignment.

    Raises:
        ParamsError: a text is no strategy, or a solver or an assignment is missing or used by none.
    """
    beside = {"swap": ("solver", "--solver", solvers), "assigned": ("budgets", "--assignment", assignments)}
    whole = []
    for text in texts:
        setting, option, names = beside.get(text, ("", "", [""]))
        if not names:
            raise ParamsError(f"{text} needs {option}", where=f"strategy {text}", remedy=f"give it by {option}")
        whole += [f"{text}:{setting}={json.dumps(name, ensure_ascii=False)}" if setting else text for name in names]
    strategies = [parse_strategy(text) for text in whole]
    used = {one.solver for one in strategies if isinstance(one, Swap)}
    used |= {one.budgets for one in strategies if isinstance(one, Assigned)}
    for name, (_, option, names) in beside.items():
        if idle := [one for one in names if one not in used]:
            raise ParamsError(
                f"no strategy uses {', '.join(idle)}", where=option, remedy=f"add --strategy {name}, or leave it out"
            )
    return strategies


def read_grid(budgets: str | None, limit: int | None, benchmark: Benchmark | None) -> Grid:
    """Budgets and limit, the benchmark's where they are not given.

    Raises:
        BudgetError: a budget is malformed.
        DataError: there are no budgets.
    """
    if not budgets and (budgets is not None or benchmark is None):
        raise DataError("are missing", where="--budgets", remedy="write thinking+solution tokens, as in 512+512,1K+1K")
    wanted = [Budget.parse(text) for text in budgets.split(",")] if budgets else benchmark.budgets if benchmark else ()
    total = max(budget.total for budget in wanted)
    return Grid(budgets=tuple(sorted(set(wanted))), limit=limit or (benchmark and benchmark.limit) or total)


def read_assignment(path: Path) -> dict[str, Budget]:
    """A budget for every problem, from a JSON object of texts such as "512+512" by problem id.

    Raises:
        DataError: the file is missing or malformed.
    """
    try:
        return Assignment.model_validate(read_json(path)).root
    except ValidationError as error:
        raise DataError(
            f"is no assignment: {error.errors()[0]['msg']}",
            where=str(path),
            remedy='write one JSON object such as {"PROBLEM ID": "512+512"}',
        ) from None


def protocol_of(
    name: str, benchmark: Benchmark | None, said: Mapping[str, Any], *, seed: int, faithful: bool
) -> Protocol:
    """How problems are put and sampled: what is said, else what the benchmark says, else the defaults.

    Args:
        name: of the problems.
        benchmark: where there is one.
        said: fields of Protocol, None where nothing is said.
        seed, faithful: fields of Protocol of which benchmarks say nothing.

    Raises:
        ParamsError: what is said is no way to sample.
    """
    known = _DEFAULTS if benchmark is None else {**benchmark.prompt.model_dump(), **benchmark.sampling.model_dump()}
    if benchmark:
        special = benchmark.delimiters
        known |= {"samples": benchmark.samples} | ({"delimiters": (special.open, special.close)} if special else {})
    others = {key: value for key, value in said.items() if value not in (None, known[key])}
    changed = tuple(sorted(others)) if benchmark else ()
    try:
        return Protocol(benchmark=name, **{**known, **others}, changed=changed, seed=seed, faithful=faithful)
    except ValidationError as error:
        faults = [f"--{str(fault['loc'][0]).replace('_', '-')}: {fault['msg']}" for fault in error.errors()]
        raise ParamsError("; ".join(faults), where="elastic eval", remedy="change the options named") from None


def _note_unknown(checkpoint: Checkpoint, problems: Problems) -> None:
    unknown_id = checkpoint.prompter.tokenizer.unk_token_id
    prompts = [checkpoint.prompter.render(prompt) for prompt in problems.frame["prompt"]]
    unknown = sum(unknown_id in ids for ids in prompts)
    if unknown_id is not None and unknown:
        print(f"note: the tokenizer does not know all of the text of {unknown} problems", file=sys.stderr)


def render(rows: Sequence[SummaryRow]) -> str:
    """The rows as text, run by run."""
    from elastic.evaluation.table import budget_text

    lines = [
        f"{'method':13} {'setting':>10} {'budget':>11} {'Mean@k':>7}  {'interval':15} {'k':>4} {'pass@k':>7} "
        f"{'majority':>8} {'thinking':>8} {'solution':>8} {'probes':>7} {'forced':>7} {'cut':>7} {'no answer':>9}"
    ]
    run = ""
    for row in rows:
        if row.run != run:
            run = row.run
            lines.append(run)
        interval = f"{row.ci_low:6.1%} - {row.ci_high:.1%}"
        lines.append(
            f"{row.method:13} {row.setting:>10} {budget_text(row):>11} {row.accuracy:7.1%}  {interval:15} {row.k:4} "
            f"{row.pass_at_k:7.1%} {row.majority:8.1%} {row.mean_think_tokens:8.1f} {row.mean_solution_tokens:8.1f} "
            f"{row.mean_probe_tokens:7.1f} {row.forced_share:7.1%} {row.truncated_solution_share:7.1%} "
            f"{row.no_answer_share:9.1%}"
        )
    lines.append(
        f"{rows[0].model} on {rows[0].benchmark}: intervals over {rows[0].n_problems} problems, "
        f"{rows[0].n_samples} traces each; mean tokens; shares of answers. All figures: summary.md"
    )
    return "\n".join(lines)
