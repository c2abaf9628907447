"""A grader that a random policy pleases half of the time, and the small world of the training tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import GRPOConfig

from elastic.answers.extract import Filter
from elastic.answers.graders import Grader
from elastic.answers.verdict import Gold, Verdict
from elastic.budget import Budget
from elastic.contracts.params.train import Monitor, Preflight, RoundParams, TrainParams
from elastic.markers import Markers
from elastic.models.tiny import build_model
from elastic.prompts import Prompter
from elastic.training.advantages import load_estimator
from elastic.training.groups import Question
from elastic.training.grpo import Trained, train
from elastic.training.monitor_slice import MonitorSlice
from elastic.training.recipe import Recipe, recipe_of
from elastic.training.trl_adapter import Batch, GroupedGRPOTrainer, loss_options

RECIPE = recipe_of(
    RoundParams(prev="base", budget=Budget(6, 4), steps=4, learning_rate=1e-3),
    TrainParams(
        prompts=2,
        samples=4,
        minibatches=1,
        micro_batch=4,
        temperature=1.0,
        clip_low=0.2,
        clip_high=0.2,
        kl=0.0,
        loss="dapo",
        advantage_eps=1e-6,
        warmup_steps=0,
        max_grad_norm=1.0,
        faithful=False,
        save_every=2,
        monitor=Monitor(every=2, problems=2, unseen=Budget(2, 3)),
        preflight=Preflight(steps=100),
        seed=0,
    ),
)
QUESTIONS = [Question(str(i), f"A{i + 1} B+{i + 2}=?", Gold(str(2 * i + 3)), ("hard", "easy")[i % 2]) for i in range(4)]


class ParityGrader(Grader):
    """A solution is correct if it has an even number of words: no policy is without reward variance."""

    name = "parity"
    version = "1"
    filters = (Filter("all", lambda text: text or None),)

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        """One verdict a pair."""
        return [Verdict.WRONG if len(answer.split()) % 2 else Verdict.CORRECT for answer, _ in pairs]


def fresh(prompter: Prompter, seed: int = 0) -> Any:
    return build_model(prompter.tokenizer, hidden=32, layers=1, heads=2, context=64, seed=seed)


def trainer_of(
    model: Any, prompter: Prompter, folder: Path, recipe: Recipe, *, cap: float | None = None
) -> GroupedGRPOTrainer:
    """A trainer of a recipe's loss, to be given batches made by hand."""
    return GroupedGRPOTrainer(
        model=model,
        reward_funcs=lambda **_: [0.0],
        args=GRPOConfig(
            **loss_options(recipe),
            output_dir=str(folder),
            per_device_train_batch_size=4,
            bf16=False,
            gradient_checkpointing=False,
            use_cpu=True,
            report_to="none",
        ),
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": "A1 B+1=?"}]}]),
        processing_class=prompter.tokenizer,
        batch=Batch(),
        estimator=load_estimator("group_std", 1e-6),
        importance_cap=cap,
    )


def run(model: Any, prompter: Prompter, scratch: Path, recipe: Recipe = RECIPE, **changes: Any) -> Trained:
    options: dict[str, Any] = {"preflight_steps": 100, "say": lambda _: None, "make_engine": None, **changes}
    grader = options.pop("grader", None) or ParityGrader()
    return train(
        model,
        prompter,
        Markers.find(prompter.tokenizer),
        grader,
        QUESTIONS,
        MonitorSlice(2, QUESTIONS[:2], [recipe.budget]),
        recipe,
        scratch=scratch,
        batch_size=16,
        use_cpu=True,
        **options,
    )


Say = Callable[[str], None]
