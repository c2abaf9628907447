"""Checks that an exported checkpoint must pass; each raises ExportError, and the exporter leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from elastic.budget import Budget
from elastic.engines.protocol import Job, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.errors import ExportError
from elastic.markers import Markers
from elastic.prompts import Prompter

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


def check_loads(
    folder: Path, engine: TransformersEngine, prompter: Prompter, questions: Sequence[str], *, new_tokens: int
) -> None:
    """Loaded by plain transformers, the export reproduces the training checkpoint.

    Its delimiters are found; its weights are finite and equal; every question gives the same prompt ids, and every
    prompt the greedy ids that the engine gives with the training checkpoint, and the same text. `generate` is called
    as a user calls it: what ends a response stands in the export's own generation config.

    Args:
        folder: the export.
        engine: the training checkpoint.
        prompter: renders questions with the training checkpoint's tokenizer.
        questions: to compare on.
        new_tokens: greedy tokens a question.

    Raises:
        ExportError: naming the check that failed.
    """
    where = str(folder)
    try:
        pair: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", output_loading_info=True)
        model, loaded = pair
        tokenizer = AutoTokenizer.from_pretrained(folder)
        markers = Markers.find(tokenizer, eos_ids=model.generation_config.eos_token_id)
    except Exception as error:
        raise ExportError(
            f"plain transformers cannot load it: {error}", where=where, remedy="compare it with the training checkpoint"
        ) from error
    # What is missing is filled with numbers that may happen to equal the checkpoint's.
    if missing := sorted(loaded["missing_keys"]):
        raise ExportError(f"{missing[0]} is missing", where=where, remedy="export again")
    if markers != engine.markers:
        raise ExportError("its delimiters are not the training checkpoint's", where=where, remedy="save its tokenizer")
    _check_weights(model.eval(), engine, where)
    prompts = [prompter.render(question) for question in questions]
    theirs = Prompter(tokenizer, template=prompter.template, system=prompter.system)
    for question, prompt in zip(questions, prompts, strict=True):
        if theirs.render(question) != prompt:
            raise ExportError(
                f"its tokenizer writes another prompt for {question!r}", where=where, remedy="save its tokenizer"
            )
    model.to(engine.model.device)
    # Row by row, as `generate` below: in low precision a batch rounds otherwise, and near ties fall otherwise.
    single = TransformersEngine(engine.model, markers, batch_size=1)
    jobs = [Job.plain(prompt, new_tokens, seed=0) for prompt in prompts]
    for job, trace in zip(jobs, single.generate(jobs, Sampling(temperature=0)), strict=True):
        expected = trace.completion_ids(markers.close_id)[:new_tokens]
        found = _greedy_ids(model, job.prompt_ids, new_tokens)
        if found != expected:
            raise ExportError(
                f"greedy ids differ under plain transformers, first at token {_first_difference(expected, found)}",
                where=where,
                remedy="compare config.json and generation_config.json with the training checkpoint",
            )
        if tokenizer.decode(found) != prompter.tokenizer.decode(found):
            raise ExportError("its tokenizer reads ids as another text", where=where, remedy="save its tokenizer")


def _check_weights(model: Any, engine: TransformersEngine, where: str) -> None:
    expected, found = engine.model.state_dict(), model.state_dict()
    for name, weight in found.items():
        if not torch.isfinite(weight).all():
            raise ExportError(f"{name} holds values that are not finite", where=where, remedy="train again")
        if name not in expected or not torch.equal(weight.cpu(), expected[name].cpu()):
            raise ExportError(f"{name} differs from the training checkpoint", where=where, remedy="export again")
    if missing := expected.keys() - found.keys():
        raise ExportError(f"{min(missing)} is missing", where=where, remedy="export again")


def _greedy_ids(model: Any, prompt: Sequence[int], new_tokens: int) -> list[int]:
    ids = torch.tensor([prompt], device=model.device)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=new_tokens)
    return out[0, len(prompt) :].tolist()


def _first_difference(left: Sequence[int], right: Sequence[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def check_budgets(engine: TransformersEngine, prompts: Sequence[tuple[int, ...]], budget: Budget) -> None:
    """The checkpoint answers inside `budget` (the engine raises BudgetError when it does not)."""
    jobs = [Job.separate(prompt, budget, seed=i) for i, prompt in enumerate(prompts)]
    traces = engine.generate(jobs, Sampling(temperature=0))
    if not any(trace.n_solution for trace in traces):
        raise ExportError(f"no solution at all under {budget}", where="exported model", remedy="look at its traces")
