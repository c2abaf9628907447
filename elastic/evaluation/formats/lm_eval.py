"""An evaluation in the files of lm-evaluation-harness (0.4.13: lm_eval/result_schema.py).

    OUT/MODEL/results_STAMP.json           metrics of every task; the summary's own rows stand beside them as `elastic`
    OUT/MODEL/samples_TASK_STAMP.jsonl     one line a problem

What differs from its own runs: `resps` are solutions, without the thinking before them (as its think_end_token leaves
them); the prompt is the question, without template; the metric exact_match is a mean over samples of the verdict of
our grader, where its own compares strings; its standard error is that over problems. What the format has and an
evaluation does not know is left out: every key is optional there.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from elastic.contracts.evaluation_records import EvaluationRecord
from elastic.evaluation.formats.tasks import Asked, Evaluation, Task, read_evaluation, replace_text, stamp

METRIC, FILTER = "exact_match", "none"


def write_lm_eval(folder: Path, out: Path, *, when: datetime) -> list[Path]:
    """Write an evaluation in the layout of lm-evaluation-harness.

    Args:
        folder: of the evaluation.
        out: what `--output_path` would name.
        when: moment of the evaluation, which names the files.

    Returns:
        The files, results first.

    Raises:
        DataError: the folder is no whole evaluation.
    """
    evaluation = read_evaluation(folder)
    model = evaluation.record.model.name
    place = out / re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model)
    results, samples = _results(evaluation, when), []
    for task in evaluation.tasks:
        lines = [_sample(number, asked, evaluation.record) for number, asked in enumerate(task.problems)]
        hashes = "".join(line["doc_hash"] + line["prompt_hash"] + line["target_hash"] for line in lines)
        results["task_hashes"][task.name] = _hash(hashes)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        samples.append(replace_text(place / f"samples_{task.name}_{stamp(when)}.jsonl", text))
    text = json.dumps(results, indent=2, ensure_ascii=False)
    return [replace_text(place / f"results_{stamp(when)}.json", text), *samples]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _arguments(record: EvaluationRecord) -> dict[str, Any]:
    protocol = record.protocol
    return {
        "do_sample": protocol.temperature > 0,
        "temperature": protocol.temperature,
        "top_p": protocol.top_p,
        "top_k": protocol.top_k,
        "until": [],
    }


def _sample(number: int, asked: Asked, record: EvaluationRecord) -> dict[str, Any]:
    doc = {"problem_id": asked.problem_id, "question": asked.question, "answer": asked.gold, "policy": asked.policy}
    return {
        "doc_id": number,
        "doc": doc,
        "target": asked.gold,
        "arguments": {"gen_args_0": {"arg_0": asked.question, "arg_1": _arguments(record)}},
        "resps": [asked.texts],
        "filtered_resps": [asked.answers],
        "filter": FILTER,
        "metrics": [METRIC],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(asked.question),
        "target_hash": _hash(asked.gold),
        METRIC: asked.accuracy,
    }


def _metrics(task: Task) -> dict[str, Any]:
    error = "N/A" if task.standard_error is None else task.standard_error
    return {
        "name": task.name,
        "alias": task.name,
        "sample_len": len(task.problems),
        f"{METRIC},{FILTER}": task.row.accuracy,
        f"{METRIC}_stderr,{FILTER}": error,
    }


def _config(task: Task, record: EvaluationRecord) -> dict[str, Any]:
    return {
        "task": task.name,
        "output_type": "generate_until",
        "num_fewshot": 0,
        "doc_to_text": record.protocol.template,
        "repeats": len(task.problems[0].texts),
        "generation_kwargs": _arguments(record),
        "metadata": {"benchmark": record.protocol.benchmark, "grader": record.grading.grader},
    }


def _results(evaluation: Evaluation, when: datetime) -> dict[str, Any]:
    record, tasks = evaluation.record, evaluation.tasks
    system = record.protocol.system
    return {
        "results": {task.name: _metrics(task) for task in tasks},
        "group_subtasks": {task.name: [] for task in tasks},
        "configs": {task.name: _config(task, record) for task in tasks},
        "versions": {task.name: record.protocol.benchmark for task in tasks},
        "n-shot": {task.name: 0 for task in tasks},
        "higher_is_better": {task.name: {METRIC: True} for task in tasks},
        "n-samples": {task.name: {"original": len(task.problems), "effective": task.row.n_problems} for task in tasks},
        "config": {
            "model": record.engine,
            "model_args": {"pretrained": record.model.name},
            "model_sha": record.model.sha256,
            "gen_kwargs": _arguments(record),
            "random_seed": record.protocol.seed,
        },
        "date": when.timestamp(),
        "model_source": record.engine,
        "model_name": record.model.name,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", record.model.name),
        "system_instruction": system,
        "system_instruction_sha": _hash(system) if system else None,
        "task_hashes": {},
        "elastic": {task.name: task.row.model_dump(mode="json") for task in tasks},
    }
