from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from filled_frames import filled
from typer.testing import CliRunner

from cli.grade import grade_rows, grade_traces
from cli.main import app
from elastic.answers.graders import Grader
from elastic.answers.verdict import Gold, Verdict
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.contracts.frames import Problems, Scored, read_frame, write_frame
from elastic.errors import DataError, GraderError


def grade(tmp_path: Path, rows: list[Any], *options: str) -> list[dict[str, Any]]:
    source, out = tmp_path / "rows.jsonl", tmp_path / "graded/rows.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    result = CliRunner().invoke(app, ["grade", str(source), "--out", str(out), *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_rows_come_back_in_order_with_their_verdicts(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "gold": "7", "output": "4+3=7;</think>\\boxed{7}", "level": 3},
        {"id": 2, "gold": 7, "output": "<think>7</think>\\boxed{8}"},
        {"id": "no tags", "gold": "7", "output": "so \\boxed{7}"},
        {"id": "unclosed", "gold": "7", "output": "<think>it is \\boxed{7}"},
        {"id": "thought only", "gold": "7", "output": "\\boxed{7}</think>seven"},
        {"id": "twice", "gold": "7", "output": "a</think>\\boxed{1}</think>\\boxed{7}"},
    ]
    graded = grade(tmp_path, rows, "--grader", "exact")
    assert [row["verdict"] for row in graded] == ["correct", "wrong", "correct", "no_answer", "no_answer", "correct"]
    assert [row["answer"] for row in graded] == ["7", "8", "7", None, None, "7"]
    assert [row["found_by"] for row in graded] == ["box", "box", "box", None, None, "box"]
    assert [{key: row[key] for key in given} for row, given in zip(graded, rows, strict=True)] == rows


def test_the_default_grader_knows_mathematics(tmp_path: Path) -> None:
    rows = [{"id": 1, "gold": "\\frac{1}{2}", "output": "\\boxed{\\sqrt{\\frac{1}{4}}}"}]
    assert grade(tmp_path, rows)[0]["verdict"] == "correct"
    assert grade(tmp_path, rows, "--grader", "exact")[0]["verdict"] == "wrong"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"id": "b", "gold": "1"}', "line 2: output: Field required"),
        ('{"id": "b", "gold": null, "output": "x"}', "line 2: gold"),
        ('{"id": "b", "gold": "1", "output": ["x"]}', "line 2: output"),
        ('{"id": "b", "gold"', "line 2: not JSON"),
        ("[1]", "line 2: holds a list"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_nothing_is_written(tmp_path: Path, row: str, fault: str) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "a", "gold": "1", "output": "1"}\n' + row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=fault):
        CliRunner().invoke(app, ["grade", str(source), "--out", str(out), "--grader", "exact"], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == [source]


def test_an_unknown_grader_and_another_kind_of_output_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="no grader is called 'fuzzy'"):
        grade(tmp_path, [], "--grader", "fuzzy")
    with pytest.raises(DataError, match=r"write to .*out\.jsonl"):
        CliRunner().invoke(app, ["grade", str(tmp_path / "rows.jsonl"), "--out", "out.csv"], catch_exceptions=False)


def scored_trace(sample: int, closed: str, solution: str, verdict: str) -> dict[str, Any]:
    return {
        "problem_id": "p",
        "think_budget": 9,
        "solution_budget": 99,
        "sample": sample,
        "n_solution": len(solution),
        "closed": closed,
        "think_text": "\\boxed{7}",
        "solution_text": solution,
        "gold": "7",
        "verdict": verdict,
    }


def test_scored_traces_are_graded_again(tmp_path: Path) -> None:
    rows = [
        scored_trace(0, "natural", "\\boxed{7}", "wrong"),
        scored_trace(1, "eos", "", "correct"),
        scored_trace(2, "forced", "", "error"),
    ]
    source, out = tmp_path / "scored.parquet", tmp_path / "again.parquet"
    write_frame(Scored, filled(Scored, rows), source)
    result = CliRunner().invoke(app, ["grade", str(source), "--out", str(out), "--grader", "exact"])
    assert result.exit_code == 0, result.output
    again = read_frame(Scored, out)
    assert again["verdict"].to_list() == ["correct", "no_answer", "no_answer"]
    assert again["answer"].to_list() == ["7", None, None]
    changed = ["answer", "found_by", "verdict", "grader"]
    assert again.drop(changed).equals(read_frame(Scored, source).drop(changed))


def old_rows(folder: Path) -> Path:
    """Rows as an older grader left them; the exact grader of today finds 1/2 wrong that it called correct."""
    rows = [
        {"id": "same", "gold": "7", "output": "\\boxed{7}", "verdict": "correct", "answer": "7", "grader": "exact 0"},
        {"id": "half", "gold": "\\frac{1}{2}", "output": "\\boxed{1/3}", "verdict": "correct", "grader": "exact 0"},
        {"id": 3, "gold": "7", "output": "seven", "verdict": "error", "answer": None, "grader": "exact 00"},
    ]
    path = folder / "old.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_regrade_shows_what_would_change_and_touches_no_old_file(tmp_path: Path) -> None:
    old = old_rows(tmp_path)
    traces = tmp_path / "scored.parquet"
    scored = [scored_trace(0, "natural", "\\boxed{7}", "wrong"), scored_trace(1, "natural", "\\boxed{7}", "correct")]
    write_frame(Scored, filled(Scored, scored), traces)
    before = [path.read_bytes() for path in (old, traces)]
    out = tmp_path / "changes/rows.jsonl"
    arguments = ["grade", str(old), str(traces), "--regrade", "--out", str(out), "--grader", "exact"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert [path.read_bytes() for path in (old, traces)] == before

    lines = result.output.splitlines()
    assert lines[0] == "old grader: exact 0 (2 rows), exact 00 (1 rows), exact 1 (2 rows)"
    assert lines[1].startswith("new grader: exact ")
    table = [line.split() for line in lines[3:8]]
    assert lines[2].split() == ["old", "\\", "new", "correct", "wrong", "no_answer", "error", "in", "all"]
    assert table == [
        ["correct", "2", "1", "0", "0", "3"],
        ["wrong", "1", "0", "0", "0", "1"],
        ["no_answer", "0", "0", "0", "0", "0"],
        ["error", "0", "0", "1", "0", "1"],
        ["in", "all", "3", "1", "1", "0", "5"],
    ]
    assert "  half: correct -> wrong, answer none -> 1/3, gold \\frac{1}{2}" in lines
    assert lines[-1] == f"{out}: 3 of 5 rows change"
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(row["file"], row.get("id", row.get("problem_id")), row["old"]["verdict"], row["new"]["verdict"])
            for row in rows] == [
        (str(old), "half", "correct", "wrong"),
        (str(old), 3, "error", "no_answer"),
        (str(traces), "p", "wrong", "correct"),
    ]  # fmt: skip
    assert rows[2]["sample"] == 0
    assert rows[2]["old"]["grader"] == "exact 1"


def test_rows_that_were_never_graded_and_several_files_without_regrade_are_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": 1, "gold": "1", "output": "1"}\n', encoding="utf-8")
    common = ["--grader", "exact", "--out", str(tmp_path / "out.jsonl")]
    with pytest.raises(DataError, match="line 1: verdict: Field required"):
        CliRunner().invoke(app, ["grade", str(bare), "--regrade", *common], catch_exceptions=False)
    with pytest.raises(DataError, match="2 files are named"):
        CliRunner().invoke(app, ["grade", str(bare), str(bare), *common], catch_exceptions=False)
    with pytest.raises(DataError, match="changes are JSONL rows"):
        CliRunner().invoke(app, ["grade", str(bare), "--regrade", "--out", "out.parquet"], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == [bare]


class Sentinel(Grader):
    """Says correct of what comes with the tests that it expects."""

    name, version = "sentinel", "1"

    def judge(self, pairs: Sequence[tuple[str, Gold]]) -> list[Verdict]:
        return [Verdict.CORRECT if gold.tests == TESTS else Verdict.WRONG for _, gold in pairs]


TESTS = CodeTests(kind="stdin", tests=(CodeTest(input="1", outputs=("2",)),)).to_text()


def test_programs_in_traces_are_judged_by_the_tests_of_their_problems(tmp_path: Path) -> None:
    """Tests stay with the problems; traces of programs without them are refused, never graded against an empty gold."""
    traces, problems = tmp_path / "scored.parquet", tmp_path / "problems.parquet"
    code = {"problem_id": "c" * 16, "domain": "code", "answer": "", "tests": TESTS}
    write_frame(Problems, filled(Problems, [code]), problems)
    rows = [
        scored_trace(0, "natural", "\\boxed{7}", "wrong") | {"problem_id": "c" * 16, "gold": ""},
        scored_trace(0, "natural", "\\boxed{7}", "wrong"),
    ]
    write_frame(Scored, filled(Scored, rows), traces)
    with pytest.raises(
        DataError, match=rf"1 traces have neither a gold answer nor tests, the first of problem {'c' * 16}"
    ):
        grade_traces(traces, tmp_path / "again.parquet", Sentinel(), [])
    assert grade_traces(traces, tmp_path / "again.parquet", Sentinel(), [problems]) == ["correct", "wrong"]


def test_a_row_is_judged_by_its_own_tests_and_a_broken_one_is_named(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    line = {"id": 1, "gold": "", "output": "\\boxed{7}", "tests": TESTS}
    rows.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert grade_rows(rows, tmp_path / "out.jsonl", Sentinel()) == ["correct"]
    rows.write_text(json.dumps(line | {"tests": "{}"}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: tests"):
        grade_rows(rows, tmp_path / "out.jsonl", Sentinel())
