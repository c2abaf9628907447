"""A comparison in miniature: E1, the control and the supervised baseline on tiny chains, a few steps each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def tiny_params() -> dict[str, Any]:
    """params.yaml of the comparison with small values; the recipes are the real ones, scaled down."""
    params: dict[str, Any] = yaml.safe_load((ROOT / "compare/params.yaml").read_text(encoding="utf-8"))
    [source] = params["collect"]["sources"]
    source["rows"] = 3000
    source["config"] |= {"max_terms": 3, "max_total": 9, "checks": [0.5, 0.5], "filler_share": 0.0}
    params["curate"] |= {"validation": 16, "test": 16, "training": 64, "teaching": 1200, "training_share": 0.2}
    params["check"]["curated"] |= {
        "min_rows": {"teaching": 300, "training": 32, "validation": 16, "test": 16},
        "max_rejected_share": 0.9,
        "min_distinct_answers": 5,
    }
    params["check"]["bucketed"] |= {
        "min_rows": 16,
        "max_never_share": 1.0,
        "max_always_share": 1.0,
        "mean_pass_rate": {"min": 0.0, "max": 1.0},
    }
    params["base"] |= {
        "hidden": 64,
        "layers": 2,
        "heads": 2,
        "steps": 150,
        "learning_rate": 5.0e-3,
        "warmup_steps": 10,
        "save_every": 150,
    }
    params["probe"] |= {"budget": "12+12", "samples": 2}
    params["allowance"] = 2500
    params["train"] |= {
        "prompts": 4,
        "samples": 4,
        "micro_batch": 8,
        "save_every": 2,
        "temperature": 1.0,
        "warmup_steps": 0,
        "monitor": {"every": 2, "problems": 4, "unseen": "12+12"},
        "preflight": {"steps": 8},
    }
    wanted = {"e1": "12+12", "control": "40+12", "sft_shortest": "40+12"}
    params["recipes"] = {name: {**params["recipes"][name], "budget": budget} for name, budget in wanted.items()}
    params["recipes"]["sft_shortest"] |= {"samples": 2, "chunk": 8, "batch_size": 2, "epochs": 1, "temperature": 1.0}
    params["runs"] = {
        name: {"recipe": name.rpartition("_")[0], "seed": int(name.rpartition("_")[2]), "prev": "base"}
        for name in ("e1_4", "control_4", "sft_shortest_4")
    }
    params["evaluate"] |= {"grid": {"think": [0, 12], "solution": [12], "limit": 60, "samples": 2}, "chunk": 8}
    params["score"] |= {"resamples": 100}
    params["report"] |= {"main": 12, "resamples": 100}
    return params
