"""Scorers for best-of-N beside the model's own log-probability: reward models from a folder or the hub.

Fractured Sampling (arXiv 2505.12992, code: best-of-N) shows a process reward model the question and the solution alone,
never the thinking, and takes the score of the last step. As the card of Qwen2.5-Math-PRM says (arXiv 2501.07301), steps
end at blank lines, a separator token follows each, and its score is the probability of the label 1 there. Only what
precedes a token counts for a causal model, so the last separator is simply where the text is cut.

Code of a checkpoint's own is never run: its architecture is one of transformers', or the one written out below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import polars as pl

from elastic.engines.runtime import device
from elastic.errors import DataError

# runtime sets how torch's threads wait, which counts only before torch is first imported.
import torch  # isort: skip
from transformers import (  # isort: skip
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    Qwen2Model,
    Qwen2PreTrainedModel,
)
from transformers.modeling_outputs import TokenClassifierOutput  # isort: skip

QWEN_SEPARATOR = "<extra_0>"
QWEN_SYSTEM = r"Please reason step by step, and put your final answer within \boxed{}."
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_REMEDY = "name the folder, or the hub id, of a whole reward model"


class Scorer(Protocol):
    """Rates solutions without knowing the right answer; higher is better."""

    def score(self, questions: Sequence[str], solutions: Sequence[str]) -> list[float]:
        """One score a pair, from 0 to 1."""
        ...


class Qwen2ForProcessRewardModel(Qwen2PreTrainedModel):
    """Qwen2 with two linear layers that rate every token: the architecture of Qwen2.5-Math-PRM, named as in its config.

    Layer names are those of its weights.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.model = Qwen2Model(config)
        self.score = torch.nn.Sequential(
            torch.nn.Linear(config.hidden_size, config.hidden_size),
            torch.nn.ReLU(),
            torch.nn.Linear(config.hidden_size, config.num_labels),
        )
        self.post_init()

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> TokenClassifierOutput:
        """Logits of every token, shape (B, L, labels)."""
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
        return TokenClassifierOutput(logits=self.score(hidden))


def _loader(architecture: str) -> Callable[..., Any] | None:
    if architecture == Qwen2ForProcessRewardModel.__name__:
        return Qwen2ForProcessRewardModel.from_pretrained
    if architecture.endswith("ForTokenClassification"):
        return AutoModelForTokenClassification.from_pretrained
    if architecture.endswith("ForSequenceClassification"):
        return AutoModelForSequenceClassification.from_pretrained
    return None


class ProcessRewardScorer:
    """A reward model's score of a solution's last step, or of the whole solution where it rates only that.

    Args:
        source: a folder, or the id of a model on the hub.
        batch_size: solutions rated together.
        revision: commit on the hub; pin it for a figure that is to be had again.
        separator: the token that a process reward model expects after every step.
        system: the system turn that it expects; None for none.

    Raises:
        DataError: nothing there can be loaded whole, it is no reward model, or does not know the separator.
    """

    def __init__(
        self,
        source: str,
        *,
        batch_size: int,
        revision: str | None = None,
        separator: str = QWEN_SEPARATOR,
        system: str | None = QWEN_SYSTEM,
    ) -> None:
        self._source, self._batch_size, self._system = source, batch_size, system
        where = {"revision": revision, "trust_remote_code": False}
        try:
            config = AutoConfig.from_pretrained(source, **where)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(source, **where)
        except Exception as error:
            raise DataError(f"cannot be loaded: {error}", where=source, remedy=_REMEDY) from error
        architecture = (config.architectures or ["none"])[0]
        loader = _loader(architecture)
        if loader is None or config.num_labels > 2:
            raise DataError(
                f"the architecture {architecture} with {config.num_labels} labels is no reward model known here",
                where=source,
                remedy="use a token or sequence classifier with one or two labels, or Qwen2.5-Math-PRM",
            )
        self._by_step = not architecture.endswith("ForSequenceClassification")
        self._separator = self._one_token(separator) if self._by_step else None
        if self._tokenizer.chat_template is None or self._tokenizer.pad_token_id is None:
            raise DataError("the tokenizer has no chat template or no padding", where=source, remedy=_REMEDY)
        self._model = self._load(loader, where)

    def _load(self, loader: Callable[..., Any], where: dict[str, Any]) -> Any:
        target = device()
        dtype = torch.float32 if target.type == "cpu" else "auto"
        try:
            model, loaded = loader(self._source, dtype=dtype, output_loading_info=True, **where)
        except Exception as error:
            raise DataError(f"cannot be loaded: {error}", where=self._source, remedy=_REMEDY) from error
        if missing := sorted(loaded["missing_keys"]):
            raise DataError(
                f"{len(missing)} weights are missing, first {missing[0]}", where=self._source, remedy=_REMEDY
            )
        # A sequence classifier looks for the last token that is no padding.
        model.config.pad_token_id = self._tokenizer.pad_token_id
        return model.to(target).eval()

    def _one_token(self, separator: str) -> int:
        ids = self._tokenizer.encode(separator, add_special_tokens=False)
        if len(ids) != 1 or ids[0] == self._tokenizer.unk_token_id:
            raise DataError(
                f"the separator {separator!r} is no single token of the tokenizer",
                where=self._source,
                remedy="name the separator that the reward model was trained with",
            )
        return int(ids[0])

    def _ids(self, question: str, solution: str) -> list[int]:
        """Question and solution up to where the score is read."""
        turns = [{"role": "system", "content": self._system}] if self._system else []
        turns.append({"role": "user", "content": question})
        if self._separator is None:
            turns.append({"role": "assistant", "content": solution})
            return list(self._tokenizer.apply_chat_template(turns, tokenize=True, return_dict=False))
        prompt = self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, tokenize=True, return_dict=False
        )
        steps = [step for step in _BLANK_LINE.split(solution.strip()) if step] or [""]
        encoded = (self._tokenizer.encode(step, add_special_tokens=False) for step in steps)
        return [*prompt, *(token for step in encoded for token in (*step, self._separator))]

    def score(self, questions: Sequence[str], solutions: Sequence[str]) -> list[float]:
        """Probability that the last step, or the solution, is right.

        Args:
            questions: as the models were asked.
            solutions: texts after the thinking, one a question.

        Raises:
            DataError: a pair is longer than the model can read.
        """
        rows = [self._ids(question, solution) for question, solution in zip(questions, solutions, strict=True)]
        longest = getattr(self._model.config, "max_position_embeddings", None)
        if longest is not None and max(map(len, rows), default=0) > longest:
            raise DataError(
                f"a question with its solution has {max(map(len, rows))} tokens, and the model reads {longest}",
                where=self._source,
                remedy="score under a smaller solution budget, or with another reward model",
            )
        scores = [0.0] * len(rows)
        by_length = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(rows), self._batch_size):
            batch = by_length[start : start + self._batch_size]
            for row, value in zip(batch, self._rate([rows[row] for row in batch]), strict=True):
                scores[row] = value
        return scores

    @torch.inference_mode()
    def _rate(self, rows: list[list[int]]) -> list[float]:
        width = max(map(len, rows))
        pad = self._tokenizer.pad_token_id
        ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows], device=self._model.device)
        lengths = torch.tensor([len(row) for row in rows], device=ids.device)
        mask = (torch.arange(width, device=ids.device) < lengths[:, None]).long()
        logits = self._model(input_ids=ids, attention_mask=mask).logits.float()
        if self._by_step:
            logits = logits[torch.arange(len(rows), device=ids.device), lengths - 1]
        right = logits.sigmoid()[:, 0] if logits.shape[-1] == 1 else logits.softmax(-1)[:, 1]
        return [float(value) for value in right]


def scored(answers: pl.DataFrame, scorer: Scorer) -> pl.Series:
    """The column `score` of answers; equal solutions to a question are rated once.

    Args:
        answers: columns problem_id, question and solution_text.
        scorer: rates them.

    Raises:
        DataError: a question is not known.
    """
    if answers["question"].has_nulls():
        lost = answers.filter(pl.col("question").is_null())["problem_id"][0]
        raise DataError(
            "its question is not known, without which no reward model can rate a solution",
            where=f"problem {lost}",
            remedy="grade the answers with the problems that they were sampled for",
        )
    pairs = answers.select("question", "solution_text")
    different = pairs.unique(maintain_order=True)
    scores = scorer.score(different["question"].to_list(), different["solution_text"].to_list())
    rated = different.with_columns(pl.Series("score", scores, dtype=pl.Float64))
    return pairs.join(rated, on=["question", "solution_text"], how="left", maintain_order="left")["score"]
