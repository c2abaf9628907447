"""The stage probe, killed: what is committed stays, whatever came out of it, and the end is that of a clean run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from filled_frames import filled
from kills import Command, kill_in_a_row

from elastic.budget import Budget
from elastic.contracts.frames import Problems, Traces, read_frame, write_frame
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.params.probe import ProbeParams
from elastic.contracts.params.prompt import PromptParams
from elastic.models.tiny import build_model
from stages import bucket, probe
from stages.common import Context

PROMPT = PromptParams(template="{question}=?", max_tokens=16)
PROBE = ProbeParams(budget=Budget(6, 5), samples=2, temperature=1.0, batch_size=2, chunk=1, seed=2)
PROBLEMS = 24
BUCKET = BucketParams.model_validate(
    {
        "edges": {"hard": 0.0, "easy": 0.5},
        "keep": ["never", "hard", "easy", "always"],
        "rates": "0 <= rate <= 1",
        "order": "hard_first",
        "validation": {"problems": 0, "near": None},
        "max_error_share": 0.0,
        "seed": 3,
    }
)


def rates_of(folder: Path, traces: Path) -> bytes:
    out = folder / f"{traces.stem}-bucketed"
    grading = GradingParams(training="exact", evaluation="exact")
    training = folder / "data/curated/training.parquet"
    bucket.run(BUCKET, grading, Context("bucket", folder), traces=traces, training=training, out=out)
    return (out / "rates.parquet").read_bytes()


@pytest.mark.nightly
def test_two_kills_end_in_the_traces_and_the_rates_of_one_clean_run(tmp_path: Path, tiny_tokenizer: Any) -> None:
    model = tmp_path / "models/base"
    build_model(tiny_tokenizer, hidden=32, layers=1, heads=2, context=64, seed=0).save_pretrained(model)
    tiny_tokenizer.save_pretrained(model)
    rows = [
        {"problem_id": f"{n:016x}", "split": "training", "question": f"{n % 19}+{n // 19}", "answer": str(n % 7)}
        for n in range(PROBLEMS)
    ]
    problems = tmp_path / "data/curated/training.parquet"
    write_frame(Problems, filled(Problems, rows), problems)

    def sampled(output: Path, scratch: Path) -> Context:
        context = Context("probe", scratch)
        probe.run(PROBE, PROMPT, model, problems, output, context)
        return context

    clean, killed = tmp_path / "clean.parquet", tmp_path / "data/probed/traces.parquet"
    whole = sampled(clean, tmp_path / "scratch")
    raw = {"probe": PROBE.model_dump() | {"budget": str(PROBE.budget)}, "prompt": PROMPT.model_dump()}
    raw["base"] = {"kind": "taught", "context": 64}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")

    def committed() -> int:
        return len(list(tmp_path.glob(".scratch/probe-*/chunk-*.parquet")))

    command = [sys.executable, "-m", "stages.probe"]
    counts = kill_in_a_row(lambda: Command(command, tmp_path), committed, PROBLEMS, times=2)
    assert not killed.exists()
    # The third start is here: it saves the time of another process's imports.
    resumed = sampled(killed, next(tmp_path.glob(".scratch/probe-*/"), tmp_path / "nothing-begun"))
    assert resumed.resumed_from == counts[-1]
    assert resumed.sampled_tokens == whole.sampled_tokens
    assert killed.read_bytes() == clean.read_bytes()
    assert len(read_frame(Traces, killed)) == 2 * PROBLEMS
    assert rates_of(tmp_path, killed) == rates_of(tmp_path, clean)
