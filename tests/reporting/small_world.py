"""A made world for the report: three models whose traces follow a simple law, as valid files of every contract.

A problem is a chain of 3 to 7 terms. A model works through it and then checks itself; it is right if it was allowed
to think through enough of the chain. `r1` checks less than `base` and can answer from less; `r2` is `r1` again with
other draws.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from filled_frames import filled

from elastic.budget import Budget
from elastic.contracts.distribution import Distribution, DriftResult
from elastic.contracts.frames import (
    EVALUATED_SPLITS,
    PassRates,
    Problems,
    Rejected,
    Scored,
    write_frame,
)
from elastic.contracts.params.profile import Profile
from elastic.contracts.records import (
    Comparison,
    Curation,
    Decision,
    GateResult,
    Record,
    TrainingOutcome,
    write_json,
)
from elastic.data.sources import facts_of
from elastic.metrics.table import budget_table
from elastic.seeding import stream_seed
from stages.common import file_digest
from stages.report import GATES, stages_of

ROOT = Path(__file__).parents[2]
MODELS = ["base", "r1", "r2"]
THINK, SOLUTION, LIMIT, S = [0, 8, 16, 24, 48], [12, 16], 120, 16
PROBLEMS, SAMPLES = 48, 2
OUTCOMES = {
    "r1": TrainingOutcome(steps=40, kept=30, ended_by=None, alerts=[], turning_step=14),
    "r2": TrainingOutcome(
        steps=12,
        kept=12,
        ended_by="alert at step 12: entropy fell to 0.0010 nats, below 0.01",
        alerts=["step 12: entropy fell to 0.0010 nats, below 0.01"],
        turning_step=None,
    ),
}
_CHECKS = {"base": 2.0, "r1": 0.5, "r2": 0.5}
_NEEDED = {"base": 1.0, "r1": 0.55, "r2": 0.55}


def raw_params() -> dict[str, Any]:
    """The laptop profile on a small grid, with few resamples, as it stands in a file."""
    raw: dict[str, Any] = yaml.safe_load((ROOT / "params" / "laptop.yaml").read_text(encoding="utf-8"))
    grid = {"think": THINK, "solution": SOLUTION, "limit": LIMIT, "samples": SAMPLES}
    raw["profile"] = "small"
    raw["sample"]["grids"] = dict.fromkeys(EVALUATED_SPLITS, grid)
    raw["score"]["resamples"] = 200
    raw["report"]["examples"] = 2
    raw["rounds"] = {
        "r1": {"prev": "base", "budget": "24+16", "steps": 40, "learning_rate": 1e-4},
        "r2": {"prev": "r1", "budget": "40+16", "steps": 20, "learning_rate": 1e-4},
    }
    return raw


def profile() -> Profile:
    """The same, validated."""
    return Profile.model_validate(raw_params())


def problem(split: str, number: int) -> tuple[str, list[int]]:
    """Id and terms of a problem."""
    rng = random.Random(stream_seed(7, split, number))
    terms = [rng.randint(1, 9)]
    for _ in range(rng.randint(2, 6)):
        terms.append(rng.choice([t for t in range(-9, 10) if t and 0 <= sum(terms) + t <= 19]))
    return f"{stream_seed(7, 'id', split, number):016x}", terms


def response(model: str, split: str, number: int, sample: int) -> tuple[list[str], list[str]]:
    """Thinking and solution as tokens, without any limit."""
    rng = random.Random(stream_seed(11, model, split, number, sample))
    terms = problem(split, number)[1]
    steps, total = [], terms[0]
    for term in terms[1:]:
        steps += [str(total), "+" if term > 0 else "-", str(abs(term)), "=", str(total + term), ";"]
        total += term
    thinking = list(steps)
    for _ in range(round(_CHECKS[model] * rng.random() * 1.5)):
        thinking += ["check:", *steps]
    return thinking, [*steps[-6:], "\\boxed{", str(total), "}", "<eos>"]


def trace(model: str, split: str, number: int, sample: int, method: str, budget: Budget | None) -> dict[str, Any]:
    """One scored trace."""
    problem_id, terms = problem(split, number)
    thinking, solution = response(model, split, number, sample)
    gold = str(sum(terms))
    if method == "separate":
        assert budget is not None
        closed = "natural" if len(thinking) <= budget.think else "forced"
        think, out = thinking[: budget.think], solution[: budget.solution]
    else:
        total = budget.total if budget else LIMIT
        closed = "natural" if len(thinking) < total else "never"
        think = thinking[:total]
        out = solution[: total - len(think)] if closed == "natural" else []
    complete = "}" in out
    rng = random.Random(stream_seed(13, model, split, number, sample, len(think)))
    enough = len(think) >= _NEEDED[model] * 6 * (len(terms) - 1) or rng.random() < 0.15
    right = complete and enough and rng.random() < 0.95
    said = None if not complete else gold if right else str((int(gold) + 1) % 20)
    if said is not None and said != gold:
        out = [said if (i and out[i - 1] == "\\boxed{") else token for i, token in enumerate(out)]
    return {
        "problem_id": problem_id,
        "split": split,
        "model": model,
        "method": method,
        "think_budget": budget.think if budget else None,
        "solution_budget": budget.solution if budget else None,
        "limit": None if budget else LIMIT,
        "sample": sample,
        "prompt_ids": [1, 2, 3],
        "think_ids": list(range(len(think))),
        "solution_ids": list(range(len(out))),
        "n_think": len(think),
        "n_solution": len(out),
        "closed": closed,
        "finish": "eos" if out and out[-1] == "<eos>" else "budget",
        "think_text": "".join(think),
        "solution_text": "".join(token for token in out if token != "<eos>"),
        "answer": said,
        "found_by": None if said is None else "boxed",
        "gold": gold,
        "verdict": "no_answer" if said is None else "correct" if right else "wrong",
    }


def scored(model: str, split: str) -> pl.DataFrame:
    """All scored traces of a model on a split."""
    cells: list[tuple[str, Budget | None]] = [("unconstrained", None)]
    cells += [(method, Budget(t, s)) for method in ("separate", "truncate") for t in THINK for s in SOLUTION]
    rows = [
        trace(model, split, number, sample, method, budget)
        for method, budget in cells
        for number in range(PROBLEMS)
        for sample in range(SAMPLES)
    ]
    return filled(Scored, rows)


def training_log(name: str, steps: int) -> list[dict[str, Any]]:
    """Rows of metrics.jsonl: figures of every step, and monitors every tenth."""
    rng, rows = random.Random(stream_seed(17, name)), []
    for step in range(1, steps + 1):
        done = step / steps
        rows.append(
            {
                "step": step,
                "reward": 0.3 + 0.3 * done + rng.uniform(-0.08, 0.08),
                "think_tokens_correct": 20 - 4 * done + rng.uniform(-1, 1),
                "think_tokens_wrong": 23 - done + rng.uniform(-1, 1),
                "solution_tokens_correct": 9 + 3 * done + rng.uniform(-1, 1),
                "solution_tokens_wrong": 10 + 3 * done + rng.uniform(-1, 1),
                "forced_share": 0.9 - 0.5 * done + rng.uniform(-0.05, 0.05),
                "entropy": 0.4 - 0.2 * done + rng.uniform(-0.02, 0.02),
                "zero_variance_share": 0.3 + 0.2 * done + rng.uniform(-0.1, 0.1),
            }
        )
        if step % 10 == 0:
            for budget, best in (("24+16", 0.6), ("12+16", 0.4)):
                rows.append(
                    {"step": step, "monitor": budget, "accuracy": best * (0.6 + 0.4 * done), "mean_think_tokens": 20.0}
                )
    return rows


def pass_rates() -> pl.DataFrame:
    """Pass rates of 40 problems over 4 samples; one was never graded, and those always solved are left out.

    Every fourth comes from the second source.
    """
    rows = []
    for number in range(40):
        correct = number % 5
        bucket = "never" if correct == 0 else "always" if correct == 4 else "hard" if correct <= 2 else "easy"
        graded = 0 if number == 39 else 4
        rows.append(
            {
                "problem_id": problem("training", number)[0],
                "source": "chains" if number % 4 else "incoming",
                "samples": 4,
                "graded": graded,
                "correct": correct if graded else 0,
                "pass_rate": correct / 4 if graded else None,
                "bucket": bucket if graded else None,
                "kept": bool(graded) and bucket != "always",
            }
        )
    assert {row["bucket"] for row in rows if row["bucket"]} == set(profile().bucket.buckets)
    return filled(PassRates, rows)


def question(split: str, number: int) -> str:
    terms = problem(split, number)[1]
    return str(terms[0]) + "".join(f"{term:+d}" for term in terms[1:]) + "=?"


def build(folder: Path) -> Profile:
    """Write everything that the report reads into `folder`, and return the profile."""
    params = profile()
    (folder / "params.yaml").write_text(yaml.safe_dump(raw_params()), "utf-8")
    for split in EVALUATED_SPLITS:
        for model in MODELS:
            frame = scored(model, split)
            scores = folder / "results/scores" / split / model
            write_frame(Scored, frame, scores / "scored.parquet")
            score = params.score
            table = budget_table(frame, confidence=score.confidence, resamples=score.resamples, seed=score.seed)
            write_json(scores / "grid.json", [row.model_dump() for row in table])
    write_json(
        folder / "results/decision.json",
        Decision(
            promoted="r1",
            rule="The gain of r1 over base on the validation grid is above 0.0 in mean accuracy.",
            solution_budget=S,
            comparisons=[
                Comparison(model="r1", control="base", measure="mean accuracy over the validation grid",
                           difference=0.2, ci_low=0.15, ci_high=0.25, n_problems=PROBLEMS),
                Comparison(model="r2", control="r1", measure="mean accuracy over the validation grid",
                           difference=0.0, ci_low=-0.03, ci_high=0.03, n_problems=PROBLEMS),
            ],
            next_round_worthwhile=False,
        ),
    )  # fmt: skip
    problems = [
        {
            "problem_id": problem("test", number)[0],
            "source": "chains",
            "split": "test",
            "question": question("test", number),
            "answer": str(sum(problem("test", number)[1])),
        }
        for number in range(PROBLEMS)
    ]
    write_frame(Problems, filled(Problems, problems), folder / "data/curated/test.parquet")
    rejected = filled(
        Rejected,
        [{"source": "chains", "question": question("test", n), "answer": "4", "detail": "chains"} for n in range(5)]
        + [
            {
                "source": "incoming",
                "question": "<b>1+1</b>=?",
                "answer": "3",
                "reason": "gold does not grade itself",
                "detail": "graded wrong",
            }
        ],
    )
    write_frame(Rejected, rejected, folder / "data/curated/rejected.parquet")
    write_json(
        folder / "data/curated/curation.json",
        Curation.model_validate(
            {
                "grader": {"name": "math", "version": "1"},
                "collected": {"chains": 300, "incoming": 1},
                "rows": {
                    "chains": {"teaching": 160, "training": 40, "validation": PROBLEMS, "test": PROBLEMS},
                    "incoming": {},
                },
                "rejected": {"duplicate": 5, "gold does not grade itself": 1},
                "contamination": {"checked": 200, "against": 2 * PROBLEMS, "overlaps": [], "removed": []},
            }
        ),
    )
    known = {source.name: source for source in profile().collect.sources}
    world, incoming = known["chains"], known["incoming"]
    incoming_facts = facts_of(incoming, 1).model_copy(
        update={"forbids": ("commercial use",), "overlaps": ("one problem of chains",), "revision": "0123456789" * 4}
    )
    facts = [facts_of(world, 300), incoming_facts]
    write_json(folder / "data/collected/sources.json", [fact.model_dump(mode="json") for fact in facts])
    write_frame(PassRates, pass_rates(), folder / "data/bucketed/rates.parquet")
    reference = folder / "data/reference/iterative_training.yaml"
    reference.parent.mkdir(parents=True)
    reference.write_bytes((ROOT / "data/reference/iterative_training.yaml").read_bytes())
    for name, params_of_round in params.rounds.items():
        log = folder / "reports/training" / name / "metrics.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("".join(json.dumps(row) + "\n" for row in training_log(name, params_of_round.steps)), "utf-8")
        write_json(log.with_name("outcome.json"), OUTCOMES[name])
    for gate in GATES:
        write_json(
            folder / f"reports/checks/{gate}.json", GateResult(gate=gate, passed=True, expectations=[{"rows": 1}] * 3)
        )
        known = gate == "curated"
        drift = DriftResult(
            profile="small",
            accepted=f"data/accepted/small/{gate}.json" if known else None,
            expectations=[{"rows": 1}] * 5 if known else [],
            present=Distribution(gate=gate, frames={}),
        )
        write_json(folder / f"reports/drift/{gate}.json", drift)
    pages = folder / "reports/data_docs/curated/index.html"
    pages.parent.mkdir(parents=True)
    pages.write_text("<!doctype html><title>Data Docs</title>", "utf-8")
    card = folder / "exports/model/README.md"
    card.parent.mkdir(parents=True)
    card.write_text("# model\n", "utf-8")
    for number, stage in enumerate(stages_of(params)):
        output = folder / "results/decision.json"
        write_json(
            folder / f"records/{stage}.json",
            Record(
                stage=stage, fingerprint=f"{number:016x}", params={}, inputs={},
                outputs={"results/decision.json": file_digest(output)},
                versions={"python": "3.11", "polars": "2.1"}, seconds=12.0 + number,
                sampled_tokens=1000 * number, resumed_from=7 if stage == "probe" else 0,
            ),
        )  # fmt: skip
    return params
