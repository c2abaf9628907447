from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.generate import INSERTED, describe
from cli.main import app
from elastic.budget import Budget
from elastic.errors import DataError
from elastic.trace import Trace


def run(checkpoint: Path, *arguments: str) -> str:
    result = CliRunner().invoke(
        app, ["generate", "--model", str(checkpoint), *arguments, "4+3-2=?"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def test_phases_and_counts_are_printed_and_the_budget_holds(checkpoint: Path) -> None:
    output = run(checkpoint, "--think", "6", "--solution", "5", "--seed", "3")
    thinking = re.search(r"^thinking  (\d+) of 6 tokens, (.*)$", output, flags=re.MULTILINE)
    solution = re.search(r"^solution  (\d+) of 5 tokens, (.*)$", output, flags=re.MULTILINE)
    assert thinking
    assert solution
    assert int(thinking[1]) <= 6
    assert int(solution[1]) <= 5
    forced = thinking[2] == "closed by the budget"
    assert (INSERTED in output) == forced
    assert f"forced    {int(forced)} " in output


def test_without_thinking_the_delimiter_is_inserted_at_once(checkpoint: Path) -> None:
    output = run(checkpoint, "--think", "0", "--solution", "5")
    assert f"thinking:\n\n</think> {INSERTED}\nsolution:\n" in output
    assert "thinking  0 of 0 tokens, closed by the budget" in output


def test_equal_seeds_give_equal_answers_and_others_do_not(checkpoint: Path) -> None:
    first, again, other = (
        run(checkpoint, "--think", "20", "--solution", "20", "--temperature", "1", "--seed", seed)
        for seed in ("1", "1", "2")
    )
    assert first == again
    assert first != other


NATURAL = Trace((1,), (5, 6), (7, 2), "natural", "eos")
FORCED = Trace((1,), (5, 6, 5, 6), (7, 7, 7), "forced", "budget")
EOS = Trace((1,), (5, 2), (), "eos", "eos")


@pytest.mark.parametrize(
    ("trace", "thinking", "solution", "forced"),
    [
        (NATURAL, "2 of 4 tokens, closed by the model", "2 of 3 tokens, ended by EOS", 0),
        (FORCED, "4 of 4 tokens, closed by the budget", "3 of 3 tokens, cut by the budget", 1),
        (EOS, "2 of 4 tokens, ended by EOS", "0 of 3 tokens, none", 0),
    ],
)
def test_each_way_to_end_is_named(trace: Trace, thinking: str, solution: str, forced: int) -> None:
    text = describe(trace, Budget(4, 3), thinking="T", delimiter="</think>", solution="S")
    assert f"thinking  {thinking}" in text
    assert f"solution  {solution}" in text
    assert f"forced    {forced} inserted tokens" in text
    assert (INSERTED in text) == bool(forced)
    assert ("solution:\nS" in text) == (trace.closed != "eos")


def test_a_template_without_a_place_for_the_question_is_refused(checkpoint: Path) -> None:
    with pytest.raises(DataError, match=r"--template: holds no \{question\}"):
        run(checkpoint, "--think", "1", "--solution", "1", "--template", "Solve this")
