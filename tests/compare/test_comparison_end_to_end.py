"""The comparison in miniature, from the world to the report: real stages, in one process and one folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml
from tiny_comparison import tiny_params

from compare import report, sample, train
from elastic.contracts.records import Record, read_record
from stages import base, bucket, collect, curate, probe, score
from stages.common import file_digest

RUNS = ("e1_4", "control_4", "sft_shortest_4")


def run(main: Callable[[], None], *arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stage", *arguments])
        main()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where everything was made; the current folder while the module's tests run."""
    path = tmp_path_factory.mktemp("comparison")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        Path("params.yaml").write_text(yaml.safe_dump(tiny_params(), sort_keys=False), encoding="utf-8")
        for gate in ("curated", "bucketed"):
            pass_record = Path(f"reports/checks/{gate}.json")
            pass_record.parent.mkdir(parents=True, exist_ok=True)
            pass_record.write_text("{}", encoding="utf-8")
        for stage in (collect, curate, base, probe, bucket):
            run(stage.main)
        for name in RUNS:
            run(train.main, name)
        for name in ("base", *RUNS):
            run(sample.main, name)
            run(score.main, name, "test")
        run(report.main)
        yield path


def test_every_run_spends_its_allowance_and_not_much_more(folder: Path) -> None:
    allowance = tiny_params()["allowance"]
    for name in RUNS:
        spent = read_record(Record, Path(f"records/train@{name}.json")).sampled_tokens
        assert allowance <= spent < 1.6 * allowance, name


def test_the_log_counts_what_the_record_counts(folder: Path) -> None:
    for name in RUNS:
        log = Path(f"reports/training/{name}/metrics.jsonl")
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        logged = sum(row.get("sampled_tokens", 0) + row.get("monitor_tokens", 0) for row in rows)
        assert logged == read_record(Record, Path(f"records/train@{name}.json")).sampled_tokens


def test_the_summary_says_what_the_scores_say(folder: Path) -> None:
    summary = json.loads(Path("reports/summary.json").read_text(encoding="utf-8"))
    assert set(summary["recipes"]) == {"base", "e1", "control", "sft_shortest"}
    scored = pl.read_parquet("results/scores/test/e1_4/scored.parquet")
    for cell in summary["recipes"]["e1"]["cells"]:
        rows = scored.filter(pl.col("method") != "truncate", pl.col("think_budget").eq_missing(cell["think"]))
        assert cell["accuracy"]["mean"] == pytest.approx((rows["verdict"] == "correct").mean())
        assert cell["tokens"]["mean"] == pytest.approx((rows["n_think"] + rows["n_solution"]).mean())
    assert [cell["think"] for cell in summary["recipes"]["base"]["cells"]] == [0, 12, None]


def test_page_and_table_name_every_recipe_and_claim(folder: Path) -> None:
    page, table = (Path("reports", name).read_text(encoding="utf-8") for name in ("index.html", "summary.md"))
    for text in (page, table):
        for label in ("E1", "control", "SFT on shortest", "base"):
            assert label in text
        assert "Without a budget the model spends less" in text
        assert "not testable here" in text
    assert page.count("<svg") == 5  # no figure of several t*, of which the miniature has one


def test_the_report_is_the_same_bytes_again(folder: Path) -> None:
    before = {name: file_digest(Path("reports", name)) for name in ("summary.json", "summary.md")}
    run(report.main)
    assert before == {name: file_digest(Path("reports", name)) for name in before}
