"""An evaluation in the files of lighteval (0.13.0: logging/evaluation_tracker.py and info_loggers.py).

    OUT/results/MODEL/results_STAMP.json                   metrics of every task; ours stand beside them as `elastic`
    OUT/details/MODEL/STAMP/details_TASK|0_STAMP.parquet   one row a problem: doc, metric, model_response

What differs from its own runs: `text` is the solution, without the thinking before it; `query` is the question, without
template; the metric is its pass@k with k = 1 over n samples, by the verdicts of our grader, its standard error is over
problems. `input_tokens` and hashes are left empty, and so is all that belongs to its own machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from elastic.evaluation.formats.tasks import Asked, Evaluation, Task, read_evaluation, replace_text, stamp

_COUNTED = {"hashes": {}, "truncated": 0, "non_truncated": 0, "padded": 0, "non_padded": 0}
_TEXTS, _IDS = pa.list_(pa.string()), pa.list_(pa.int64())
# Fields of lighteval's Doc and ModelResponse, in their order, as an empty value would leave them without a type.
_DOC = pa.struct(
    [
        ("query", pa.string()),
        ("choices", _TEXTS),
        ("gold_index", _IDS),
        ("instruction", pa.string()),
        ("images", pa.null()),
        ("specific", pa.struct([("problem_id", pa.string()), ("policy", pa.string())])),
        ("unconditioned_query", pa.string()),
        ("original_query", pa.string()),
        ("id", pa.string()),
        ("task_name", pa.string()),
        ("fewshot_samples", pa.list_(pa.null())),
        ("sampling_methods", _TEXTS),
        ("fewshot_sorting_class", pa.string()),
        ("generation_size", pa.int64()),
        ("stop_sequences", _TEXTS),
        ("use_logits", pa.bool_()),
        ("num_samples", pa.int64()),
        ("generation_grammar", pa.null()),
    ]
)
_RESPONSE = pa.struct(
    [
        ("input", pa.string()),
        ("input_tokens", _IDS),
        ("text", _TEXTS),
        ("output_tokens", pa.list_(_IDS)),
        ("text_post_processed", _TEXTS),
        ("reasonings", _TEXTS),
        ("logprobs", pa.list_(pa.float64())),
        ("argmax_logits_eq_gold", pa.list_(pa.bool_())),
        ("logits", pa.list_(pa.list_(pa.float64()))),
        ("unconditioned_logprobs", pa.list_(pa.float64())),
        ("truncated_tokens_count", pa.int64()),
        ("padded_tokens_count", pa.int64()),
    ]
)


def write_lighteval(folder: Path, out: Path, *, when: datetime) -> list[Path]:
    """Write an evaluation in the layout of lighteval.

    Args:
        folder: of the evaluation.
        out: what `--output-dir` would name.
        when: moment of the evaluation, which names the files.

    Returns:
        The files, results first.

    Raises:
        DataError: the folder is no whole evaluation.
    """
    evaluation = read_evaluation(folder)
    model, moment = evaluation.record.model.name, stamp(when)
    details = out / "details" / model / moment
    text = json.dumps(_results(evaluation), indent=2, ensure_ascii=False)
    written = [replace_text(out / "results" / model / f"results_{moment}.json", text)]
    for task in evaluation.tasks:
        written.append(_write_details(task, evaluation, details / f"details_{_task(task)}_{moment}.parquet"))
    return written


def _task(task: Task) -> str:
    """Name and number of examples shown."""
    return f"{task.name}|0"


def _metric(task: Task) -> str:
    return f"pass@k:k=1&n={len(task.problems[0].texts)}"


def _write_details(task: Task, evaluation: Evaluation, path: Path) -> Path:
    metric, name = _metric(task), _task(task)
    system = evaluation.record.protocol.system
    columns = {
        "doc": pa.array([_doc(number, asked, name, system) for number, asked in enumerate(task.problems)], _DOC),
        "metric": pa.array([{metric: asked.accuracy} for asked in task.problems], pa.struct([(metric, pa.float64())])),
        "model_response": pa.array([_response(asked) for asked in task.problems], _RESPONSE),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    pq.write_table(pa.table(columns), temporary)
    os.replace(temporary, path)
    return path


def _doc(number: int, asked: Asked, name: str, system: str | None) -> dict[str, Any]:
    return {
        "query": asked.question,
        "choices": [asked.gold],
        "gold_index": [0],
        "instruction": system,
        "specific": {"problem_id": asked.problem_id, "policy": asked.policy},
        "id": str(number),
        "task_name": name,
        "fewshot_samples": [],
        "sampling_methods": ["GENERATIVE"],
        "use_logits": False,
        "num_samples": len(asked.texts),
    }


def _response(asked: Asked) -> dict[str, Any]:
    empty: Sequence[Any] = []
    return {
        "input": asked.question,
        "input_tokens": empty,
        "text": asked.texts,
        "output_tokens": asked.token_ids,
        "reasonings": empty,
        "logprobs": empty,
        "argmax_logits_eq_gold": empty,
        "truncated_tokens_count": 0,
        "padded_tokens_count": 0,
    }


def _results(evaluation: Evaluation) -> dict[str, Any]:
    record, tasks = evaluation.record, evaluation.tasks
    protocol = record.protocol
    sampling = {"temperature": protocol.temperature, "top_p": protocol.top_p, "top_k": protocol.top_k}
    return {
        "config_general": {
            "lighteval_sha": "?",
            "num_fewshot_seeds": 1,
            "max_samples": None,
            "job_id": None,
            "start_time": None,
            "end_time": None,
            "total_evaluation_time_secondes": None,
            "model_config": {
                "model_name": record.model.name,
                "generation_parameters": sampling | {"seed": protocol.seed},
                "system_prompt": protocol.system,
            },
            "model_name": record.model.name,
        },
        "results": {_task(task): _aggregated(task) for task in tasks} | {"all": _average(tasks)},
        "versions": {_task(task): protocol.benchmark for task in tasks},
        "config_tasks": {_task(task): _config(task, evaluation) for task in tasks},
        "summary_tasks": {_task(task): _COUNTED for task in tasks},
        "summary_general": _COUNTED,
        "elastic": {_task(task): task.row.model_dump(mode="json") for task in tasks},
    }


def _aggregated(task: Task) -> dict[str, float]:
    error = {} if task.standard_error is None else {f"{_metric(task)}_stderr": task.standard_error}
    return {_metric(task): task.row.accuracy} | error


def _average(tasks: Sequence[Task]) -> dict[str, float]:
    """The mean of every metric over the tasks that have it, as lighteval has it."""
    values: dict[str, list[float]] = {}
    for task in tasks:
        for name, value in _aggregated(task).items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def _config(task: Task, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "name": task.name,
        "prompt_function": evaluation.record.protocol.template,
        "hf_repo": evaluation.record.problems.name,
        "num_fewshots": 0,
        "generation_size": None if task.row.solution is None else task.row.solution,
        "num_samples": [len(task.problems[0].texts)],
        "original_num_docs": len(task.problems),
        "effective_num_docs": task.row.n_problems,
    }
