"""The importance correction of rollouts: known values by hand, and TRL's own correction for every loss."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from parity import RECIPE, trainer_of
from pydantic import ValidationError

from elastic.contracts.params.train import TrainParams
from elastic.engines.protocol import EngineName
from elastic.prompts import Prompter
from elastic.training.importance import importance_figures, importance_ratios
from elastic.training.trl_adapter import GroupedGRPOTrainer

NAN = math.nan
RATIOS = torch.tensor([[2.0, 0.5, 1.0, 4.0], [1.0, 3.0, 0.25, 1.0]])
# The forced delimiter is the third token of the first response; the second response has three tokens.
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
TOOL_MASK = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1]])


def test_ratios_and_figures_of_a_batch_worked_by_hand() -> None:
    trained = torch.tensor([[-1.0, -2.0, -9.0], [-0.5, -3.0, -7.0]])
    sampled = torch.tensor([[-1.0 - math.log(2), -2.0 + math.log(4), NAN], [-0.5, -3.0, 0.0]])
    drawn = torch.tensor([[True, True, False], [True, True, False]])
    expected = torch.tensor([[2.0, 0.25, 1.0], [1.0, 1.0, 1.0]])
    torch.testing.assert_close(importance_ratios(trained, sampled, drawn), expected)
    assert importance_figures(trained, sampled, drawn) == {
        "logprob_difference": pytest.approx(3 * math.log(2) / 4),
        "importance_ratio_mean": pytest.approx(4.25 / 4),
        "importance_ratio_min": pytest.approx(0.25),
        "importance_ratio_max": pytest.approx(2.0),
    }


def batch_of(trainer: GroupedGRPOTrainer) -> dict[str, Any]:
    """Two responses of 4 and 3 tokens with advantages 1 and -1/2, drawn by an engine that is RATIOS off the policy."""
    batch = {
        "prompt_ids": torch.tensor([[3, 7], [3, 8]]),
        "prompt_mask": torch.ones((2, 2), dtype=torch.long),
        "completion_ids": torch.tensor([[8, 9, 6, 1], [9, 6, 1, 0]]),
        "completion_mask": MASK,
        "tool_mask": TOOL_MASK,
        "advantages": torch.tensor([1.0, -0.5]),
        "num_items_in_batch": torch.tensor(6),
    }
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    attention = torch.cat([batch["prompt_mask"], MASK], dim=1)
    trained, _, _ = trainer._get_per_token_logps_and_entropies(trainer.model, ids, attention, 4)
    sampled = trained.detach() - RATIOS.log()
    sampled[0, 2] = NAN
    batch["sampling_per_token_logps"] = sampled.masked_fill(MASK == 0, 0.0)
    trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation = 1
    return batch


def test_a_capped_ratio_weighs_each_token(policy: Any, prompter: Prompter, tmp_path: Path) -> None:
    """A token's loss is minus its advantage times its ratio, 3 at most.

    Six tokens: -((2 + 1/2 + 3) * 1 + (1 + 3 + 1/4) * -1/2) / 6 = -3.375 / 6. Uncorrected: -(3 * 1 + 3 * -1/2) / 6.
    """
    losses = {}
    for cap in (3.0, None):
        trainer = trainer_of(policy, prompter, tmp_path, replace(RECIPE, loss="bnpo"), cap=cap)
        batch = batch_of(trainer)
        trainer._weigh(batch)
        losses[cap] = trainer._compute_loss(policy, batch).item()
        assert trainer._batch.figures == {
            "logprob_difference": pytest.approx((4 * math.log(2) + math.log(3) + math.log(4)) / 6, abs=1e-5),
            "importance_ratio_mean": pytest.approx((2 + 0.5 + 4 + 1 + 3 + 0.25) / 6, abs=1e-5),
            "importance_ratio_min": pytest.approx(0.25, abs=1e-5),
            "importance_ratio_max": pytest.approx(4.0, abs=1e-5),
        }
    assert losses == {3.0: pytest.approx(-3.375 / 6, abs=1e-5), None: pytest.approx(-1.5 / 6, abs=1e-5)}


@pytest.mark.parametrize("loss", get_args(TrainParams.model_fields["loss"].annotation))
def test_the_correction_is_trls_own(loss: str, policy: Any, prompter: Prompter, tmp_path: Path) -> None:
    trainer = trainer_of(policy, prompter, tmp_path, replace(RECIPE, loss=loss), cap=1.5)
    ours, theirs = batch_of(trainer), batch_of(trainer)
    plain = trainer._compute_loss(policy, theirs).item()
    trainer._weigh(ours)
    found = trainer._compute_loss(policy, ours).item()
    trainer.use_vllm = trainer.vllm_importance_sampling_correction = True
    theirs["importance_sampling_ratio"] = RATIOS.clamp(max=1.5)
    assert found == pytest.approx(trainer._compute_loss(policy, theirs).item(), rel=1e-4)
    assert found != pytest.approx(plain, rel=1e-2)


def test_params_name_the_engines_there_are_and_refuse_a_correction_of_none() -> None:
    assert get_args(TrainParams.model_fields["engine"].annotation) == get_args(EngineName)
    blocks = {
        **{name: getattr(RECIPE, name) for name in TrainParams.model_fields if hasattr(RECIPE, name)},
        "monitor": {"every": 2, "problems": 1, "unseen": "4+4"},
        "preflight": {"steps": 2},
    }
    assert TrainParams.model_validate({**blocks, "engine": "vllm", "importance_cap": 2.0}).importance_cap == 2
    with pytest.raises(ValidationError, match="set engine to vllm or remove it"):
        TrainParams.model_validate({**blocks, "importance_cap": 2.0})
