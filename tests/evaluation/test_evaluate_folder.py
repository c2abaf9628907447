"""The library's entry with an engine that is loaded: every strategy, files that others read, and what a run cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

from elastic.answers.exact import ExactGrader
from elastic.budget import Budget
from elastic.contracts.evaluation import PATH, Answers, Costs, Thinking
from elastic.contracts.evaluation_records import EvaluationRecord, Intervals, Named, Protocol, RunRecord, SummaryRow
from elastic.contracts.frames import read_frame
from elastic.contracts.params.strategies import Grid, parse_strategy
from elastic.contracts.records import read_record
from elastic.engines.transformers import TransformersEngine
from elastic.evaluation import folder
from elastic.evaluation.checkpoint import Checkpoint, checkpoint_of
from elastic.evaluation.evaluate import Measuring, evaluate
from elastic.evaluation.planning import Beside
from elastic.evaluation.problems import Problems
from elastic.prompts import Prompter

QUESTIONS = ["1+2=?", "3=?", "4+5-6=?", "7-2=?", "1+1+1+1=?"]
GRID = Grid(budgets=(Budget(4, 6), Budget(8, 3)), limit=16)
PROTOCOL = Protocol(benchmark="sums", template="{question}", temperature=1.0, samples=2, seed=5)
STRATEGIES = [
    "nested",
    "independent",
    "s1_original:cue=check:,wait=check:,waits=1",
    "s1_exact:cue=check:,wait=check:,solution=4",
    "l1_max:suffix=+{tokens}",
    "fractured:depths=4,draws=2",
    "early_stop:first=2,every=2",
    "swap:solver=other",
    "assigned:budgets=mine",
]
MEASURING = Measuring(intervals=Intervals(resamples=200), chunk=2)


@pytest.fixture(scope="module")
def checkpoint(tiny_model: Any, tiny_tokenizer: Any, tiny_markers: Any) -> Checkpoint:
    engine = TransformersEngine(tiny_model(close=2.0, eos=1.0), tiny_markers)
    return checkpoint_of(engine, "transformers", Named(name="tiny", sha256="a"), Prompter(tiny_tokenizer))


@pytest.fixture(scope="module")
def beside(tiny_model: Any, tiny_tokenizer: Any, tiny_markers: Any) -> Beside:
    engine = TransformersEngine(tiny_model(seed=1, close=2.0, eos=1.0), tiny_markers)
    other = checkpoint_of(engine, "transformers", Named(name="other", sha256="b"), Prompter(tiny_tokenizer))
    budgets = {f"p{number}": Budget(2 + number, 3) for number in range(len(QUESTIONS))}
    return Beside({"other": other}, {"mine": budgets})


@pytest.fixture(scope="module")
def problems() -> Problems:
    rows = [(f"p{n}", text, text, str(n), None, None) for n, text in enumerate(QUESTIONS)]
    columns = ["problem_id", "prompt", "question", "answer", "policy", "tests"]
    return Problems("sums", pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row"))


def call(out: Path, checkpoint: Checkpoint, problems: Problems, beside: Beside, *texts: str) -> list[SummaryRow]:
    return evaluate(
        out,
        out.with_name("scratch"),
        checkpoint,
        problems,
        [parse_strategy(text) for text in texts],
        GRID,
        PROTOCOL,
        ExactGrader(),
        beside=beside,
        measuring=MEASURING,
    )


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, checkpoint: Checkpoint, problems: Problems, beside: Beside
) -> tuple[Path, list[SummaryRow]]:
    out = tmp_path_factory.mktemp("whole") / "out"
    return out, call(out, checkpoint, problems, beside, *STRATEGIES)


def test_every_strategy_leaves_a_run_whose_answers_follow_its_thinking(whole: tuple[Path, list[SummaryRow]]) -> None:
    out, rows = whole
    assert {row.run for row in rows} == set(STRATEGIES)
    assert {row.n_problems for row in rows} == {len(QUESTIONS)}
    for path in sorted((out / "runs").iterdir()):
        record = read_record(RunRecord, path)
        answers, thinking, costs = (
            read_frame(contract, out / kind / f"{path.stem}.parquet")
            for kind, contract in (("answers", Answers), ("thinking", Thinking), ("costs", Costs))
        )
        assert (record.answers, record.problems) == (len(answers), len(QUESTIONS))
        assert record.sampled_tokens == costs["sampled_tokens"].sum() > 0
        assert record.prefilled_tokens == costs["prefilled_tokens"].sum() > 0
        assert thinking.select(PATH).is_unique().all()
        joined = answers.join(thinking, on=PATH, how="left", validate="m:1")
        assert (joined["n_think"] <= joined["think_ids"].list.len() - joined["opening"]).all(), record.run
    assert not list(out.with_name("scratch").iterdir())


def test_nested_samples_fewer_tokens_than_independent_runs(whole: tuple[Path, list[SummaryRow]]) -> None:
    spent = {
        name: read_record(RunRecord, whole[0] / f"runs/{name}.json").sampled_tokens
        for name in ("nested", "independent")
    }
    assert spent["nested"] < spent["independent"]


def test_answers_are_read_whole_in_one_line_by_pandas_polars_and_duckdb(whole: tuple[Path, list[SummaryRow]]) -> None:
    folder = whole[0] / "answers"
    by_pandas = pd.read_parquet(folder)
    by_polars = pl.read_parquet(folder)
    by_duckdb = duckdb.sql(f"select * from '{folder}/*.parquet'").df()
    columns = [*Answers.to_schema().columns]
    assert list(by_pandas) == by_polars.columns == list(by_duckdb) == columns
    assert len(by_pandas) == len(by_polars) == len(by_duckdb)
    counts = by_polars.group_by("run").len().sort("run").rows()
    assert list(by_pandas.groupby("run").size().items()) == counts
    assert duckdb.sql(f"select run, count(*) from '{folder}/*.parquet' group by run order by run").fetchall() == counts
    kinds = "answers", "thinking", "costs"
    assert {len(pl.read_parquet(whole[0] / kind)["run"].unique()) for kind in kinds} == {len(STRATEGIES)}


def test_the_summary_is_that_of_all_runs_whatever_the_order_they_came_in(
    tmp_path: Path, whole: tuple[Path, list[SummaryRow]], checkpoint: Checkpoint, problems: Problems, beside: Beside
) -> None:
    out = tmp_path / "out"
    for text in reversed(STRATEGIES):
        call(out, checkpoint, problems, beside, text)
    for file in sorted(path.relative_to(whole[0]) for path in whole[0].rglob("*") if path.is_file()):
        if file.parts[0] != "costs":
            assert (out / file).read_bytes() == (whole[0] / file).read_bytes(), file


@pytest.mark.parametrize("write", ["write_frame", "write_json"])
def test_an_end_before_any_write_of_the_folder_loses_and_changes_nothing(
    write: str,
    tmp_path: Path,
    checkpoint: Checkpoint,
    problems: Problems,
    beside: Beside,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call(tmp_path / "clean", checkpoint, problems, beside, "nested")
    unsampled = replace(checkpoint, load=lambda: pytest.fail("sampled again"))
    real, number, ends = getattr(folder, write), 0, True
    while ends:
        out, left = tmp_path / str(number) / "out", number

        def stop(*arguments: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(folder, write, stop)
            try:
                call(out, checkpoint, problems, beside, "nested")
                ends = False
            except KeyboardInterrupt:
                pass
        call(out, unsampled, problems, beside, "nested")
        for file in (
            "answers/nested.parquet",
            "thinking/nested.parquet",
            "runs/nested.json",
            "summary.json",
            "summary.md",
        ):
            assert (out / file).read_bytes() == (tmp_path / "clean" / file).read_bytes(), (number, file)
        assert not list(out.with_name("scratch").iterdir())
        number += 1
    assert number == {"write_frame": 3, "write_json": 4}[write] + 1


def test_a_question_that_must_not_be_written_is_not(
    tmp_path: Path, checkpoint: Checkpoint, problems: Problems, beside: Beside
) -> None:
    call(tmp_path / "out", checkpoint, Problems("sums", problems.frame, show_questions=False), beside, "nested")
    assert read_frame(Answers, tmp_path / "out/answers/nested.parquet")["question"].is_null().all()


def test_problems_of_one_prompt_share_its_cost(
    tmp_path: Path, checkpoint: Checkpoint, problems: Problems, beside: Beside
) -> None:
    twice = pl.concat([problems.frame[:1], problems.frame[:1].with_columns(problem_id=pl.lit("copy"))])
    call(tmp_path / "out", checkpoint, Problems("sums", twice), beside, "nested")
    record = read_record(RunRecord, tmp_path / "out/runs/nested.json")
    costs = read_frame(Costs, tmp_path / "out/costs/nested.parquet")
    assert costs["sampled_tokens"].sum() == record.sampled_tokens
    assert abs(costs["sampled_tokens"][0] - costs["sampled_tokens"][1]) <= 1
    read_record(EvaluationRecord, tmp_path / "out/evaluation.json")
