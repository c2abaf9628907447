"""Checks that an exported checkpoint must pass; each raises ExportError, and the exporter leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import ExportError, MarkerError
from elastic.markers import Markers

REQUIRED = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "README.md",
)


def check_files(folder: Path) -> None:
    """Every file a user needs is there and not empty; weights may be sharded."""
    for name in REQUIRED:
        path = folder / name
        if name == "model.safetensors" and not path.exists() and list(folder.glob("model-*.safetensors")):
            continue
        if not path.exists() or path.stat().st_size == 0:
            raise ExportError(f"{name} is missing or empty", where=str(folder), remedy="look at what export wrote")


def check_loads(folder: Path, questions: Sequence[Sequence[int]], engine: TransformersEngine, new_tokens: int) -> None:
    """Loaded by plain transformers, the export reproduces the training checkpoint.

    Its delimiters are found, its weights are finite and equal, and for every prompt `generate` gives the greedy ids
    that the budgeted engine gives with the training checkpoint.

    Args:
        folder: the export.
        questions: rendered prompts.
        engine: the training checkpoint.
        new_tokens: greedy tokens a prompt; the budget never binds before them.

    Raises:
        ExportError: naming the check that failed.
    """
    where = str(folder)
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
        markers = Markers.find(tokenizer, eos_ids=model.generation_config.eos_token_id)
    except (OSError, ValueError, RuntimeError, MarkerError) as error:
        raise ExportError(
            f"plain transformers cannot load it: {error}", where=where, remedy="compare it with the training checkpoint"
        ) from None
    if markers != engine.markers:
        raise ExportError("its delimiters are not the training checkpoint's", where=where, remedy="save its tokenizer")
    expected = engine.model.state_dict()
    for name, weight in model.state_dict().items():
        if not torch.isfinite(weight).all():
            raise ExportError(f"{name} holds values that are not finite", where=where, remedy="train again")
        if name not in expected or not torch.equal(weight.cpu(), expected[name].cpu()):
            raise ExportError(f"{name} differs from the training checkpoint", where=where, remedy="export again")
    model.to(engine.model.device)
    jobs = [Job.plain(tuple(prompt), new_tokens, seed=0) for prompt in questions]
    for job, trace in zip(jobs, engine.generate(jobs, Sampling(temperature=0)), strict=True):
        ours = trace.completion_ids(markers.close_id)
        theirs = model.generate(
            torch.tensor([job.prompt_ids], device=model.device),
            attention_mask=torch.ones((1, len(job.prompt_ids)), dtype=torch.long, device=model.device),
            do_sample=False,
            max_new_tokens=len(ours),
            eos_token_id=sorted(markers.eos_ids),
            pad_token_id=markers.pad_id,
        )[0, len(job.prompt_ids) :].tolist()
        if theirs != ours:
            raise ExportError(
                f"greedy ids differ under plain transformers, first at token {_first_difference(ours, theirs)}",
                where=where,
                remedy="compare config.json and generation_config.json with the training checkpoint",
            )


def _first_difference(left: Sequence[int], right: Sequence[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def check_budgets(engine: TransformersEngine, questions: Sequence[Sequence[int]], budget: Budget) -> None:
    """The export's engine answers inside `budget` (the engine raises BudgetError when it does not)."""
    jobs = [Job.separate(tuple(prompt), budget, seed=i) for i, prompt in enumerate(questions)]
    traces = engine.generate(jobs, Sampling(temperature=0))
    if not any(trace.n_solution for trace in traces):
        raise ExportError(f"no solution at all under {budget}", where="exported model", remedy="look at its traces")
