"""The check stages: gates on hand-made frames, with the real Great Expectations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filled_frames import filled
from pydantic import ValidationError

from elastic.contracts.distribution import DriftResult
from elastic.contracts.frames import SPLITS, PassRates, Problems, Rejected, TrainingSet, write_frame
from elastic.contracts.params.check import BucketedGate, CuratedGate
from elastic.contracts.records import GateResult, read_record, write_json
from elastic.errors import DataError, GateError
from stages.check import Checked, Outputs, bucketed_bounds, curated_bounds, run
from stages.common import Context

SIZES = {"teaching": 4, "training": 3, "validation": 2, "test": 1}
DRIFT = {"max_row_change": 0.5, "max_mean_change": 0.5, "max_share_distance": 0.25}
CURATED = {
    "drift": DRIFT,
    "min_rows": SIZES,
    "max_rejected_share": 0.375,
    "mean_question_chars": {"min": 5, "max": 5},
    "min_distinct_answers": 10,
}
BUCKETED = {
    "drift": DRIFT,
    "min_rows": 2,
    "max_never_share": 0.25,
    "max_always_share": 0.25,
    "mean_pass_rate": {"min": 0.5, "max": 0.5},
}


def _curated(folder: Path) -> list[Path]:
    """Ten problems with ten answers and questions of 4 to 6 characters, 5 on average; six rejected rows."""
    number = 0
    for split, size in SIZES.items():
        rows = []
        for _ in range(size):
            question = "x" * (4, 6)[number % 2]
            rows.append({"problem_id": f"{number:016x}", "split": split, "question": question, "answer": str(number)})
            number += 1
        write_frame(Problems, filled(Problems, rows), folder / f"{split}.parquet")
    write_frame(Rejected, filled(Rejected, [{}] * 6), folder / "rejected.parquet")
    return [folder / f"{name}.parquet" for name in (*SPLITS, "rejected")]


def _bucketed(folder: Path) -> list[Path]:
    """Four graded problems, one never, one always and two half solved, and one that was not graded."""
    rates = [(0, 0.0, "never"), (4, 1.0, "always"), (2, 0.5, "hard"), (2, 0.5, "hard")]
    rows: list[dict[str, Any]] = [
        {"problem_id": f"{i:016x}", "correct": correct, "pass_rate": rate, "bucket": name, "kept": name == "hard"}
        for i, (correct, rate, name) in enumerate(rates)
    ]
    rows.append({"problem_id": "f" * 16, "graded": 0, "correct": 0, "kept": False})
    write_frame(PassRates, filled(PassRates, rows), folder / "rates.parquet")
    kept = [row | {"rank": rank} for rank, row in enumerate(rows) if row["kept"]]
    wanted = ("rank", "problem_id", "pass_rate", "bucket")
    training = filled(TrainingSet, [{name: row[name] for name in wanted} for row in kept])
    write_frame(TrainingSet, training, folder / "training.parquet")
    write_frame(TrainingSet, training.clear(), folder / "validation.parquet", empty=True)
    return [folder / f"{name}.parquet" for name in ("rates", "training", "validation")]


def _outputs(folder: Path) -> Outputs:
    return Outputs(folder / "record.json", folder / "drift.json", folder / "docs")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepted versions stand under the present folder."""
    monkeypatch.chdir(tmp_path)


def _gate(folder: Path, checked: Checked, *, name: str = "curated", **drift: float) -> Path:
    model, raw = {"curated": (CuratedGate, CURATED), "bucketed": (BucketedGate, BUCKETED)}[name]
    params: Any = model.model_validate(raw | {"drift": DRIFT | drift})
    run(name, params, lambda: checked, Context("check", folder), profile="small", outputs=_outputs(folder))
    return folder / "record.json"


def _observed(record: Path) -> dict[tuple[str, str | None], float]:
    result = read_record(GateResult, record)
    assert result.passed
    return {(item["frame"], item["column"]): item["observed"] for item in result.expectations}


def test_a_curated_gate_at_its_bounds_holds_and_records_what_it_saw(tmp_path: Path) -> None:
    checked = curated_bounds(CuratedGate.model_validate(CURATED), _curated(tmp_path))
    record = _gate(tmp_path, checked)
    assert _observed(record) == {
        **{(split, None): size for split, size in SIZES.items()},
        ("kept", "question_chars"): 5.0,
        ("kept", "answer"): 10,
        ("collected", "rejected"): 0.375,
    }
    assert "curated" in (tmp_path / "docs/index.html").read_text(encoding="utf-8")
    first = record.read_bytes()
    assert _gate(tmp_path, checked).read_bytes() == first
    assert len(list((tmp_path / "docs/validations/kept").rglob("*.html"))) == 1


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"min_rows": {"test": 2}}, "test: rows at least 2, but observed 1"),
        ({"max_rejected_share": 0.37}, r"collected: mean of rejected at most 0\.37, but observed 0\.375"),
        ({"mean_question_chars": {"min": 6, "max": 9}}, "kept: mean of question_chars at least 6 and at most 9, but"),
        ({"min_distinct_answers": 11}, "kept: distinct of answer at least 11, but observed 10"),
    ],
)
def test_a_breached_curated_gate_names_the_bound_and_leaves_no_record(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    (tmp_path / "record.json").write_text("an older pass", encoding="utf-8")
    checked = curated_bounds(CuratedGate.model_validate({**CURATED, **changes}), _curated(tmp_path))
    with pytest.raises(GateError, match=named) as caught:
        _gate(tmp_path, checked)
    assert "1 of" in str(caught.value)
    assert f"{tmp_path}/docs/index.html" in str(caught.value)
    assert "elastic accept" not in str(caught.value)
    assert (tmp_path / "docs/index.html").exists()
    assert not (tmp_path / "record.json").exists()


def test_a_bucketed_gate_measures_shares_over_graded_problems(tmp_path: Path) -> None:
    record = _gate(
        tmp_path, bucketed_bounds(BucketedGate.model_validate(BUCKETED), _bucketed(tmp_path)), name="bucketed"
    )
    assert _observed(record) == {
        ("training", None): 2,
        ("training", "pass_rate"): 0.5,
        ("rates", "never"): 0.25,
        ("rates", "always"): 0.25,
    }


def _drift(folder: Path) -> DriftResult:
    return read_record(DriftResult, folder / "drift.json")


def _accept(folder: Path, name: str) -> None:
    """What `elastic accept` does with the last comparison."""
    write_json(Path(f"data/accepted/small/{name}.json"), _drift(folder).present)


def test_without_an_accepted_version_nothing_is_compared_and_the_stage_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _gate(tmp_path, bucketed_bounds(BucketedGate.model_validate(BUCKETED), _bucketed(tmp_path)), name="bucketed")
    assert (_drift(tmp_path).accepted, _drift(tmp_path).expectations) == (None, [])
    assert "no version was accepted yet (data/accepted/small/bucketed.json), so the bounds on drift are skipped" in (
        capsys.readouterr().out
    )


def test_the_accepted_version_has_not_drifted_from_itself_and_changes_no_pass_record(tmp_path: Path) -> None:
    checked = curated_bounds(CuratedGate.model_validate(CURATED), _curated(tmp_path))
    before = _gate(tmp_path, checked).read_bytes()
    _accept(tmp_path, "curated")
    assert _gate(tmp_path, checked).read_bytes() == before
    drift = _drift(tmp_path)
    assert drift.accepted == "data/accepted/small/curated.json"
    assert {(item["frame"], item["column"], item["observed"], item["held"]) for item in drift.expectations} == {
        (f"{split}-drift", column, observed, True)
        for split in SIZES
        for column, observed in {
            "rows, present / accepted": 1.0,
            "mean question length, present / accepted": 1.0,
            "shares by source, distance": 0.0,
            "shares by answer kind, distance": 0.0,
        }.items()
    }
    assert len(list((tmp_path / "docs/validations/training-drift").rglob("*.html"))) == 1


def test_a_distribution_that_has_moved_breaches_the_gate_and_says_what_moved(tmp_path: Path) -> None:
    params = CuratedGate.model_validate(CURATED)
    files = _curated(tmp_path)
    _gate(tmp_path, curated_bounds(params, files))
    _accept(tmp_path, "curated")
    # One of three training rows comes from elsewhere now and answers in words; the rest of the world is as it was.
    training = pl.read_parquet(files[1])
    moved = pl.when(pl.int_range(pl.len()) == 0)
    training.with_columns(
        source=moved.then(pl.lit("web")).otherwise("source"), answer=moved.then(pl.lit("north")).otherwise("answer")
    ).write_parquet(files[1])
    with pytest.raises(GateError) as caught:
        _gate(tmp_path, curated_bounds(params, files))
    text = str(caught.value)
    assert "2 of 23 bounds are breached" in text
    assert (
        "training-drift: shares by source, distance at most 0.25, but observed 0.333333 "
        "(accepted web 0.0%, now 33.3%; world 100.0%, now 66.7%)"
    ) in text
    assert "shares by answer kind, distance at most 0.25, but observed 0.333333" in text
    assert "where the change is meant, run `elastic accept curated`" in text
    assert not (tmp_path / "record.json").exists()
    assert sum(not item["held"] for item in _drift(tmp_path).expectations) == 2
    pages = "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / "docs/validations/training-drift").rglob("*.html")
    )
    assert "shares by answer kind, distance" in pages
    suite = (tmp_path / "docs/expectations/training-drift.html").read_text(encoding="utf-8")
    assert "accepted web 0.0%, now 33.3%" in suite
    _accept(tmp_path, "curated")
    _gate(tmp_path, curated_bounds(params, files))
    assert (tmp_path / "record.json").exists()


def test_buckets_and_sizes_that_have_moved_breach_the_gate(tmp_path: Path) -> None:
    params = BucketedGate.model_validate(BUCKETED | {"max_never_share": 1.0})
    files = _bucketed(tmp_path)
    _gate(tmp_path, bucketed_bounds(params, files), name="bucketed", max_share_distance=0.1)
    _accept(tmp_path, "bucketed")
    rates = pl.read_parquet(files[0])
    solved = pl.col("bucket") == "always"
    rates.with_columns(
        bucket=pl.when(solved).then(pl.lit("never")).otherwise("bucket"),
        pass_rate=pl.when(solved).then(0.0).otherwise("pass_rate"),
        correct=pl.when(solved).then(0).otherwise("correct"),
    ).write_parquet(files[0])
    training = pl.read_parquet(files[1])
    training.vstack(
        training.with_columns(rank=pl.col("rank") + 2, problem_id=pl.format("{}x", "problem_id"))
    ).write_parquet(files[1])
    with pytest.raises(GateError) as caught:
        _gate(tmp_path, bucketed_bounds(params, files), name="bucketed", max_share_distance=0.1)
    text = str(caught.value)
    # One of five probed problems went from always to never; the mean of the four graded ones fell from 0.5 to 0.25.
    assert "2 of 13 bounds are breached" in text
    assert (
        "rates-drift: shares by bucket, distance at most 0.1, but observed 0.2 (accepted always 20.0%, now 0.0%" in text
    )
    assert (
        "training-drift: rows, present / accepted at least 0.5 and at most 1.5, but observed 2 (accepted 2, now" in text
    )


def test_every_breached_bound_of_a_gate_is_named(tmp_path: Path) -> None:
    bounds = {
        "drift": DRIFT,
        "min_rows": 3,
        "max_never_share": 0.2,
        "max_always_share": 0.2,
        "mean_pass_rate": {"min": 0.6, "max": 0.7},
    }
    with pytest.raises(GateError) as caught:
        _gate(tmp_path, bucketed_bounds(BucketedGate.model_validate(bounds), _bucketed(tmp_path)), name="bucketed")
    for named in ("4 of 4", "training: rows", "mean of pass_rate", "mean of never", "mean of always"):
        assert named in str(caught.value)


def test_a_bad_row_stops_the_gate_before_any_bound_and_leaves_no_record(tmp_path: Path) -> None:
    files = _curated(tmp_path)
    pl.read_parquet(files[0]).with_columns(answer=pl.lit("")).write_parquet(files[0])
    record = tmp_path / "record.json"
    record.write_text("an older pass", encoding="utf-8")
    params = CuratedGate.model_validate(CURATED)
    with pytest.raises(DataError, match=r"teaching\.parquet: breaks the contract Problems: .*judged_by_something"):
        run(
            "curated",
            params,
            lambda: curated_bounds(params, files),
            Context("check@curated", tmp_path),
            profile="small",
            outputs=_outputs(tmp_path),
        )
    assert not record.exists()


def test_a_bound_on_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValidationError, match="tset"):
        CuratedGate.model_validate({**CURATED, "min_rows": {"tset": 1}})


def test_the_command_of_a_breached_gate_prints_it_and_ends_with_1(tmp_path: Path) -> None:
    _bucketed(tmp_path / "data/bucketed")
    (tmp_path / "data/accepted").mkdir()
    check = {"curated": CURATED, "bucketed": {**BUCKETED, "max_never_share": 0.1}}
    (tmp_path / "params.yaml").write_text(json.dumps({"profile": "small", "check": check}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "stages.check", "bucketed"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no version was accepted yet (data/accepted/small/bucketed.json)" in done.stdout
    assert "mean of never at most 0.1, but observed 0.25" in done.stderr
    assert "reports/data_docs/bucketed/index.html" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "reports/data_docs/bucketed/index.html").exists()
    assert not (tmp_path / "reports/checks").exists()


def test_a_stage_loads_great_expectations_only_when_its_gate_runs(tmp_path: Path) -> None:
    code = "import stages.check, sys; print('great_expectations' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    refused = subprocess.run(
        [sys.executable, "-m", "stages.check", "cured"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "name one gate: curated or bucketed" in refused.stderr
