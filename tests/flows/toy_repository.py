"""A small real DVC repository with the shape of the pipeline, and a way to run commands in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

DAG = """
stages:
  collect:
    cmd: cat data/raw/*.jsonl > base.txt
    deps: [data/raw]
    outs: [base.txt]
  curate:
    cmd: python curate.py
    deps: [base.txt, curate.py]
    outs: [data/curated/curation.json]
  train:
    foreach: ${rounds}
    do:
      cmd: python train.py ${item.prev} ${key}
      deps: ["${item.prev}.txt", train.py]
      params: ["rounds.${key}"]
      outs: ["${key}.txt", "reports/training/${key}"]
  decide:
    cmd: python decide.py
    deps: [r2.txt, data/curated/curation.json, decide.py]
    outs: [results/decision.json, reports/summary.md]
"""
CURATE = """
import json, pathlib
rows = len(pathlib.Path("base.txt").read_text().splitlines())
pathlib.Path("data/curated").mkdir(parents=True, exist_ok=True)
pathlib.Path("data/curated/curation.json").write_text(json.dumps({
    "grader": {"name": "exact", "version": "1"}, "collected": {"incoming": rows},
    "rows": {"incoming": {"training": rows - 1}}, "rejected": {"copy": 1},
    "contamination": {"checked": rows, "against": 1, "overlaps": [], "removed": []},
}))
"""
TRAIN = """
import json, pathlib, sys
prev, key = sys.argv[1:]
pathlib.Path(f"{key}.txt").write_text(pathlib.Path(f"{prev}.txt").read_text() + key)
print(f"trained {key}", flush=True)
folder = pathlib.Path("reports/training") / key
folder.mkdir(parents=True)
(folder / "outcome.json").write_text(json.dumps({
    "steps": 30, "kept": 20, "ended_by": "alert at step 30: entropy fell" if key == "r2" else None,
    "alerts": ["step 30: entropy fell"] if key == "r2" else [], "turning_step": 12 if key == "r1" else None,
}))
pathlib.Path("records").mkdir(exist_ok=True)
pathlib.Path(f"records/train@{key}.json").write_text(json.dumps({
    "stage": f"train@{key}", "fingerprint": "0", "params": {}, "inputs": {}, "outputs": {}, "versions": {},
    "seconds": 1.0, "sampled_tokens": 1234,
}))
"""
DECIDE = """
import json, pathlib
pathlib.Path("results").mkdir(exist_ok=True)
pathlib.Path("results/decision.json").write_text(json.dumps({
    "promoted": "r1", "rule": "gains by more than nothing", "solution_budget": 20, "next_round_worthwhile": False,
    "comparisons": [{"model": "r1", "control": "base", "measure": "accuracy at 24+20", "difference": 0.125,
                     "ci_low": 0.05, "ci_high": 0.2, "n_problems": 256}],
}))
pathlib.Path("reports").mkdir(exist_ok=True)
pathlib.Path("reports/summary.md").write_text("| model | accuracy |\\n")
"""
STAGES = ["collect", "curate", "train@r1", "train@r2", "decide"]


def call(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of this Python environment."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
