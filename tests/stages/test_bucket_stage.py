"""The stage bucket on hand-made traces, graded by the real grader of rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from filled_frames import filled

from elastic.contracts.frames import PassRates, Problems, Traces, TrainingSet, read_frame, write_frame
from elastic.contracts.params.bucket import BucketParams
from elastic.contracts.params.grading import GradingParams
from elastic.errors import DataError, ElasticError
from stages.bucket import run
from stages.common import Context

GRADING = GradingParams(training="exact", evaluation="math")
RAW = {
    "edges": {"hard": 0.0, "easy": 0.5},
    "keep": ["never", "hard", "easy", "always"],
    "rates": "0 <= rate <= 1",
    "order": "easy_first",
    "validation": {"problems": 0, "near": None},
    "max_error_share": 0.0,
    "seed": 3,
}
PARAMS = BucketParams.model_validate(RAW)
# Solutions of four traces a problem; the gold is 7 everywhere.
RIGHT, WRONG, CUT, NONE = "4+3=7 \\boxed{7}", "\\boxed{8}", "\\boxed{7", ""
SOLUTIONS = {
    "0" * 16: [WRONG, CUT, NONE, "7"],
    "1" * 16: [RIGHT, WRONG, WRONG, WRONG],
    "2" * 16: [RIGHT, "\\boxed{7.0}", WRONG, RIGHT],
    "3" * 16: [RIGHT] * 4,
}


def _params(**changes: Any) -> BucketParams:
    return BucketParams.model_validate(RAW | changes)


def _problem(name: str) -> dict[str, Any]:
    return {"problem_id": name, "split": "training", "question": f"question {name}", "answer": "7"}


def _trace(name: str, sample: int, solution: str, **changes: Any) -> dict[str, Any]:
    trace = {
        "problem_id": name,
        "split": "training",
        "think_budget": 4,
        "solution_budget": 4,
        "sample": sample,
        "think_text": "\\boxed{7}",
        "solution_text": solution,
    }
    return {**trace, **changes}


def _traces() -> list[dict[str, Any]]:
    return [_trace(name, i, text) for name, texts in SOLUTIONS.items() for i, text in enumerate(texts)]


def _bucket(folder: Path, traces: list[dict[str, Any]], params: BucketParams = PARAMS) -> Context:
    write_frame(Problems, filled(Problems, [_problem(name) for name in SOLUTIONS]), folder / "training.parquet")
    write_frame(Traces, filled(Traces, traces), folder / "traces.parquet")
    context = Context("bucket", folder)
    run(
        params,
        GRADING,
        context,
        traces=folder / "traces.parquet",
        training=folder / "training.parquet",
        out=folder / "out",
    )
    return context


def test_rates_come_from_the_solutions_alone_and_order_the_training_set(tmp_path: Path) -> None:
    context = _bucket(tmp_path, _traces())
    rates = read_frame(PassRates, tmp_path / "out/rates.parquet")
    assert rates.select("correct", "pass_rate", "bucket").rows() == [
        (0, 0.0, "never"),
        (1, 0.25, "hard"),
        (3, 0.75, "easy"),
        (4, 1.0, "always"),
    ]
    training = read_frame(TrainingSet, tmp_path / "out/training.parquet")
    shown = training.select("rank", "problem_id", "question", "answer", "pass_rate", "bucket")
    assert shown.rows() == [
        (0, "3" * 16, f"question {'3' * 16}", "7", 1.0, "always"),
        (1, "2" * 16, f"question {'2' * 16}", "7", 0.75, "easy"),
        (2, "1" * 16, f"question {'1' * 16}", "7", 0.25, "hard"),
        (3, "0" * 16, f"question {'0' * 16}", "7", 0.0, "never"),
    ]
    assert read_frame(TrainingSet, tmp_path / "out/validation.parquet", empty=True).is_empty()
    assert set(rates["source"]) == {"world"}
    assert context.facts["kept"] == 4
    assert context.facts["buckets"] == {"never": 1, "hard": 1, "easy": 1, "always": 1, "ungraded": 0}


def test_what_is_not_kept_stays_in_the_rates(tmp_path: Path) -> None:
    _bucket(tmp_path, _traces(), _params(keep=["hard", "easy"]))
    assert read_frame(PassRates, tmp_path / "out/rates.parquet")["kept"].to_list() == [False, True, True, False]
    assert len(read_frame(TrainingSet, tmp_path / "out/training.parquet")) == 2


def test_equal_traces_give_equal_bytes(tmp_path: Path) -> None:
    files = []
    for _ in range(2):
        _bucket(tmp_path, _traces(), _params(order="shuffled"))
        files.append([(tmp_path / f"out/{name}.parquet").read_bytes() for name in ("rates", "training", "validation")])
    assert files[0] == files[1]


def test_nothing_kept_is_an_error_that_shows_the_histogram(tmp_path: Path) -> None:
    params = _params(rates="0.4 <= rate <= 0.6")
    with pytest.raises(DataError, match="never 1, hard 1, easy 1, always 1, ungraded 0"):
        _bucket(tmp_path, _traces(), params)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("traces", "named"),
    [
        (_traces()[4:], f"1 problems of .*training.parquet without traces, the first {'0' * 16}"),
        ([*_traces(), _trace("f" * 16, 0, RIGHT)], f"1 traces of problems that are not in .*{'f' * 16}"),
        ([*_traces(), _trace("0" * 16, 4, RIGHT, split="test")], "1 traces of another split"),
        ([*_traces(), _trace("0" * 16, 4, RIGHT, method="truncate")], "1 traces of another split or method"),
        (_traces() + _traces()[:1], "1 traces stand twice"),
        (_traces()[:-3], "samples"),
    ],
)
def test_traces_that_do_not_belong_to_the_problems_are_refused(
    tmp_path: Path, traces: list[dict[str, Any]], named: str
) -> None:
    with pytest.raises(ElasticError, match=named):
        _bucket(tmp_path, traces)
    assert not (tmp_path / "out").exists()


def test_a_slice_leaves_training_and_both_are_ranked_in_their_order(tmp_path: Path) -> None:
    context = _bucket(tmp_path, _traces(), _params(validation={"problems": 2, "near": None}))
    training = read_frame(TrainingSet, tmp_path / "out/training.parquet")
    validation = read_frame(TrainingSet, tmp_path / "out/validation.parquet")
    for frame in (training, validation):
        assert frame["rank"].to_list() == [0, 1]
        assert frame["pass_rate"].is_sorted(descending=True)
    assert sorted([*training["problem_id"], *validation["problem_id"]]) == sorted(SOLUTIONS)
    assert read_frame(PassRates, tmp_path / "out/rates.parquet")["kept"].to_list() == [True] * 4
    assert context.facts["validation"] == 2


@pytest.mark.parametrize(
    ("validation", "named"),
    [
        ({"problems": 4, "near": None}, "4 problems are asked for, but only 4 are kept in all"),
        (
            {"problems": 3, "near": {"threshold": 0.1, "words": 1}},
            "the smallest group of near duplicates has 4 problems",
        ),
    ],
)
def test_a_slice_that_would_leave_nothing_is_refused(tmp_path: Path, validation: dict[str, Any], named: str) -> None:
    """Every question is the same word before another number."""
    with pytest.raises(DataError, match=named):
        _bucket(tmp_path, _traces(), _params(validation=validation))
    assert not (tmp_path / "out").exists()
