"""Delimiters come from the tokenizer, or are refused."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from elastic.errors import MarkerError
from elastic.markers import Markers
from elastic.models.tiny import build_tokenizer
from elastic.prompts import Prompter


def pieces() -> PreTrainedTokenizerFast:
    """A tokenizer that knows no think delimiter and writes one in characters."""
    vocabulary = {character: i for i, character in enumerate("<>/think")} | {"<eos>": 20, "<unk>": 21}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", unk_token="<unk>")


def test_delimiters_eos_and_padding_are_looked_up() -> None:
    tokenizer = build_tokenizer(["1", "2"], context=16)
    markers = Markers.find(tokenizer, eos_ids=[9])
    assert tokenizer.convert_ids_to_tokens([markers.open_id, markers.close_id]) == ["<think>", "</think>"]
    assert markers.eos_ids == {tokenizer.eos_token_id, 9}
    assert markers.pad_id == tokenizer.pad_token_id


def test_a_delimiter_of_several_tokens_is_refused_by_name() -> None:
    with pytest.raises(MarkerError, match="'<think>' is not one token"):
        Markers.find(pieces())


def test_a_delimiter_that_the_tokenizer_does_not_know_is_refused() -> None:
    with pytest.raises(MarkerError, match="'<reason>' is not one token"):
        Markers.find(build_tokenizer(["1"], context=16), open_text="<reason>")


@pytest.mark.parametrize(("tail", "state"), [("<think>", "open"), ("<think></think>", "closed"), ("", "absent")])
def test_the_state_of_a_prompt_is_read_from_its_last_block(tail: str, state: str) -> None:
    tokenizer = build_tokenizer(["1"], context=16)
    ids = tokenizer.encode(f"<user>1<assistant>{tail}", add_special_tokens=False)
    assert Markers.find(tokenizer).prompt_state(ids) == state


def test_a_template_is_judged_by_itself_and_not_by_the_question() -> None:
    tokenizer = build_tokenizer(["1"], context=16)
    tokenizer.chat_template = "{% for m in messages %}<user>{{ m.content }}{% endfor %}<assistant>"
    prompter = Prompter(tokenizer)
    assert prompter.state(Markers.find(tokenizer)) == "absent"
    assert Markers.find(tokenizer).close_id in prompter.render("1</think>1")
