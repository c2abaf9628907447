"""A whole profile: every block, and the conditions that hold between blocks."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from elastic.contracts.params.base import BaseParams, ContextBlock
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.params.check import CheckParams
from elastic.contracts.params.collect import CollectParams
from elastic.contracts.params.common import Strict, read_params, validate
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.decide import DecideParams
from elastic.contracts.params.export import ExportParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.probe import ProbeParams
from elastic.contracts.params.prompt import PromptParams
from elastic.contracts.params.report import ReportParams
from elastic.contracts.params.sample import SampleParams
from elastic.contracts.params.score import ScoreParams
from elastic.contracts.params.train import RoundParams, RoundsBlock, TrainParams
from elastic.errors import ParamsError


class Profile(Strict):
    """Everything in params.yaml, one block a stage."""

    profile: str
    prompt: PromptParams
    grading: GradingParams
    collect: CollectParams
    curate: CurateParams
    check: CheckParams
    base: BaseParams
    probe: ProbeParams
    bucket: BucketParams
    rounds: dict[str, RoundParams]
    train: TrainParams
    sample: SampleParams
    score: ScoreParams
    decide: DecideParams
    export: ExportParams
    report: ReportParams

    @model_validator(mode="after")
    def _fits(self) -> Profile:
        RoundsBlock(rounds=self.rounds)
        context = ContextBlock(context=self.base.context)
        wanted = {f"rounds.{name}.budget": params.budget.total for name, params in self.rounds.items()}
        wanted["probe.budget"] = self.probe.budget.total
        wanted["train.monitor.unseen"] = self.train.monitor.unseen.total
        wanted |= {f"sample.grids.{split}.limit": grid.limit for split, grid in self.sample.grids.items()}
        for key, tokens in wanted.items():
            try:
                context.require(key, self.prompt.max_tokens, tokens)
            except ParamsError as error:
                raise ValueError(f"{error.where}: {error.what}; {error.remedy}") from None
        return self


def load_profile(path: Path) -> Profile:
    """Read and validate a params file.

    Raises:
        ParamsError: naming every key at fault, with a remedy.
    """
    return validate(Profile, read_params(path), where="")
