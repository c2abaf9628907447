from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from filled_frames import filled
from typer.testing import CliRunner

from cli.main import app
from elastic.contracts.frames import Scored, read_frame, write_frame
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
