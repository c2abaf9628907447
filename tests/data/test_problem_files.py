"""Problem files: what is read, and how a bad row is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elastic.data.files import ProblemRow, read_problem_file
from elastic.errors import DataError

GOOD = '{"question": "4+3=?", "answer": "7"}'


def _file(folder: Path, *lines: str) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_rows_come_in_order_with_numbers_as_text(tmp_path: Path) -> None:
    rows = [
        {"question": "one", "answer": 142},
        {"question": "two", "answer": 0.5, "thinking": "", "solution": "so \\boxed{0.5}"},
        {"question": "drei \u2028 viér", "answer": "x\u2028y"},
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    read = list(read_problem_file(_file(tmp_path, "\ufeff" + lines[0], "", lines[1] + "\r", lines[2], "")))
    assert read == [
        ProblemRow(question="one", answer="142"),
        ProblemRow(question="two", answer="0.5", thinking="", solution="so \\boxed{0.5}"),
        ProblemRow(question="drei \u2028 viér", answer="x\u2028y"),
    ]


@pytest.mark.parametrize(
    ("line", "named", "remedy"),
    [
        ('{"question": "a", "anwser": "7"}', "anwser", "correct its spelling"),
        ('{"question": "a", "anwser": "7"}', "answer", "add the field"),
        ('{"question": " ", "answer": "7"}', "question: is empty", "correct the value"),
        ('{"question": "a", "answer": ""}', "answer: is empty", "correct the value"),
        ('{"question": "a", "answer": null}', "answer", "correct the value"),
        ('{"question": "a", "answer": true}', "answer", "correct the value"),
        ('{"question": "a", "answer": ["7"]}', "answer", "correct the value"),
        ('{"question": 5, "answer": "7"}', "question", "correct the value"),
        ('{"question": "a", "answer": NaN}', "NaN", "one JSON object"),
        ('{"question": "a", "answer": "7", "answer": "8"}', "'answer' stands twice", "one JSON object"),
        ('{"question": "a", "answer": "7"', "not JSON", "one JSON object"),
        ('["a", "7"]', "a list, not an object", '"question"'),
        ("[" * 100_000, "not JSON", "one JSON object"),
    ],
)
def test_a_bad_row_is_refused_with_file_line_field_and_remedy(
    tmp_path: Path, line: str, named: str, remedy: str
) -> None:
    path = _file(tmp_path, GOOD, "", line, GOOD)
    with pytest.raises(DataError) as caught:
        list(read_problem_file(path))
    text = str(caught.value)
    assert f"{path}, line 3" in text
    assert named in text
    assert remedy in text


def test_every_bad_row_of_a_file_is_named(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"question": "a"}', GOOD, '{"question": "", "answer": "7"}')
    with pytest.raises(DataError) as caught:
        list(read_problem_file(path))
    text = str(caught.value)
    assert "2 malformed rows" in text
    assert f"{path}, line 1: answer: Field required\nRemedy: add the field" in text
    assert f"{path}, line 3: question: is empty\nRemedy: correct the value" in text


def test_a_file_of_bad_rows_names_the_first_of_them_and_counts_the_rest(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="25 malformed rows") as caught:
        list(read_problem_file(_file(tmp_path, *["[]"] * 25)))
    assert str(caught.value).endswith("and 5 more")
    assert "line 20:" in str(caught.value)
    assert "line 21:" not in str(caught.value)


def test_a_file_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + '{"question": "é", "answer": "7"}'.encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.jsonl, line 2: not UTF-8"):
        list(read_problem_file(path))


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        list(read_problem_file(tmp_path / "nowhere.jsonl"))
