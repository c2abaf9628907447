"""The starting model: taught from nothing on curated demonstrations, or a checkpoint pinned on a hub.

Run it alone: `python -m stages.base`. Teaching resumes from its newest complete checkpoint after a kill.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, TrainerCallback

from elastic.contracts.frames import Problems, read_frame
from elastic.contracts.params.base import BaseBlock, HubBase, TaughtBase
from elastic.contracts.params.common import validate
from elastic.contracts.params.prompt import PromptParams
from elastic.engines.runtime import use_cpu
from elastic.errors import DataError
from elastic.markers import Markers
from elastic.models.tiny import build_model, build_tokenizer
from elastic.prompts import Prompter
from elastic.training.asked_lengths import ask_lengths
from elastic.training.sft import Demonstration, teach
from stages.common import Context, exit_with_message, params_block, run_stage, staged

TEACHING = Path("data/curated/teaching.parquet")
GATE = Path("reports/checks/curated.json")
OUTPUT = Path("models/base")


class _Progress(TrainerCallback):
    def __init__(self, context: Context) -> None:
        self.context = context

    def on_log(self, args, state, control, logs=None, **kwargs) -> None:  # type: ignore[no-untyped-def]
        if logs and "loss" in logs:
            self.context.progress(f"step {state.global_step}/{state.max_steps}  loss {float(logs['loss']):.3f}")


def run_taught(params: TaughtBase, prompt: PromptParams, teaching: Path, output: Path, context: Context) -> None:
    """Teach a tiny decoder on the demonstrations in `teaching` and save it to `output`.

    Raises:
        DataError: there are no demonstrations, or one cannot be taught.
    """
    frame = read_frame(Problems, teaching)
    rows = [Demonstration(*row) for row in frame.select("question", "thinking", "solution").iter_rows()]
    tokenizer = build_tokenizer(params.vocabulary, context=params.context)
    if params.asked_lengths:
        rows = ask_lengths(rows, params.asked_lengths, tokenizer, seed=params.seed)
    model = build_model(
        tokenizer,
        hidden=params.hidden,
        layers=params.layers,
        heads=params.heads,
        context=params.context,
        seed=params.seed,
    )
    prompter = Prompter(tokenizer, template=prompt.template, system=prompt.system)
    context.say(f"{model.num_parameters():,} parameters, {len(rows):,} demonstrations, {params.steps} steps")
    taught = teach(
        model,
        prompter,
        Markers.find(tokenizer),
        rows,
        scratch=context.scratch,
        steps=params.steps,
        batch_size=params.batch_size,
        learning_rate=params.learning_rate,
        warmup_steps=params.warmup_steps,
        weight_decay=params.weight_decay,
        save_every=params.save_every,
        seed=params.seed,
        callbacks=[_Progress(context)],
        use_cpu=use_cpu(),
    )
    context.resumed_from = taught.resumed_from
    context.facts = {"parameters": model.num_parameters(), "demonstrations": len(rows), "steps": taught.steps}
    with staged(output) as folder:
        model.generation_config = GenerationConfig(
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def run_hub(params: HubBase, output: Path, context: Context) -> None:
    """Fetch a pinned checkpoint (or read a local folder) and save it to `output`.

    Raises:
        DataError: it cannot be loaded whole, or holds fewer tokens than `base.context`.
        MarkerError: its tokenizer has no usable delimiters.
    """
    context.say(f"loading {params.model} at {params.revision or 'its folder'}")
    where = f"base.model {params.model}"
    try:
        pair: Any = AutoModelForCausalLM.from_pretrained(
            params.model, revision=params.revision, dtype="auto", output_loading_info=True
        )
        tokenizer = AutoTokenizer.from_pretrained(params.model, revision=params.revision)
    except Exception as error:
        raise DataError(
            f"the base model cannot be loaded: {error}",
            where=where,
            remedy="check the id, the revision and the network, or name a whole local folder",
        ) from error
    model, loaded = pair
    if missing := sorted(loaded["missing_keys"]):
        raise DataError(
            f"{len(missing)} weights are missing, first {missing[0]}", where=where, remedy="name a whole checkpoint"
        )
    longest = getattr(model.config, "max_position_embeddings", None) or params.context
    if longest < params.context:
        raise DataError(
            f"base.context is {params.context}, but the model holds {longest} tokens",
            where=where,
            remedy=f"set base.context to {longest} or less",
        )
    Markers.find(tokenizer, eos_ids=model.generation_config.eos_token_id)
    context.facts = {"parameters": model.num_parameters(), "revision": params.revision}
    with staged(output) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def main() -> None:
    """Read params, make the base, write the record."""
    params = validate(BaseBlock, {"base": params_block("base")}, where="").base
    prompt = validate(PromptParams, params_block("prompt"), where="prompt")

    def run(context: Context) -> None:
        if isinstance(params, TaughtBase):
            run_taught(params, prompt, TEACHING, OUTPUT, context)
        else:
            run_hub(params, OUTPUT, context)

    inputs = [TEACHING, GATE] if isinstance(params, TaughtBase) else [GATE]
    run_stage("base", {"base": params, "prompt": prompt}, inputs, [OUTPUT], run)


if __name__ == "__main__":
    exit_with_message(main)
