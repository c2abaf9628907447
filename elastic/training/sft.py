"""Supervised teaching of a base model on demonstrations of thinking and solution, with TRL's SFTTrainer.

Rows are tokenised here, once, so that the ids taught are exactly the ids met at inference: the rendered prompt (with
its opening delimiter), thinking, the closing delimiter, the solution, EOS. Only the completion is taught. Sequences
of similar length share a batch; without that most of the time goes into padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset, disable_progress_bars
from transformers import PreTrainedModel, PrinterCallback, TrainerCallback
from transformers.trainer_pt_utils import DistributedLengthGroupedSampler
from trl import SFTConfig, SFTTrainer

from elastic.errors import DataError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.training.checkpoints import MarkComplete, checkpoint_step, newest_complete


@dataclass(frozen=True)
class Demonstration:
    """One row to teach: a question, its thinking and its solution, as text."""

    question: str
    thinking: str
    solution: str


def encode_demonstration(row: Demonstration, prompter: Prompter, markers: Markers) -> dict[str, list[int]]:
    """Ids of one row and the mask of what is taught, both of shape (P + C,).

    Raises:
        DataError: the tokenizer does not know the text, or a delimiter does not stand in it exactly once.
    """
    prompt = list(prompter.render(row.question))
    tokenizer = prompter.tokenizer
    opening = [] if markers.open_id in prompt[-2:] else [markers.open_id]
    thinking, solution = (tokenizer.encode(text, add_special_tokens=False) for text in (row.thinking, row.solution))
    completion = [*opening, *thinking, markers.close_id, *solution, tokenizer.eos_token_id]
    if tokenizer.unk_token_id is not None and tokenizer.unk_token_id in prompt + completion:
        raise DataError(
            "a demonstration holds text that the tokenizer does not know",
            where=repr(row.question),
            remedy="add the missing words to base.vocabulary, or drop the row in curate",
        )
    if completion.count(markers.close_id) != 1:
        raise DataError(
            "a demonstration holds a closing delimiter of its own",
            where=repr(row.question),
            remedy="take the delimiters out of the thinking and solution columns: teaching writes them",
        )
    return {
        "input_ids": prompt + completion,
        "completion_mask": [0] * len(prompt) + [1] * len(completion),
    }


@dataclass(frozen=True)
class Taught:
    """What teaching did: the model, the step it resumed after, and the final loss."""

    model: PreTrainedModel
    resumed_from: int
    steps: int
    loss: float
    tokens: int


class _Teacher(SFTTrainer):
    """SFTTrainer whose order of rows depends on the seed and the epoch alone.

    Its own sampler of length groups draws from the global stream at the start of an epoch, so that a run which resumes
    inside a later epoch would meet that epoch's rows in another order.
    """

    def _get_train_sampler(self, train_dataset: Any = None) -> DistributedLengthGroupedSampler:
        return DistributedLengthGroupedSampler(
            self.args.train_batch_size * self.args.gradient_accumulation_steps,
            dataset=self.train_dataset if train_dataset is None else train_dataset,
            num_replicas=1,
            rank=0,
            seed=self.args.seed,
        )


def teach(
    model: PreTrainedModel,
    prompter: Prompter,
    markers: Markers,
    rows: Sequence[Demonstration],
    *,
    scratch: Path,
    steps: int,
    batch_size: int,
    learning_rate: float,
    warmup_steps: int,
    weight_decay: float,
    save_every: int,
    seed: int,
    callbacks: Sequence[TrainerCallback] = (),
    use_cpu: bool = True,
) -> Taught:
    """Teach `model` on `rows`; resumes exactly from the newest complete checkpoint in `scratch`.

    Args:
        model: the decoder, trained in place.
        prompter: renders questions as at inference.
        markers: delimiters of the tokenizer.
        rows: demonstrations.
        scratch: folder for checkpoints; survives a kill.
        steps: optimisation steps.
        batch_size: sequences a step.
        learning_rate: peak of a cosine schedule.
        warmup_steps: linear warm-up.
        weight_decay: AdamW weight decay.
        save_every: steps between checkpoints.
        seed: order of the rows.
        callbacks: progress and the like.
        use_cpu: keep off accelerators.

    Raises:
        DataError: a row cannot be taught.
    """
    disable_progress_bars()
    encoded = [encode_demonstration(row, prompter, markers) for row in rows]
    dataset = Dataset.from_list([{**row, "length": len(row["input_ids"])} for row in encoded])
    arguments: dict[str, Any] = {
        "output_dir": str(scratch),
        "max_steps": steps,
        "per_device_train_batch_size": batch_size,
        "learning_rate": learning_rate,
        "lr_scheduler_type": "cosine",
        "warmup_steps": warmup_steps,
        "weight_decay": weight_decay,
        "completion_only_loss": True,
        "max_length": None,
        "packing": False,
        "shuffle_dataset": False,
        "gradient_checkpointing": False,
        "bf16": False,
        "use_cpu": use_cpu,
        "dataloader_pin_memory": not use_cpu,
        "save_steps": save_every,
        "logging_steps": 10,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": seed,
    }
    trainer = _Teacher(
        model=model,
        args=SFTConfig(**arguments),
        train_dataset=dataset,
        processing_class=prompter.tokenizer,
        callbacks=[MarkComplete(), *callbacks],
    )
    trainer.remove_callback(PrinterCallback)  # progress comes from `callbacks`
    checkpoint = newest_complete(scratch)
    result = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    model.eval()
    return Taught(
        model=model,
        resumed_from=checkpoint_step(checkpoint),
        steps=int(trainer.state.global_step),
        loss=float(result.training_loss),
        tokens=sum(row["length"] for row in dataset) * steps * batch_size // max(len(dataset), 1),
    )
