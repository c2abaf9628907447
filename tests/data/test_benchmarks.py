"""Benchmarks: every file of the repository is whole; what is wrong with one of one's own is said by file and key."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from elastic.answers.graders import load_grader
from elastic.answers.verdict import Gold, Verdict
from elastic.budget import Budget
from elastic.contracts.benchmark import Benchmark, FileProblems, SourceProblems
from elastic.contracts.policy import Policy
from elastic.contracts.reference import load_reference
from elastic.data.benchmarks import BENCHMARKS, SCHEMA, benchmark_problems, forbids_plain_text, load_benchmark
from elastic.data.catalogue import CATALOGUE, load_source
from elastic.data.normalise import problem_id
from elastic.data.origins import MIRROR
from elastic.errors import DataError

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path.stem for path in (ROOT / BENCHMARKS).glob("*.yaml"))
MINE: dict[str, Any] = {
    "name": "mine",
    "version": 3,
    "description": "sums",
    "protocol": "my own",
    "problems": {"file": "mine.jsonl", "count": 2},
    "prompt": {"template": "Sum: {{ question }}", "system": "Be brief."},
    "sampling": {"temperature": 0.0},
    "samples": 1,
    "budgets": ["8+16", "1K+1K"],
    "limit": None,
    "grading": {"grader": "exact"},
}
ROWS = [{"question": "1 + {{ 1 }}?", "answer": 2}, {"question": "2 + 2?", "answer": "4"}]


def write(folder: Path, *, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    lines = [json.dumps(row) for row in rows or ROWS]
    (folder / "mine.jsonl").write_text("\n".join(lines), encoding="utf-8")
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(MINE | changes), encoding="utf-8")
    return path


def shipped(name: str) -> Benchmark:
    return load_benchmark(ROOT / BENCHMARKS / f"{name}.yaml")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_benchmark_is_whole_and_its_references_have_its_problems(name: str) -> None:
    benchmark = shipped(name)
    sets = [load_reference(ROOT / f"data/reference/{reference}.yaml").sets for reference in benchmark.references]
    if isinstance(benchmark.problems, SourceProblems):
        source = load_source(benchmark.problems.source, ROOT / CATALOGUE)
        view = "math500_level5" if name == "math500_level5" else source.name
        assert all(view in known for known in sets)
        whole = source.rows == benchmark.problems.count
        assert whole == (benchmark.problems.view is None and name != "leetcode")
    assert forbids_plain_text(benchmark, ROOT / CATALOGUE) == (name == "gpqa_diamond")


def test_every_evaluation_set_has_a_benchmark() -> None:
    asked = {b.problems.source for b in map(shipped, SHIPPED) if isinstance(b.problems, SourceProblems)} | {
        "math500_level5"  # as a view of math500
    }
    sources = [load_source(path.stem, path.parent) for path in (ROOT / CATALOGUE).glob("*.yaml")]
    tests = {source.name for source in sources if "test" in getattr(source, "uses", ["test"])}
    assert tests == asked


def test_e1_asks_in_its_own_words_and_samples_as_published() -> None:
    benchmark = shipped("aime24")
    assert benchmark.prompt.template.endswith("output the final answer within \\boxed{}.")
    assert (benchmark.sampling.temperature, benchmark.sampling.top_p, benchmark.samples) == (0.6, 0.95, 16)
    assert benchmark.budgets == tuple(Budget(think, 1024) for think in (512, 1024, 2048, 3072))
    assert benchmark.label == "aime24 v1"


def test_a_benchmark_of_ones_own_is_one_yaml_file_and_its_problems(tmp_path: Path) -> None:
    benchmark = load_benchmark(write(tmp_path))
    frame = benchmark_problems(benchmark)
    assert frame.schema == pl.Schema(SCHEMA)
    assert frame["prompt"].to_list() == ["Sum: 1 + {{ 1 }}?", "Sum: 2 + 2?"]
    assert frame["answer"].to_list() == ["2", "4"]
    assert frame["problem_id"].to_list() == [problem_id(row["question"]) for row in ROWS]
    assert frame["policy"].to_list() == [None, None]


def test_problems_lie_beside_the_benchmark_whatever_the_present_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    problems = load_benchmark("../mine.yaml").problems
    assert isinstance(problems, FileProblems)
    assert problems.file == "../mine.jsonl"
    assert len(benchmark_problems(load_benchmark("../mine.yaml"))) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompt": {"template": "Sum."}}, "prompt.template asks no question"),
        ({"prompt": {"template": "{{ question }} {{ hint }}"}}, "prompt.template uses hint, which nothing fills"),
        ({"prompt": {"template": "{{ question"}}, "prompt.template is no jinja"),
        ({"problems": {"folder": "x"}}, "name neither a `source` of data/sources nor a `file`"),
        ({"problems": {"file": "mine.txt"}}, "problems.file.file"),
        ({"sampling": {"temperature": 3}}, "sampling.temperature"),
        ({"budgets": ["8+16", "8+16"]}, "budgets name one budget twice"),
        ({"budgets": ["8+0"]}, "budgets.0"),
        ({"grading": {"grader": "other"}}, "grading.grader"),
        ({"samplse": 2}, "samplse"),
        ({"name": "other"}, "its name is 'other'"),
    ],
)
def test_a_benchmark_that_cannot_be_run_is_refused_by_file_and_key(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(DataError) as caught:
        load_benchmark(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_unknown_name_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(DataError, match=r"no benchmark 'aime2024'[\s\S]*aime24, aime24_25"):
        load_benchmark("aime2024")


def test_another_number_of_problems_is_another_benchmark(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"benchmark mine v3: has 2 problems, not 3"):
        benchmark_problems(load_benchmark(write(tmp_path, problems={"file": "mine.jsonl", "count": 3})))


def test_a_repeated_problem_is_asked_once_and_one_with_two_answers_is_refused(tmp_path: Path) -> None:
    copy = {"question": "2  +  2?", "answer": "4"}
    assert len(benchmark_problems(load_benchmark(write(tmp_path, rows=[*ROWS, copy])))) == 2
    problems = {"file": "mine.jsonl", "count": None}
    with pytest.raises(DataError, match="asks one question with two answers: 1, 2"):
        benchmark_problems(load_benchmark(write(tmp_path, rows=[*ROWS, copy | {"answer": "5"}], problems=problems)))


def test_a_view_keeps_what_it_names_and_the_benchmarks_policy_goes_before_the_sources(tmp_path: Path) -> None:
    source = {
        "name": "sums",
        "description": "sums",
        "domain": "math",
        "origin": {"file": "sums.jsonl"},
        "licence": {"name": "CC0-1.0"},
        "uses": ["test"],
        "reader": "plain",
        "fields": {"question": "q", "answer": "a", "level": "l"},
        "rows": 3,
        "policy": {"units": "strict", "percent": "strict"},
        "near_duplicates": "exact",
    }
    (tmp_path / "sums.yaml").write_text(yaml.safe_dump(source), encoding="utf-8")
    rows = [{"q": f"{number} + 1?", "a": number + 1, "l": float(level)} for number, level in enumerate((5, 4, 5))]
    (tmp_path / "sums.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    view = {"source": "sums", "view": {"column": "level", "one_of": ["5"]}, "count": 2}
    grading = {"grader": "math", "policy": {"percent": "forgive", "rounded": False}}
    benchmark = load_benchmark(write(tmp_path, problems=view, grading=grading))
    frame = benchmark_problems(benchmark, catalogue=tmp_path)
    assert frame["answer"].to_list() == ["1", "3"]
    assert {Policy.from_text(text) for text in frame["policy"]} == {Policy(units="strict", rounded=False)}


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "laptop"])
def test_golds_of_a_mirrored_benchmark_grade_as_correct(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get(MIRROR)
    if not folder:
        pytest.skip(f"needs a folder with the public sets, named by {MIRROR}")
    monkeypatch.chdir(ROOT)
    benchmark = load_benchmark(name)
    try:
        frame = benchmark_problems(benchmark)
    except DataError as error:
        if "mirror" not in str(error):
            raise
        pytest.skip(f"the mirror has no {name}")
    assert frame["problem_id"].is_unique().all()
    assert frame["domain"].unique().to_list() == [("code" if benchmark.grading.grader == "code" else "math")]
    if benchmark.grading.grader == "code":
        assert frame["tests"].null_count() == 0
        return
    rows = frame.to_dicts()
    golds = [Gold(row["answer"], Policy.from_text(row["policy"]), row["question"]) for row in rows]
    with load_grader(benchmark.grading.grader) as grader:
        grades = grader.grade_many([f"\\boxed{{{row['answer']}}}" for row in rows], golds)
    wrong = [row["answer"] for row, grade in zip(rows, grades, strict=True) if grade.verdict is not Verdict.CORRECT]
    assert not wrong
