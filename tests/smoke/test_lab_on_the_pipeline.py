"""The lab on the pipeline's models, in miniature: its own DVC repository reads the one above and makes its page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import polars as pl
import yaml
from clone import Clone

MODELS = ["base", "r1"]
GRID = {"think": [0, 4, 8], "solution": [8], "limit": 40, "samples": 2}


def tiny(params: dict[str, Any]) -> dict[str, Any]:
    """The lab's params on the smoke profile's models."""
    plain = r"s1_exact:cue=\boxed{,wait=check:"
    fractured = "fractured:depths=4,draws=2"
    return {
        **params,
        "models": MODELS,
        "problems": {"few": 12, "transfer": 16, "family": "extremes"},
        "sets": {
            "test": {**GRID, "strategies": ["nested", plain, "early_stop:first=4,every=4"]},
            "validation": {**GRID, "strategies": ["nested", fractured]},
            "few": {**GRID, "samples": 3, "strategies": [fractured]},
            "transfer": {**GRID, "strategies": ["nested"]},
        },
        "swap": {"models": MODELS, **GRID},
        "analyse": {
            **params["analyse"],
            "main": "8+8",
            "wanted": [0.5],
            "allowances": [12, 14],
            "shapes": ["s=8"],
            "last": 2,
            "resamples": 200,
        },
    }


def test_the_lab_makes_its_page_and_a_second_run_makes_nothing(copy: Callable[..., Clone]) -> None:
    clone = copy()
    lab = clone.folder / "lab"
    params = tiny(yaml.safe_load((lab / "params.yaml").read_text(encoding="utf-8")))
    (lab / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    (lab / "dvc.lock").unlink(missing_ok=True)
    done = clone.run(sys.executable, "-m", "lab.side_by_side", inside="lab")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    for model in MODELS:
        for name in params["sets"]:
            answers = pl.read_parquet(lab / "results" / model / name / "answers")
            assert set(answers["model"]) == {model}
            assert answers["n_solution"].max() <= 20
    swapped = pl.read_parquet(lab / "results/swap/base-r1/answers")
    assert set(swapped["model"]) == {"base"}
    assert set(swapped["solver"]) == {"r1"}
    taught = pl.read_parquet(clone.folder / "data/curated/teaching.parquet")["question"]
    asked = pl.read_parquet(lab / "problems/transfer.parquet")["question"]
    assert len(asked) == 16
    assert not set(asked) & set(taught)

    analysis = json.loads((lab / "analysis.json").read_text(encoding="utf-8"))
    page = (lab / "reports/index.html").read_text(encoding="utf-8")
    assert len(analysis["sections"]) > 10
    assert all(section["finding"].split(":")[0].split(",")[0] in page for section in analysis["sections"])

    again = clone.run("dvc", "repro", inside="lab")
    assert again.returncode == 0
    assert "Running stage" not in again.stdout
