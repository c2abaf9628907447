"""Evaluations in other tools' files: read back as those tools and the libraries around them read them."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from filled_frames import filled

from elastic.contracts.evaluation import Answers
from elastic.contracts.evaluation_records import EvaluationRecord, SummaryRow
from elastic.contracts.frames import write_frame
from elastic.contracts.records import write_json
from elastic.errors import DataError
from elastic.evaluation.formats.lighteval import write_lighteval
from elastic.evaluation.formats.lm_eval import write_lm_eval

WHEN = datetime(2026, 1, 2, 3, 4, 5)
STAMP = "2026-01-02T03-04-05"
TASK = "sums_v1_nested_separate_8_16"
RUN = {"run": "nested", "setting": "", "solver": "base", "method": "separate", "draw": 0, "n_forced": 0, "n_probe": 0}
# Problem b: 1 of 2 correct; problem a: 1 of 1, its other answer ended in an error of the grader. Mean 0.75.
VERDICTS = [("b", 0, "correct", "2"), ("b", 1, "wrong", "3"), ("a", 0, "correct", "4"), ("a", 1, "error", None)]


def answer(problem: str, sample: int, verdict: str, found: str | None, **changes: Any) -> dict[str, Any]:
    row = {
        "problem_id": problem,
        "sample": sample,
        "verdict": verdict,
        "answer": found,
        "question": f"what is {problem}?",
    }
    said = {
        "solution_text": f"solution {problem}{sample}",
        "solution_ids": [7, sample],
        "gold": {"a": "4", "b": "2"}[problem],
    }
    return RUN | {"think_budget": 8, "solution_budget": 16} | row | said | changes


def summary_row(**changes: Any) -> SummaryRow:
    shares = {name: 0.0 for name, field in SummaryRow.model_fields.items() if field.annotation is float}
    names = {"model": "org/base", "benchmark": "sums v1"} | {
        key: RUN[key] for key in ("solver", "run", "setting", "method")
    }
    figures = {"think": 8, "solution": 16, "limit": None, "accuracy": 0.75, "ci_low": 0.5, "ci_high": 1.0}
    counts = {"n_problems": 2, "n_samples": 2, "n_answers": 4, "k": 1}
    return SummaryRow.model_validate(shares | names | figures | counts | changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two cells: the one that VERDICTS says, and one without budgets whose questions may not be shown."""
    place = tmp_path / "evaluation"
    protocol = {"benchmark": "sums v1", "template": "{{ question }}", "temperature": 0.6, "samples": 2, "seed": 3}
    record = {
        "model": {"name": "org/base", "sha256": "0"},
        "problems": {"name": "sums", "sha256": "0"},
        "protocol": protocol,
        "engine": "transformers",
        "versions": {},
        "grading": {"grader": "exact 1", "golds": "0"},
        "intervals": {},
    }
    write_json(place / "evaluation.json", EvaluationRecord.model_validate(record))
    free = {"method": "unconstrained", "think_budget": None, "solution_budget": None, "limit": 64, "question": None}
    rows = [answer(*verdict) for verdict in VERDICTS] + [answer(*VERDICTS[0], **free)]
    write_frame(Answers, filled(Answers, rows), place / "answers/nested.parquet")
    for kind in ("thinking", "costs"):  # a run is whole where all its files are there
        (place / kind).mkdir()
        (place / kind / "nested.parquet").touch()
    run = {"run": "nested", "strategy": "nested", "budgets": ["8+16"], "limit": 64, "beside": {}, "fingerprint": "0"}
    counts = {"problems": 2, "answers": 5, "sampled_tokens": 0, "prefilled_tokens": 0}
    write_json(place / "runs/nested.json", run | counts | {"grading": record["grading"]})
    whole = summary_row(method="unconstrained", think=None, solution=None, limit=64, accuracy=1.0, n_problems=1)
    write_json(place / "summary.json", [row.model_dump(mode="json") for row in (summary_row(), whole)])
    return place


def test_lm_eval_results_have_the_keys_and_figures_that_its_tables_show(folder: Path, tmp_path: Path) -> None:
    first, *samples = write_lm_eval(folder, tmp_path / "out", when=WHEN)
    assert first == tmp_path / f"out/org__base/results_{STAMP}.json"
    results = json.loads(first.read_text(encoding="utf-8"))
    assert list(results["results"]) == [TASK, "sums_v1_nested_unconstrained_up_to_64"]
    assert results["results"][TASK] == {
        "name": TASK,
        "alias": TASK,
        "sample_len": 2,
        "exact_match,none": 0.75,
        "exact_match_stderr,none": pytest.approx(0.25),  # 0.5 and 1.0: deviation 0.3536 over the root of 2
    }
    for key in ("versions", "n-shot", "higher_is_better", "n-samples", "configs", "group_subtasks", "task_hashes"):
        assert set(results[key]) == set(results["results"]), key
    assert results["results"]["sums_v1_nested_unconstrained_up_to_64"]["exact_match_stderr,none"] == "N/A"
    assert results["elastic"][TASK]["ci_high"] == 1.0
    assert samples[0].name == f"samples_{TASK}_{STAMP}.jsonl"


def test_lm_eval_samples_are_one_line_a_problem_with_its_keys(folder: Path, tmp_path: Path) -> None:
    _, path, _ = write_lm_eval(folder, tmp_path / "out", when=WHEN)
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert (first["doc_id"], first["target"], first["resps"]) == (0, "4", [["solution a0", "solution a1"]])
    assert (second["exact_match"], second["filtered_resps"], second["metrics"]) == (0.5, [["2", "3"]], ["exact_match"])
    assert first["arguments"]["gen_args_0"]["arg_0"] == "what is a?"
    assert set(first) >= {"doc", "filter", "doc_hash", "prompt_hash", "target_hash"}
    frame = pl.read_ndjson(path)
    assert frame["exact_match"].mean() == 0.75


def test_questions_that_may_not_be_shown_stand_nowhere(folder: Path, tmp_path: Path) -> None:
    hidden = write_lm_eval(folder, tmp_path / "out", when=WHEN)[2].read_text(encoding="utf-8")
    assert "what is" not in hidden
    assert json.loads(hidden)["doc"]["question"] == ""


def test_lighteval_results_and_details_lie_where_it_looks_for_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    first, details, _ = write_lighteval(folder, tmp_path / "out", when=WHEN)
    assert first == tmp_path / f"out/results/org/base/results_{STAMP}.json"
    assert details == tmp_path / f"out/details/org/base/{STAMP}/details_{TASK}|0_{STAMP}.parquet"
    results = json.loads(first.read_text(encoding="utf-8"))
    metric = "pass@k:k=1&n=2"
    assert results["results"][f"{TASK}|0"] == {metric: 0.75, f"{metric}_stderr": pytest.approx(0.25)}
    assert results["results"]["all"][metric] == 0.75
    assert set(results) >= {"config_general", "versions", "config_tasks", "summary_tasks", "summary_general"}
    rows = datasets.load_dataset("parquet", data_files=str(details), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows.column_names == ["doc", "metric", "model_response"]
    assert [row["metric"][metric] for row in rows] == [1.0, 0.5]
    assert rows[1]["doc"]["query"] == "what is b?"
    assert rows[1]["doc"]["choices"] == ["2"]
    assert rows[1]["model_response"]["text"] == ["solution b0", "solution b1"]
    assert rows[1]["model_response"]["output_tokens"] == [[7, 0], [7, 1]]


def test_a_folder_without_a_summary_is_no_whole_evaluation(folder: Path, tmp_path: Path) -> None:
    (folder / "summary.json").unlink()
    for write in (write_lm_eval, write_lighteval):
        with pytest.raises(DataError, match="has no summary of its runs"):
            write(folder, tmp_path / "out", when=WHEN)
    assert not (tmp_path / "out").exists()
