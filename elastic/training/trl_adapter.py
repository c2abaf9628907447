"""The one file that knows TRL: GRPO over groups that are sampled, graded and rewarded outside of it.

What is ours: the groups (`elastic.training.groups`), the loss mask of the forced delimiter and of samples that are left
out, the advantages (TRL adds 1e-4 to the standard deviation, E1 1e-6; and it holds rewards in single precision, in
which a price of 1e-7 a token drowns), the importance correction of rollouts (TRL's own belongs to its own use of vLLM).
What is TRL's: batching, log-probabilities, loss, optimisation, checkpoints.

Facts of TRL 1.16 that this file leans on, each held by a test: `rollout_func` receives every prompt `num_generations`
times and returns one completion an entry; extra lists reach the reward function by keyword; `env_mask` multiplies the
loss mask; `mask_truncated_completions` would drop every solution cut at s and stays off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOConfig, GRPOTrainer

from elastic.contracts.params.train import LeaveOut
from elastic.seeding import stream_seed
from elastic.training.advantages import Estimator
from elastic.training.groups import Group, GroupSampler, Question
from elastic.training.importance import importance_figures, importance_ratios
from elastic.training.monitors import Scores, rollout_figures
from elastic.training.recipe import Recipe
from elastic.training.rollout import training_row
from elastic.training.selection import takes_part
from elastic.training.sharding import whole_weights

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

# "Unclipped" in TRL's terms: a bound that no ratio reaches.
_NO_CLIP = 1e9


@dataclass
class Batch:
    """The last generation batch, handed from the rollout to the trainer and its callbacks.

    `groups` are those of this process, `figures` of all processes.
    """

    groups: list[Group] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    calls: int = 0


def loss_options(recipe: Recipe) -> dict[str, Any]:
    """TRL's arguments for the loss of a recipe; `faithful` switches clipping off, as the published code has it."""
    return {
        "loss_type": recipe.loss,
        "epsilon": _NO_CLIP if recipe.faithful else recipe.clip_low,
        "epsilon_high": _NO_CLIP if recipe.faithful else recipe.clip_high,
        "beta": recipe.kl,
        "entropy_coef": recipe.entropy,
        "temperature": recipe.temperature,
        "max_completion_length": recipe.budget.total + 1,
        "num_generations": recipe.samples,
        "mask_truncated_completions": False,
        "scale_rewards": "group",
    }


def trainer_options(recipe: Recipe, *, processes: int, use_cpu: bool, folder: str) -> GRPOConfig:
    """TRL's configuration of a recipe on a number of processes, checkpoints under `folder`."""
    passes = recipe.prompts * recipe.samples // recipe.micro_batch // processes
    return GRPOConfig(
        **loss_options(recipe),
        output_dir=folder,
        max_steps=recipe.steps,
        per_device_train_batch_size=recipe.micro_batch,
        gradient_accumulation_steps=passes // recipe.minibatches,
        steps_per_generation=passes,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=recipe.warmup_steps,
        max_grad_norm=recipe.max_grad_norm,
        shuffle_dataset=False,
        remove_unused_columns=False,
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=use_cpu,
        dataloader_pin_memory=not use_cpu,
        ddp_find_unused_parameters=False,
        save_steps=recipe.save_every,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        seed=recipe.seed,
    )


def reward_of(reward: list[float | None], **_: Any) -> list[float | None]:
    """The rewards that the rollout has found, passed through TRL for its own statistics."""
    return reward


class GroupedGRPOTrainer(GRPOTrainer):
    """GRPOTrainer with our own advantages, and a loss that leaves samples out.

    Args:
        batch: what the rollout left.
        estimator: of the recipe.
        leave_out: of the recipe.
        importance_cap: of the recipe.
    """

    def __init__(
        self,
        *args: Any,
        batch: Batch,
        estimator: Estimator,
        leave_out: LeaveOut | None = None,
        importance_cap: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._batch, self._estimator, self._leave_out = batch, estimator, leave_out
        self._importance_cap = importance_cap

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        device = output["advantages"].device
        rewards = [reward for group in self._batch.groups for reward in group.rewards]
        known = torch.tensor([float("nan") if r is None else r for r in rewards], dtype=torch.float64, device=device)
        assert self.num_generations is not None
        advantages = self._estimator(self.accelerator.gather(known), self.num_generations)
        start = self.accelerator.process_index * len(inputs)
        output["advantages"] = advantages[start : start + len(inputs)].float()

        rollouts = [rollout for group in self._batch.groups for rollout in group.rollouts]
        kept = torch.tensor([[takes_part(rollout, self._leave_out)] for rollout in rollouts], device=device)
        output["tool_mask"] = output["tool_mask"] * kept
        tokens = (output["completion_mask"] * output["tool_mask"]).sum()
        output["num_items_in_batch"] = self.accelerator.gather(tokens).sum()
        if "sampling_per_token_logps" in output:
            self._weigh(output)
        return output

    @torch.no_grad()
    def _weigh(self, output: dict[str, Any]) -> None:
        """Note how far the engine is from the trainer, and weigh every token by it if the recipe says so."""
        sampled, mask = output["sampling_per_token_logps"], output["completion_mask"]
        trained = output.get("old_per_token_logps")
        if trained is None:
            ids = torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1)
            attention = torch.cat([output["prompt_mask"], mask], dim=1)
            trained, _, _ = self._get_per_token_logps_and_entropies(
                self.model, ids, attention, mask.shape[1], batch_size=self.args.per_device_train_batch_size
            )
        drawn = mask.bool() & ~sampled.isnan()
        self._batch.figures.update(importance_figures(trained, sampled, drawn))
        if self._importance_cap is None:
            return
        ratios = importance_ratios(trained, sampled, drawn).clamp(max=self._importance_cap)
        if self.loss_type == "vespo":  # takes the ratios into the weight of the whole response
            output["importance_sampling_ratio"] = ratios
        else:  # linear in the advantage of a token
            output["advantages"] = output["advantages"].unsqueeze(1) * ratios


def rollout_function(
    sampler: GroupSampler, questions: Sequence[Question], batch: Batch, recipe: Recipe
) -> Callable[[list[Any], GRPOTrainer], dict[str, Any]]:
    """TRL's `rollout_func`: samples the groups of this process and leaves them in `batch`.

    A rollout's random stream depends on the step and on its row in the batch of all processes.
    """
    by_content = {sampler.prompter.messages(question.question)[-1]["content"]: question for question in questions}

    def rollout(prompts: list[Any], trainer: GRPOTrainer) -> dict[str, Any]:
        first = trainer.accelerator.process_index * len(prompts)
        step = trainer.state.global_step

        def stream(row: int, attempt: int) -> int:
            return stream_seed(recipe.seed, "rollout", step, first + row, *([attempt] if attempt else []))

        asked = [by_content[prompt[-1]["content"]] for prompt in prompts[:: recipe.samples]]
        with whole_weights(trainer):
            sampled = sampler.sample(asked, stream)
        batch.groups, batch.calls = sampled.groups, batch.calls + 1
        scores = gather_object([Scores(g.rollouts, g.rewards, g.question.bucket) for g in sampled.groups])
        costs = gather_object([(sampled.drawn, sampled.resampled)])
        batch.figures = rollout_figures(scores)
        batch.figures["sampled_tokens"] = float(sum(drawn for drawn, _ in costs))
        batch.figures["resampled_groups"] = sum(again for _, again in costs)
        sampler.memory.observe([score.rollouts for score in scores], where="training")
        traces = [trace for group in sampled.groups for trace in group.traces]
        logprobs = [kept for group in sampled.groups for kept in group.logprobs]
        rows = [
            training_row(trace, sampler.markers.close_id, faithful=recipe.faithful, logprobs=kept)
            for trace, kept in zip(traces, logprobs, strict=True)
        ]
        return {
            "prompt_ids": [list(trace.prompt_ids) for trace in traces],
            "completion_ids": [row.completion_ids for row in rows],
            "logprobs": None if None in logprobs else [row.logprobs for row in rows],
            "env_mask": [row.loss_mask for row in rows],
            "reward": [reward for group in sampled.groups for reward in group.rewards],
        }

    return rollout
