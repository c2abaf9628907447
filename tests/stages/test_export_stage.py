"""The stage export on tiny models: a checkpoint that plain transformers can use, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from filled_frames import filled
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from elastic.budget import Budget
from elastic.contracts.frames import Problems, write_frame
from elastic.contracts.params.base import HubBase
from elastic.contracts.params.export import ExportParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.train import RoundParams
from elastic.contracts.records import Contamination, Curation, Decision, GridRow, Overlap, Record, write_json
from elastic.contracts.sources import SourceFacts
from elastic.errors import DataError, ElasticError, ExportError
from elastic.exporting.checks import check_files
from elastic.models.tiny import build_model, build_tokenizer
from stages import export
from stages.common import Context, file_digest

QUESTIONS = ["1+2", "3+4-5", "9-8+7-6", "7-2", "1+1+1+1", "19-8"]
PARAMS = ExportParams(name="elastic-test", licence="Apache-2.0", check_problems=4)
BASE = HubBase(kind="hub", model="./origin", context=64, licence="MIT")
PROMPT = PromptParams(template="{question}=?", max_tokens=16)
ROUNDS = {
    "r1": RoundParams(prev="base", budget=Budget(8, 4), steps=1, learning_rate=1e-4),
    "r2": RoundParams(prev="r1", budget=Budget(16, 4), steps=1, learning_rate=1e-4),
}
CURATION = Curation(
    grader={"name": "exact", "version": "1"},
    collected={"world": 10},
    rows={"world": {"training": 4, "validation": 6}},
    rejected={},
    contamination=Contamination(checked=4, against=6, overlaps=[], removed=[]),
)
SOURCE = SourceFacts(
    name="chains",
    description="generated problems",
    origin="drawn from chains",
    revision=None,
    role="any",
    licence="CC0-1.0",
    notes="",
    forbids=("redistribution",),
    rows=300,
    near_duplicates=None,
    overlaps=(),
)
DECISION = Decision(
    promoted="r1", rule="it gains", solution_budget=4, comparisons=[], next_round_worthwhile=False
).model_dump()


def grid_row(method: str, think: int | None, solution: int | None, limit: int | None) -> dict[str, Any]:
    whole = {"method": method, "think": think, "solution": solution, "limit": limit, "model": "r1", "split": "test"}
    return dict.fromkeys(GridRow.model_fields, 0.25) | whole | {"n_problems": 6, "n_samples": 2}


@pytest.fixture
def world(tiny_tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that export reads, as the current folder; the record of the base is of an older base."""
    for seed, name in enumerate(("base", "r1", "r2")):
        model = build_model(tiny_tokenizer, hidden=32, layers=2, heads=2, context=64, seed=seed)
        model.save_pretrained(tmp_path / "models" / name)
        tiny_tokenizer.save_pretrained(tmp_path / "models" / name)
    monkeypatch.chdir(tmp_path)
    rows = [{"problem_id": f"{number:016x}", "question": question} for number, question in enumerate(QUESTIONS)]
    write_frame(Problems, filled(Problems, rows), export.VALIDATION)
    write_json(export.CURATION, CURATION)
    write_json(export.SOURCES, [SOURCE.model_dump(mode="json")])
    write_json(export.DECISION, DECISION)
    rows = [("separate", 8, 4, None), ("separate", 16, 2, None), ("truncate", 8, 4, None)]
    write_json(export.SCORES / "r1/grid.json", [grid_row(*row) for row in [*rows, ("unconstrained", None, None, 24)]])
    for stage, output, digest in (
        ("train@r1", "models/r1", file_digest(Path("models/r1"))),
        ("base", "models/base", ""),
    ):
        record = {"stage": stage, "fingerprint": f"mark-of-{stage}", "outputs": {output: digest}, "seconds": 1.0}
        write_json(Path(f"records/{stage}.json"), {**record, "params": {}, "inputs": {}, "versions": {"torch": "2"}})
    return tmp_path


def run(params: ExportParams = PARAMS) -> Context:
    context = Context("export", Path("scratch"))
    export.run(params, BASE, ROUNDS, PROMPT, export.OUTPUT, context)
    return context


def test_the_export_is_the_promoted_checkpoint_under_plain_transformers(world: Path) -> None:
    context = run()
    assert context.facts == {"promoted": "r1", "checked_prompts": 4}
    tokenizer = AutoTokenizer.from_pretrained("exports/model")
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": "3+4-5=?"}], add_generation_prompt=True, return_dict=False, return_tensors="pt"
    )
    greedy = {
        folder: AutoModelForCausalLM.from_pretrained(folder).generate(ids, do_sample=False, max_new_tokens=24).tolist()
        for folder in ("models/base", "models/r1", "exports/model")
    }
    assert greedy["exports/model"] == greedy["models/r1"] != greedy["models/base"]
    assert load_file("exports/model/model.safetensors").keys() == load_file("models/r1/model.safetensors").keys()


def test_the_card_tells_budgets_rows_sources_and_only_records_that_hold(world: Path) -> None:
    run()
    card = Path("exports/model/README.md").read_text(encoding="utf-8")
    assert "- `r1`: trained under (t*, s*) = 8+4\n- `base`: the starting model, `./origin`, licence MIT\n" in card
    assert "| separate | 8 | 4 | 25.0% | 25.0% to 25.0% |" in card
    assert "| unconstrained | none (limit 24) |" in card
    assert "| separate | 16 | 2 |" not in card, "only the solution budget that decide chose"
    assert "truncate" not in card
    assert "- chains (any): CC0-1.0; forbids redistribution\n" in card
    assert "`train@r1`: fingerprint `mark-of-train@r1`" in card
    assert "mark-of-base" not in card, "the base on disk is not the one of that record"
    assert "r2" not in card


def test_the_same_inputs_give_the_same_bytes(world: Path) -> None:
    run()
    first = file_digest(export.OUTPUT)
    run()
    assert file_digest(export.OUTPUT) == first


def weights(change: Callable[[dict[str, torch.Tensor]], Any], folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def always_eos(tensors: dict[str, torch.Tensor]) -> None:
    """Every hidden state is one direction, and EOS, the second token, lies farthest along it."""
    for name, tensor in tensors.items():
        tensor.fill_(float(name == "model.norm.weight"))
    tensors["model.embed_tokens.weight"][:, 0] = 1
    tensors["model.embed_tokens.weight"][1, 0] = 2


def overlapping() -> Curation:
    overlap = Overlap(
        split="training", source="world", question="1+2", met_split="test", met_problem_id="0", met_source="world"
    )
    return CURATION.model_copy(
        update={"contamination": CURATION.contamination.model_copy(update={"overlaps": [overlap]})}
    )


INPUTS = {
    "contamination": (
        lambda: write_json(export.CURATION, overlapping()),
        r"curation\.json: 1 evaluation problems stand in",
    ),
    "a decision for an unknown round": (
        lambda: write_json(export.DECISION, {**DECISION, "promoted": "r7"}),
        r"decision\.json: the decision promotes 'r7'",
    ),
    "a decision without its figures": (
        lambda: write_json(export.DECISION, {"promoted": "r1"}),
        r"decision\.json: breaks its contract",
    ),
    "a budget table without its unconstrained row": (
        lambda: write_json(export.SCORES / "r1/grid.json", [grid_row("separate", 8, 4, None)]),
        "scores/test/r1: the budget table is not whole",
    ),
    "a budget table with a wrong value": (
        lambda: write_json(export.SCORES / "r1/grid.json", [{**grid_row("separate", 8, 4, None), "accuracy": "?"}]),
        r"grid\.json: breaks its contract",
    ),
    "a promoted model that was never sampled": (
        lambda: write_json(export.DECISION, {**DECISION, "promoted": "r2"}),
        r"scores/test/r2/grid\.json: no such file",
    ),
    "a model without its weights": (
        lambda: Path("models/r1/model.safetensors").unlink(),
        r"models/r1: .*model\.safetensors",
    ),
    "weights that are not finite": (
        lambda: weights(lambda t: t["model.layers.1.mlp.up_proj.weight"].fill_(torch.inf), Path("models/r1")),
        r"layers\.1\.mlp\.up_proj\.weight holds values that are not finite",
    ),
    "no answer under the budget": (
        lambda: weights(always_eos, Path("models/r1")),
        r"no solution at all under 16\+4",
    ),
}


@pytest.mark.parametrize("fault", INPUTS)
def test_faulty_inputs_are_refused_and_nothing_is_left(fault: str, world: Path) -> None:
    run()  # an older export must not survive a refusal
    damage, named = INPUTS[fault]
    damage()
    with pytest.raises(ElasticError, match=named) as refused:
        run()
    assert isinstance(refused.value, ExportError | DataError)
    assert list(Path("exports").iterdir()) == []


def edited(name: str, **values: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps(content | values), encoding="utf-8")

    return edit


WRITTEN = {
    "a file that was not written": (lambda folder: (folder / "tokenizer_config.json").unlink(), "missing or empty"),
    "an empty card": (lambda folder: (folder / "README.md").write_bytes(b""), r"README\.md is missing or empty"),
    "weights that changed": (
        lambda folder: weights(lambda t: t["model.norm.weight"].mul_(1.001), folder),
        "differs from the training checkpoint",
    ),
    "another tokenizer": (
        lambda folder: build_tokenizer([*map(str, range(20)), *"=?+-"], context=64).save_pretrained(folder),
        "its tokenizer writes another prompt",
    ),
    "another config": (edited("config.json", rms_norm_eps=1.0), "greedy ids differ"),
    "another generation config": (edited("generation_config.json", repetition_penalty=9.0), "greedy ids differ"),
}


@pytest.mark.parametrize("fault", WRITTEN)
def test_what_breaks_while_it_is_written_is_refused_and_nothing_is_left(
    fault: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage, named = WRITTEN[fault]

    def break_then_check(folder: Path) -> None:
        damage(folder)
        check_files(folder)

    monkeypatch.setattr(export, "check_files", break_then_check)
    with pytest.raises(ExportError, match=named):
        run()
    assert list(Path("exports").iterdir()) == []


def test_the_command_reads_its_params_and_writes_the_record(world: Path) -> None:
    blocks = {
        "export": PARAMS.model_dump(),
        "base": BASE.model_dump(),
        "prompt": PROMPT.model_dump(),
        "rounds": {name: {**params.model_dump(), "budget": str(params.budget)} for name, params in ROUNDS.items()},
    }
    Path("params.yaml").write_text(yaml.safe_dump(blocks), encoding="utf-8")
    export.main()
    record = Record.model_validate_json(Path("records/export.json").read_text(encoding="utf-8"))
    assert record.outputs == {"exports/model": file_digest(export.OUTPUT)}
    assert record.facts["promoted"] == "r1"
    assert str(export.SOURCES) in record.inputs
