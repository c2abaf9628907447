"""A made laboratory: two models whose answers follow a law, as valid files of every contract.

A problem is a chain of 2 to 7 terms. A model thinks for so many tokens a term and needs a share of them; with fewer its
answer is wrong, and below a solution budget of 8 there is none. `r1` thinks and needs half of what `base` does. Some
samples are wrong whatever they were given. Whoever solves needs the share of who solves; whoever thinks, its length.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from elastic.contracts.chains import Chain
from elastic.contracts.evaluation import Answers, Costs, Thinking
from elastic.contracts.evaluation_records import EvaluationRecord, Grading, Intervals, Named, Protocol
from elastic.contracts.frames import PassRates, Problems, StrictFrame, write_frame
from elastic.contracts.records import write_json
from elastic.evaluation.table import COLUMNS, summary_table
from elastic.seeding import stream_seed
from lab.analysis_params import AnalyseParams
from lab.evidence import Evidence

ROOT = Path(__file__).parents[2]
MODELS = ("base", "r1")
PROBLEMS = 18  # three of every length
THINK, SOLUTION, LIMIT, SAMPLES = (0, 8, 16, 32, 48), (4, 16), 160, 2
PARAMS = AnalyseParams.model_validate(
    {
        "main": "16+16",
        "wanted": [0.5, 0.99],
        "allowances": [40.0, 56.0],
        "shapes": ["s=16", "free"],
        "last": 2,
        "keywords": "laptop",
        "price": "deepseek-reasoner",
        "confidence": 0.95,
        "resamples": 200,
        "seed": 3,
    }
)
PER_TERM = {"base": 10, "r1": 5}
NEEDED = {"base": 1.0, "r1": 0.8}
ANSWER = 7  # tokens of a whole solution


def terms(number: int) -> int:
    """2 to 7, by the problem's number."""
    return 2 + number % 6


def problem_id(name: str, number: int) -> str:
    """Problems of `few` are those of `test`."""
    return f"{stream_seed(1, 'test' if name == 'few' else name, number):016x}"


def question(number: int) -> str:
    """A chain, whose words are its terms."""
    return Chain(4, ("+1",) * (terms(number) - 1)).question


def length(model: str, number: int) -> int:
    """Tokens of unhurried thinking."""
    return PER_TERM[model] * (terms(number) - 1)


def words(model: str, number: int) -> list[str]:
    """Unhurried thinking, a word a token: the steps of the chain, each with filler up to its length."""
    steps = Chain.read(question(number)).steps(terse=False)
    return [word for step in steps for word in [step, *["so"] * (PER_TERM[model] - 2), "check:"]]


VOCABULARY = sorted({word for number in range(6) for word in words("base", number)})


def decode(ids: Sequence[int]) -> str:
    """Thinking as text."""
    return " ".join(VOCABULARY[token] for token in ids)


def unlucky(number: int, sample: int) -> bool:
    """Whether a sample is wrong whatever it was given: every tenth."""
    return (number + 7 * sample) % 10 == 0


@dataclass(frozen=True)
class Answer:
    """What of an answer differs from run to run."""

    run: str
    method: str
    problem: int
    sample: int
    think: int | None
    solution: int | None
    given: int
    limit: int | None = None
    solver: str | None = None
    setting: str = ""
    depth: int | None = None
    draw: int = 0
    probes: int = 0


def row(name: str, model: str, answer: Answer) -> dict[str, Any]:
    """An answer as a row of Answers."""
    solver = answer.solver or model
    whole = length(model, answer.problem)
    room = answer.solution if answer.solution is not None else (answer.limit or LIMIT) - answer.given
    total = answer.method in ("truncate", "unconstrained", "l1_max")
    ended = answer.given >= whole
    closed = "natural" if ended else "never" if total else "forced"
    written = 0 if closed == "never" else min(ANSWER, max(room, 0))
    gold = str(3 + terms(answer.problem))
    enough = answer.given >= NEEDED[solver] * length(solver, answer.problem)
    right = enough and not unlucky(answer.problem, answer.sample + answer.draw)
    boxed = written == ANSWER
    return {
        **{key: getattr(answer, key) for key in ("run", "setting", "sample", "method", "limit", "depth", "draw")},
        "problem_id": problem_id(name, answer.problem),
        "model": model,
        "solver": solver,
        "think_budget": answer.think,
        "solution_budget": answer.solution,
        "n_think": answer.given,
        "n_solution": written,
        "n_forced": 0,
        "n_probe": answer.probes,
        "closed": closed,
        "finish": "eos" if boxed else "budget",
        "logprob": (-0.1 if right else -0.4) if written else None,
        "solution_ids": list(range(written)),
        "solution_text": f"\\boxed{{{gold}}}" if boxed else "so",
        "question": question(answer.problem),
        "gold": gold,
        "policy": None,
        "answer": (gold if right else str(int(gold) + 1)) if boxed else None,
        "found_by": "boxed" if boxed else None,
        "verdict": ("correct" if right else "wrong") if boxed else "no_answer",
        "pass_share": None,
        "grader": "exact 1",
    }


def nested(model: str, problems: int, samples: int) -> Iterator[Answer]:
    """Separate budgets, truncation and no budget."""
    for number in range(problems):
        whole = length(model, number)
        for sample in range(samples):
            for think in THINK:
                for solution in SOLUTION:
                    given = min(think, whole)
                    yield Answer("nested", "separate", number, sample, think, solution, given)
                    total = min(think + solution, whole)
                    left = Answer("nested", "truncate", number, sample, think, solution, total)
                    yield replace(left, limit=None)
            yield Answer("nested", "unconstrained", number, sample, None, None, min(whole, LIMIT), limit=LIMIT)


def others(model: str, problems: int, samples: int) -> Iterator[Answer]:
    """S1 (as separate budgets), L1 (asked for 32) and early stopping (after half of the thinking)."""
    stop = f"early_stop:first={THINK[1]},every=8"
    for number in range(problems):
        whole = length(model, number)
        for sample in range(samples):
            for think in THINK:
                for solution in SOLUTION:
                    yield Answer("s1_r1", "s1_r1", number, sample, think, solution, min(think, whole))
            asked = Answer("l1_max:targets=[32]", "l1_max", number, sample, None, None, min(32, whole), limit=LIMIT)
            yield replace(asked, setting="asked=32")
            half = -(-whole * 4 // 5)
            yield Answer(stop, "early_stop", number, sample, LIMIT, SOLUTION[-1], half, probes=2 * ANSWER)


def fractured(model: str, problems: int, samples: int) -> Iterator[Answer]:
    """Four depths, two draws."""
    run = "fractured:depths=4,draws=2"
    for number in range(problems):
        whole = length(model, number)
        for sample in range(samples):
            for depth in range(1, 5):
                for draw in range(2):
                    given = depth * whole // 4
                    found = Answer(run, "fractured", number, sample, LIMIT, SOLUTION[-1], given)
                    yield replace(found, depth=depth, draw=draw)


def swapped(thinker: str, solver: str, problems: int, samples: int) -> Iterator[Answer]:
    """One thinks, another solves."""
    for number in range(problems):
        for sample in range(samples):
            for think in THINK:
                given = min(think, length(thinker, number))
                found = Answer(f"swap:solver={solver}", "swap", number, sample, think, SOLUTION[-1], given)
                yield replace(found, solver=solver)


def filled(contract: type[StrictFrame], rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A frame of a contract, its columns in order and of its types."""
    schema = contract.to_schema()
    types = {name: column.dtype.type for name, column in schema.columns.items()}
    return pl.DataFrame(rows, schema=types)


def write(folder: Path, name: str, model: str, answers: list[Answer]) -> None:
    """The folder of one evaluation, a file a run."""
    rows = filled(Answers, [row(name, model, answer) for answer in answers])
    thought = {
        problem_id(name, answer.problem): [VOCABULARY.index(word) for word in words(model, answer.problem)]
        for answer in {answer.problem: answer for answer in answers}.values()
    }
    for number, own in enumerate(rows.partition_by("run", maintain_order=True)):
        paths = (
            own.group_by("run", "setting", "problem_id", "sample")
            .agg(pl.col("n_think").max())
            .sort("problem_id", "sample", "setting")
        )
        rows_of_thinking = [
            {
                **{key: path[key] for key in ("run", "setting", "problem_id", "sample")},
                "prompt_ids": [1, 2, 3],
                "think_ids": thought[path["problem_id"]][: path["n_think"]],
                "opening": 0,
                "think_text": decode(thought[path["problem_id"]][: path["n_think"]]),
            }
            for path in paths.iter_rows(named=True)
        ]
        spent = (
            own.group_by("run", "problem_id")
            .agg(sampled_tokens=pl.col("n_solution").sum() + pl.col("n_think").max())
            .sort("problem_id")
            .with_columns(prefilled_tokens=pl.lit(3, pl.Int64), seconds=pl.lit(0.5))
        )
        write_frame(Answers, own, folder / "answers" / f"{number}.parquet")
        write_frame(Thinking, filled(Thinking, rows_of_thinking), folder / "thinking" / f"{number}.parquet")
        write_frame(Costs, spent.select(Costs.to_schema().columns.keys()), folder / "costs" / f"{number}.parquet")
    named = Named(name=model, sha256="0")
    protocol = Protocol(benchmark=name, template="{question}", temperature=0.6, samples=SAMPLES, seed=1)
    grading = Grading(grader="exact 1", golds="0")
    record = EvaluationRecord(
        model=named,
        problems=Named(name=name, sha256="0"),
        protocol=protocol,
        engine="transformers",
        versions={},
        grading=grading,
        intervals=Intervals(),
    )
    write_json(folder / "evaluation.json", record)
    plain = rows.filter(pl.col("run") == "nested").select(COLUMNS)
    table = summary_table(plain, name, confidence=0.95, resamples=100, seed=1) if len(plain) else []
    write_json(folder / "summary.json", [found.model_dump(mode="json") for found in table])


def problems_frame(name: str, count: int) -> pl.DataFrame:
    """The problems of a set."""
    rows = [
        {
            "problem_id": problem_id(name, number),
            "source": "chains",
            "source_id": str(number),
            "licence": "Apache-2.0",
            "split": "training" if name == "training" else "test",
            "domain": "math",
            "question": question(number),
            "answer": str(3 + terms(number)),
            "answer_original": str(3 + terms(number)),
        }
        for number in range(count)
    ]
    empty = dict.fromkeys(("level", "policy", "tests", "thinking", "solution"))
    return filled(Problems, [empty | found for found in rows])


def build(folder: Path, problems: int = PROBLEMS) -> Evidence:
    """Everything that the sections read."""
    results, asked, pipeline = folder / "results", folder / "problems", folder / "pipeline"
    for model in MODELS:
        plain, more = list(nested(model, problems, SAMPLES)), list(others(model, problems, SAMPLES))
        write(results / model / "test", "test", model, plain + more)
        halves = list(fractured(model, problems, SAMPLES))
        write(results / model / "validation", "validation", model, plain + halves)
        write(results / model / "few", "few", model, list(fractured(model, problems, 4)))
        write(results / model / "transfer", "transfer", model, plain)
        for solver in MODELS:
            write(
                results / "swap" / f"{model}-{solver}", "test", model, list(swapped(model, solver, problems, SAMPLES))
            )
    for name in ("test", "validation", "few", "transfer"):
        write_frame(Problems, problems_frame(name, problems), asked / f"{name}.parquet")
    training = problems_frame("training", problems)
    write_frame(Problems, training, pipeline / "data/curated/training.parquet")
    rates = [
        {
            "problem_id": problem_id("training", number),
            "source": "chains",
            "samples": 4,
            "graded": 4,
            "correct": max(0, 6 - terms(number)),
            "pass_rate": max(0, 6 - terms(number)) / 4,
            "bucket": "easy",
            "kept": True,
        }
        for number in range(problems)
    ]
    write_frame(PassRates, filled(PassRates, rates), pipeline / "data/bucketed/rates.parquet")
    for name in ("behaviours.yaml", "prices.yaml"):
        shutil.copy(ROOT / "data" / name, pipeline / "data" / name)
    shutil.copytree(ROOT / "data/reference", pipeline / "data/reference")
    return Evidence(PARAMS, MODELS, MODELS, results, asked, pipeline, decode)
