"""The commands with vLLM: greedy answers are those of the transformers engine, and the engine names the evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from cli.main import app
from elastic.errors import DataError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_generate_answers_alike(start_vllm: Any, vllm_checkpoint: Path) -> None:
    asked = ("generate", "1+2=?", "--model", str(vllm_checkpoint), "--think", "6", "--solution", "5")
    greedy = (*asked, "--temperature", "0")
    assert run(*greedy, "--engine", "vllm") == run(*greedy)


def test_eval_keeps_the_engine_with_what_names_its_result(
    start_vllm: Any, vllm_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{i}+{i}=?", "answer": str(2 * i)} for i in range(6)]
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    common = ("eval", "--model", str(vllm_checkpoint), "--problems", "mine.jsonl", "--budgets", "4+3,8+6")
    greedy = (*common, "--temperature", "0", "--grader", "exact", "--limit", "20")
    run(*greedy, "--out", "ours", "--engine", "vllm")
    identity = json.loads(Path("ours/evaluation.json").read_text(encoding="utf-8"))
    assert identity["engine"] == "vllm"
    assert any(name.startswith("vllm") for name in identity["versions"])
    with pytest.raises(DataError, match="differs in engine"):
        run(*greedy, "--out", "ours")
    run(*greedy, "--out", "theirs")
    one, other = (pl.read_parquet(f"{out}/answers").drop("logprob") for out in ("ours", "theirs"))
    assert one.equals(other)
