"""One process of several runs, alone or under torchrun: trains the small world and leaves what it saw.

    python one_of_many.py FOLDER [TRACES]

For every recipe it writes `RECIPE/weights-RANK.pt`, `seen-RANK.json` (the prompts of its rollouts) and
`traces-RANK.pkl`; with TRACES, a folder of an earlier run, the rollouts of all recipes but `live` are replayed.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from parity import RECIPE, fresh, run

from elastic.contracts.params.train import RewardParams
from elastic.engines.protocol import Job, Progress, Sampling
from elastic.engines.transformers import TransformersEngine
from elastic.markers import Markers
from elastic.models.tiny import build_tokenizer
from elastic.prompts import Prompter
from elastic.trace import Trace

WORDS = [*(str(n) for n in range(20)), *"+-=?", "check:", "\\boxed{", "}", *"ABCDEFG"]
SHORT = replace(RECIPE, steps=2, seed=3)
RECIPES = {
    "e1": SHORT,
    "alp": replace(SHORT, reward=RewardParams(name="alp", beta=1e-3)),
    "batch": replace(SHORT, estimator="reinforce_pp"),
    "live": SHORT,
}


class Recorder(TransformersEngine):
    """Keeps every trace by call, prompt and stream, and replays those it was given."""

    def __init__(self, model: Any, markers: Markers, known: dict[Any, Trace]) -> None:
        super().__init__(model, markers, batch_size=16)
        self.known, self.traces, self.prompts = known, {}, []

    def generate(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Trace]:
        traces = super().generate(jobs, sampling, progress=progress)
        keys = [(len(self.prompts), job.prompt_ids, job.seed) for job in jobs]
        traces = [self.known.get(key, trace) for key, trace in zip(keys, traces, strict=True)]
        self.traces |= dict(zip(keys, traces, strict=True))
        self.prompts.append([list(job.prompt_ids) for job in jobs])
        return traces


def train(name: str, folder: Path, earlier: Path | None) -> None:
    """Train one recipe."""
    rank = os.environ.get("RANK", "0")
    folder.mkdir(parents=True, exist_ok=True)
    known: dict[Any, Trace] = {}
    for path in earlier.glob("traces-*.pkl") if earlier and name != "live" else ():
        known |= pickle.loads(path.read_bytes())
    prompter = Prompter(build_tokenizer(WORDS, context=64))
    model = fresh(prompter)
    engines: list[Recorder] = []

    def make(policy: Any) -> Recorder:
        engines.append(Recorder(policy, Markers.find(prompter.tokenizer), known))
        return engines[0]

    outcome = run(model, prompter, folder / "scratch", RECIPES[name], make_engine=make)
    torch.save(model.state_dict(), folder / f"weights-{rank}.pt")
    (folder / f"traces-{rank}.pkl").write_bytes(pickle.dumps(engines[0].traces))
    # The monitor looks before the first step and after the second.
    seen = {"rollouts": engines[0].prompts[1:3], "sampled_tokens": outcome.sampled_tokens}
    (folder / f"seen-{rank}.json").write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    for name in RECIPES:
        train(name, Path(sys.argv[1]) / name, Path(sys.argv[2]) / name if len(sys.argv) > 2 else None)
