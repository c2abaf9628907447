from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3ForSequenceClassification,
    Qwen3ForTokenClassification,
    set_seed,
)

from elastic.errors import DataError
from elastic.evaluation.scorers import ProcessRewardScorer, Qwen2ForProcessRewardModel, scored
from elastic.metrics.best_of import best_of

SPECIAL = ["<pad>", "<|im_start|>", "<|im_end|>", "<extra_0>"]
TEMPLATE = (
    "{%- for m in messages -%}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)
SIZES = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 400,
    "initializer_range": 0.3,
}
QUESTION = "What is 2 + 3?"
SOLUTIONS = ["2 + 3 = 5\n\nIt is 5.", "6", "First we add.\n \nThen 2 + 3 = 6.\n\n\nSo 6.\n", ""]


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """Every byte a token, as Qwen2's own pre-tokenizer needs it, and the special tokens of a reward model."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<|im_end|>", chat_template=TEMPLATE
    )


def save(folder: Path, kind: Any, config: Any, labels: int) -> Path:
    set_seed(1)
    tokenizer = byte_tokenizer()
    model = kind(config(vocab_size=len(tokenizer), num_labels=labels, pad_token_id=tokenizer.pad_token_id, **SIZES))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def process_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("prm"), Qwen2ForProcessRewardModel, Qwen2Config, 2)


@pytest.fixture(scope="module")
def token_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("token"), Qwen3ForTokenClassification, Qwen3Config, 2)


def chat(tokenizer: Any, system: str, reply: str) -> torch.Tensor:
    """The conversation as the card of Qwen2.5-Math-PRM renders it, encoded as one text."""
    turns = (("system", system), ("user", QUESTION), ("assistant", reply))
    text = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in turns)
    return torch.tensor([tokenizer.encode(text, add_special_tokens=False)])


@pytest.mark.parametrize("folder", ["process_model", "token_model"])
def test_the_score_is_the_probability_at_the_last_separator(folder: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(folder)
    scorer = ProcessRewardScorer(str(path), batch_size=3, system="Reason.")
    found = scorer.score([QUESTION] * 4, SOLUTIONS)
    kind = Qwen2ForProcessRewardModel if folder == "process_model" else Qwen3ForTokenClassification
    model, tokenizer = kind.from_pretrained(path).eval(), byte_tokenizer()
    split = [["2 + 3 = 5", "It is 5."], ["6"], ["First we add.", "Then 2 + 3 = 6.", "So 6."], [""]]
    for value, steps in zip(found, split, strict=True):
        reply = "".join(f"{step}<extra_0>" for step in steps)
        ids = chat(tokenizer, "Reason.", reply)
        place = (ids[0] == tokenizer.convert_tokens_to_ids("<extra_0>")).nonzero()[-1].item()
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0, place]
        assert value == pytest.approx(logits.softmax(-1)[1].item(), abs=1e-5)
    assert len(set(found)) == 4


def test_batches_change_nothing(process_model: Path) -> None:
    one, all_ = (ProcessRewardScorer(str(process_model), batch_size=size) for size in (1, 8))
    assert one.score([QUESTION] * 4, SOLUTIONS) == pytest.approx(all_.score([QUESTION] * 4, SOLUTIONS), abs=1e-5)


def test_a_sequence_classifier_rates_the_whole_solution(tmp_path: Path) -> None:
    folder = save(tmp_path, Qwen3ForSequenceClassification, Qwen3Config, 1)
    found = ProcessRewardScorer(str(folder), batch_size=4, system="Reason.").score([QUESTION] * 4, SOLUTIONS)
    model = Qwen3ForSequenceClassification.from_pretrained(folder).eval()
    for value, solution in zip(found, SOLUTIONS, strict=True):
        ids = chat(byte_tokenizer(), "Reason.", solution)
        with torch.inference_mode():
            reward = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.item()
        assert value == pytest.approx(1 / (1 + math.exp(-reward)), abs=1e-5)


def test_scores_become_a_column_that_best_of_picks_by(process_model: Path) -> None:
    answers = pl.DataFrame(
        {
            "problem_id": ["a", "a", "b", "a"],
            "question": [QUESTION, QUESTION, "And 1 + 1?", QUESTION],
            "solution_text": [SOLUTIONS[0], SOLUTIONS[1], "2", SOLUTIONS[0]],
            "answer": ["5", "6", "2", "5"],
            "verdict": ["correct", "wrong", "correct", "correct"],
        }
    )
    scorer = ProcessRewardScorer(str(process_model), batch_size=2)
    column = scored(answers, scorer)
    assert column.name == "score"
    assert column[0] == column[3]
    assert column.to_list()[:2] == pytest.approx(scorer.score([QUESTION] * 2, SOLUTIONS[:2]), abs=1e-5)
    picked = best_of(answers.with_columns(column), score="score")
    assert picked.rows() == [("a", float(column[0] > column[1])), ("b", 1.0)]
    with pytest.raises(DataError, match="problem a: its question is not known"):
        scored(answers.with_columns(question=pl.lit(None, dtype=pl.String)), scorer)


def test_what_is_no_reward_model_is_refused(process_model: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be loaded"):
        ProcessRewardScorer(str(tmp_path / "nothing"), batch_size=1)
    folder = save(tmp_path / "causal", Qwen3ForCausalLM, Qwen3Config, 2)
    with pytest.raises(DataError, match="Qwen3ForCausalLM with 2 labels is no reward model"):
        ProcessRewardScorer(str(folder), batch_size=1)
    with pytest.raises(DataError, match="'<step>' is no single token"):
        ProcessRewardScorer(str(process_model), batch_size=1, separator="<step>")
    with pytest.raises(DataError, match="and the model reads 400"):
        ProcessRewardScorer(str(process_model), batch_size=1).score([QUESTION], ["x" * 400])


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    folder = save(tmp_path, Qwen3ForCausalLM, Qwen3Config, 2)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["Qwen3ForTokenClassification"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(DataError, match="weights are missing, first score"):
        ProcessRewardScorer(str(folder), batch_size=1)
