"""`elastic eval` ended by SIGKILL at random moments and started again leaves the files of one clean run, all bytes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from kills import Command, kill_in_a_row
from typer.testing import CliRunner

from cli.main import app

CHUNK = 64
STRATEGIES = ["nested", "fractured:depths=2,draws=1"]


def result_files(out: Path) -> dict[str, bytes]:
    """All files but the costs, which hold seconds."""
    files = [path for path in out.rglob("*") if path.is_file() and path.parent.name != "costs"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.mark.parametrize(("kills", "problems"), [(2, 192), pytest.param(8, 1536, marks=pytest.mark.nightly)])
def test_kills_at_random_end_in_the_files_of_one_clean_run(
    kills: int, problems: int, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n % 19}+{n // 19 % 19}-{n // 361}=?", "answer": str(n % 7)} for n in range(problems)]
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = [
        "eval",
        "--model",
        str(checkpoint),
        "--problems",
        "mine.jsonl",
        "--budgets",
        "8+12,16+6",
        "--out",
        "out",
    ]
    arguments += ["--temperature", "1", "--grader", "exact"]
    arguments += [word for text in STRATEGIES for word in ("--strategy", text)]

    def call() -> None:
        assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0

    call()
    clean = result_files(Path("out"))
    shutil.rmtree("out")

    chunks = len(STRATEGIES) * problems // CHUNK

    def committed() -> int:
        whole = len(list(Path("out/runs").glob("*.json"))) * problems // CHUNK
        return whole + len(list(Path(".scratch").glob("eval-*/*/chunk-*.solutions.parquet")))

    command = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
    counts = kill_in_a_row(lambda: Command(command, tmp_path), committed, chunks, times=kills)
    print(f"chunks committed after each kill: {counts} of {chunks}")
    # The last start is here: it saves the time of another process's imports.
    call()
    assert result_files(Path("out")) == clean
    assert len(list(Path("out/costs").iterdir())) == len(STRATEGIES)
    assert not list(Path(".scratch").rglob("*.parquet"))
