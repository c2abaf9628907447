"""A tiny decoder and its word-level tokenizer, made from nothing, with everything that a hub model has.

Qwen3 architecture, special tokens, think delimiters as ordinary added tokens (so that decoding keeps them) and a chat
template that opens the think block. Numbers are single tokens. (Not Qwen2: transformers replaces the pre-tokenizer of
every tokenizer that it finds beside a Qwen2 config by Qwen2's own.)
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed

SPECIAL = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
ROLES = ("<user>", "<assistant>")
DELIMITERS = ("<think>", "</think>")

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- if message.role == 'user' -%}<user>{{ message.content }}"
    "{%- elif message.role == 'assistant' -%}<assistant>{{ message.content }}<eos>"
    "{%- else -%}{{ raise_exception('this template knows the roles user and assistant') }}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<assistant><think>{%- endif -%}"
)


def build_tokenizer(words: Sequence[str], *, context: int) -> PreTrainedTokenizerFast:
    """A tokenizer whose vocabulary is `words` and the special tokens; text it does not know becomes `<unk>`.

    Args:
        words: the vocabulary; numbers are split greedily as whole words.
        context: model_max_length.
    """
    vocabulary = [*SPECIAL.values(), *ROLES, *DELIMITERS, *words]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Split(Regex(r"\\boxed\{|\d+|[A-Z]|[a-z]+:|[a-z]+|[^\s\w]"), behavior="isolated"),
        ]
    )
    # Spaces are no tokens; decoding sets off the words that start a step, so that people can read the text.
    spaced = [word for word in words if word[0].isalpha()]
    tokenizer.decoder = decoders.Sequence([*(decoders.Replace(word, f" {word}") for word in spaced), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in (*SPECIAL.values(), *ROLES)])
    tokenizer.add_tokens([AddedToken(token, special=False) for token in DELIMITERS])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=context,
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        **SPECIAL,
    )


def build_model(
    tokenizer: PreTrainedTokenizerFast, *, hidden: int, layers: int, heads: int, context: int, seed: int
) -> Qwen3ForCausalLM:
    """A freshly initialised Qwen3 decoder in float32 whose vocabulary equals the tokenizer's.

    Weights start with a standard deviation of 0.7 / sqrt(hidden): at small widths the usual 0.02 is far below the
    inverse root of the width, and the first hundreds of steps go into growing the weights.
    """
    set_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=4 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=hidden // heads,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        attention_dropout=0.0,
        initializer_range=0.7 / hidden**0.5,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen3ForCausalLM(config)
