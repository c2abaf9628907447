"""From a model folder to an engine: weights, tokenizer and delimiters, loaded whole or refused with the file at fault.

A folder that loads only in part is refused too: transformers fills what is missing with random numbers and a warning.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from jinja2 import TemplateError
from safetensors import SafetensorError, safe_open

from elastic.engines.protocol import Engine, EngineName
from elastic.engines.runtime import device
from elastic.engines.transformers import TransformersEngine
from elastic.errors import DataError, MarkerError
from elastic.markers import THINK, Markers
from elastic.prompts import Prompter

# runtime sets how torch's threads wait, which counts only before torch is first imported.
import torch  # isort: skip
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig  # isort: skip
from transformers.utils.logging import disable_progress_bar  # isort: skip

if TYPE_CHECKING:
    from elastic.engines.vllm import VllmEngine

_REMEDY = "delete the folder and run `dvc repro`, or name the folder of a whole checkpoint"


@dataclass(frozen=True)
class Reader:
    """What a checkpoint says of itself without its weights.

    Attributes:
        tokenizer: for a Prompter.
        markers: its delimiters.
        context: the longest sequence that the model can hold, or None when its config does not say.
        vocabulary: tokens that its config gives it.
    """

    tokenizer: Any
    markers: Markers
    context: int | None
    vocabulary: int


def load_reader(folder: Path, *, delimiters: tuple[str, str] = THINK) -> Reader:
    """Read the tokenizer and the config of a checkpoint, and nothing else.

    Args:
        folder: a model and its tokenizer, as `save_pretrained` writes them.
        delimiters: how the opening and the closing delimiter of thinking are written.

    Raises:
        DataError: a file is missing, cut short or damaged.
        MarkerError: the delimiters cannot be used, or the chat template leaves no room for thinking.
    """
    _check_files(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        ends = _generation_config(folder, config).eos_token_id
    except Exception as error:
        raise DataError(f"cannot be loaded: {error}", where=str(folder), remedy=_REMEDY) from error
    opens, closes = delimiters
    markers = Markers.find(tokenizer, open_text=opens, close_text=closes, eos_ids=ends)
    _check_template(tokenizer, markers, folder)
    context = getattr(config, "max_position_embeddings", None)
    return Reader(tokenizer, markers, context, config.get_text_config().vocab_size)


@overload
def load_engine(
    folder: Path,
    *,
    batch_size: int,
    engine: Literal["transformers"] = "transformers",
    delimiters: tuple[str, str] = THINK,
) -> tuple[TransformersEngine, Any]: ...


@overload
def load_engine(
    folder: Path, *, batch_size: int, engine: Literal["vllm"], delimiters: tuple[str, str] = THINK
) -> tuple[VllmEngine, Any]: ...


@overload
def load_engine(
    folder: Path, *, batch_size: int, engine: EngineName, delimiters: tuple[str, str] = THINK
) -> tuple[Engine, Any]: ...


def load_engine(
    folder: Path, *, batch_size: int, engine: EngineName = "transformers", delimiters: tuple[str, str] = THINK
) -> tuple[Engine, Any]:
    """Load a checkpoint on the device that the environment names; in float32 on a CPU, in its own dtype elsewhere.

    Args:
        folder: a model and its tokenizer, as `save_pretrained` writes them.
        batch_size: rows decoded together.
        engine: which engine samples. It is an argument and no variable of the environment because engines draw other
            numbers from the same streams: whoever offers the choice keeps it with what else names a result.
        delimiters: how the opening and the closing delimiter of thinking are written.

    Returns:
        The engine, and the tokenizer for a Prompter.

    Raises:
        DataError: a file is missing, cut short or damaged, or weights are missing.
        MarkerError: the delimiters cannot be used, or the chat template leaves no room for thinking.
        ParamsError: the engine is not installed here, or the environment names no device.
    """
    reader = load_reader(folder, delimiters=delimiters)
    if engine == "vllm":
        from elastic.engines.vllm import VllmEngine

        _check_vocabulary(reader.tokenizer, reader.vocabulary, folder)
        return VllmEngine(folder, reader.markers, batch_size=batch_size), reader.tokenizer
    model = _load_model(folder)
    _check_vocabulary(reader.tokenizer, model.get_input_embeddings().num_embeddings, folder)
    return TransformersEngine(model, reader.markers, batch_size=batch_size), reader.tokenizer


def _load_model(folder: Path) -> Any:
    disable_progress_bar()
    target = device()
    try:
        pair: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=torch.float32 if target.type == "cpu" else "auto",
            output_loading_info=True,
            local_files_only=True,
        )
    except Exception as error:
        raise DataError(f"cannot be loaded: {error}", where=str(folder), remedy=_REMEDY) from error
    model, loaded = pair
    if missing := sorted(loaded["missing_keys"]):
        raise DataError(f"{len(missing)} weights are missing, first {missing[0]}", where=str(folder), remedy=_REMEDY)
    return model.to(target).eval()


def _generation_config(folder: Path, config: Any) -> GenerationConfig:
    """What the model would be loaded with."""
    if (folder / "generation_config.json").exists():
        return GenerationConfig.from_pretrained(folder, local_files_only=True)
    return GenerationConfig.from_model_config(config)


def _check_vocabulary(tokenizer: Any, rows: int, folder: Path) -> None:
    if len(tokenizer) > rows:
        raise DataError(
            f"the tokenizer has {len(tokenizer)} tokens and the model embeddings for {rows}",
            where=str(folder),
            remedy="put the model's own tokenizer beside it",
        )


def _check_files(folder: Path) -> None:
    """Name the file that is missing or damaged; what the libraries say of it seldom does."""
    if not folder.is_dir():
        raise DataError("no such model folder", where=str(folder), remedy=_REMEDY)
    for name in ("config.json", "tokenizer_config.json"):
        if not (folder / name).exists():
            raise DataError("no such file", where=str(folder / name), remedy=_REMEDY)
    for path in sorted(folder.glob("*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"not JSON: {error}", where=str(path), remedy=_REMEDY) from None
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, framework="pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise DataError(f"not whole: {error}", where=str(path), remedy=_REMEDY) from None


def _check_template(tokenizer: Any, markers: Markers, folder: Path) -> None:
    if tokenizer.chat_template is None:
        raise MarkerError(
            "the tokenizer has no chat template", where=str(folder), remedy="add the model's own chat_template.jinja"
        )
    try:
        state = Prompter(tokenizer).state(markers)
    except TemplateError as error:
        raise MarkerError(f"the chat template cannot be rendered: {error}", where=str(folder), remedy=_REMEDY) from None
    if state == "closed":
        raise MarkerError(
            "the chat template closes the think block in the prompt, so that nothing is left to budget",
            where=str(folder),
            remedy="use a template that opens the block or leaves it to the model (often its thinking switch)",
        )
