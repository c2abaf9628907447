from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from cli.main import app
from elastic.answers.verdict import Verdict
from elastic.errors import DataError, ParamsError
from elastic.rewards.protocol import Reward, Rollout, load_reward
from elastic.training.advantages import load_estimator


def row(group: str | int, tokens: int, correct: bool | None = True, **more: Any) -> dict[str, Any]:
    return {"group": group, "think_tokens": tokens - 2, "solution_tokens": 2, "correct": correct} | {
        "closed": "natural",
        **more,
    }


# Two groups that do not stand together, the second one short of a rollout, and one whose grading failed.
ROWS = [
    row("a", 100), row("b", 300), row("a", 200), row("b", 100, correct=False), row("a", 400, correct=None),
]  # fmt: skip
VIEWS = [
    [Rollout(98, 2, Verdict.CORRECT, "natural", "eos"), Rollout(198, 2, Verdict.CORRECT, "natural", "eos"),
     Rollout(398, 2, Verdict.ERROR, "natural", "eos")],
    [Rollout(298, 2, Verdict.CORRECT, "natural", "eos"), Rollout(98, 2, Verdict.WRONG, "natural", "eos")],
]  # fmt: skip


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in rows), encoding="utf-8")
    return path


def run(tmp_path: Path, name: str, rows: list[Any], *options: str) -> list[dict[str, Any]]:
    arguments = ["reward", name, "--rollouts", str(write(tmp_path / "rollouts.jsonl", rows)), *options]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


PARAMS = {"alp": {"beta": 1e-7}, "kimi": {"weight": 0.4}, "r1_alpha": {"alpha": 0.2}, "dler": {"target": 250}}


@pytest.mark.parametrize("name", PARAMS)
def test_the_figures_are_those_of_the_functions(tmp_path: Path, name: str) -> None:
    settings = [word for key, value in PARAMS[name].items() for word in ("--set", f"{key}={value}")]
    printed = run(tmp_path, name, ROWS, *settings)
    reward = load_reward(name, PARAMS[name])
    assert isinstance(reward, Reward)
    (a1, a2, error), (b1, b2) = (reward.rewards(group) for group in VIEWS)
    assert error is None
    assert [line["reward"] for line in printed] == [a1, b1, a2, b2, None]

    nan = float("nan")
    known = [nan if value is None else value for value in (a1, a2, error, b1, b2, None)]
    estimate = load_estimator(reward.estimator, None if reward.estimator == "rloo" else 1e-6)
    a1, a2, error, b1, b2, _ = estimate(torch.tensor(known, dtype=torch.float64), 3).tolist()
    assert [line["advantage"] for line in printed] == [a1, b1, a2, b2, error]
    assert error == 0.0


def test_known_figures_of_alp(tmp_path: Path) -> None:
    printed = run(tmp_path, "alp", [row(1, 100), row(1, 300)], "--set", "beta=1e-7", "--eps", "0")
    assert [line["reward"] for line in printed] == pytest.approx([1 - 1e-5, 1 - 3e-5], abs=1e-12)
    assert [line["advantage"] for line in printed] == pytest.approx([0.5**0.5, -(0.5**0.5)])
    plain = run(tmp_path, "alp", [row(1, 100), row(1, 300)], "--set", "beta=1e-7", "--estimator", "group_mean")
    assert [line["advantage"] for line in plain] == pytest.approx([1e-5, -1e-5])


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [row(7, 9, problem="p", closed="forced"), row(7, 9, correct=False)]
    printed = run(tmp_path, "correctness", rows)
    kept = [{key: line[key] for key in line if key not in ("reward", "advantage")} for line in printed]
    assert kept == rows


def test_wrong_and_no_answer_are_told_apart(tmp_path: Path) -> None:
    rows = [
        row("a", 9, correct=False),
        row("a", 9, correct=False, verdict="no_answer"),
        row("a", 2, correct=False, closed="eos", solution_tokens=0),
        row("a", 2, correct=False, closed=False, solution_tokens=0),
        row("a", 9, closed=True),
    ]
    assert [line["reward"] for line in run(tmp_path, "laser", rows, "--set", "target=10")] == [-0.5, -1, -1, -1, 1.5]


def test_a_response_that_was_cut_says_so(tmp_path: Path) -> None:
    rows = [row("a", 9), row("a", 9, finish="budget")]
    assert [line["reward"] for line in run(tmp_path, "thinkprune", rows, "--set", "limit=9")] == [1.0, 0.0]


def test_a_state_is_estimated_on_monitored_rollouts_and_shown(tmp_path: Path) -> None:
    options = [
        f"--set={key}={value}" for key, value in (("start_target", 40), ("lower", 10), ("upper", 40), ("step", 10))
    ]
    monitor = write(tmp_path / "monitor.jsonl", [row("m", 9), row("m", 30)])
    source = write(tmp_path / "rollouts.jsonl", [row("a", 20), row("a", 40)])
    for more, state, expected in (
        ([], 40, [1.5, 1.5]),
        (["--monitor", str(monitor)], 30, [1.5, 1.0]),
    ):
        result = CliRunner().invoke(app, ["reward", "laser_d", "--rollouts", str(source), *options, *more])
        assert result.exit_code == 0
        assert [json.loads(line)["reward"] for line in result.stdout.splitlines()] == expected
        assert json.loads(result.stderr.removeprefix("state: "))["easy"] == state


@pytest.mark.parametrize(
    ("name", "rows", "options", "fault"),
    [
        ("l1_exact", [row("a", 9, target_tokens=9), row("a", 9)], ["--set=alpha=1"], "line 2: target_tokens: Field"),
        ("steps", [row("a", 9, text="B7")], ["--set", "weight=1"], "line 1: question: Field required"),
        ("laser_de", [row("a", 9, ids=["x"])], [f"--set={k}=9" for k in ("start_target", "lower", "upper", "step")],
         "line 1: ids.0"),
        ("correctness", [row("a", 9, closed="later")], [], "line 1: closed"),
        ("correctness", [row("a", 9, correct=False, verdict="correct")], [], "verdict correct contradicts"),
        ("correctness", [row("a", 2, closed="eos", solution_tokens=0)], [], "without a solution cannot be correct"),
        ("correctness", [row("a", 1)], [], "line 1: think_tokens: .*greater than or equal to 0"),
        ("correctness", [], [], "holds no rollouts"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_by_its_line_and_field(
    tmp_path: Path, name: str, rows: list[Any], options: list[str], fault: str
) -> None:
    with pytest.raises(DataError, match=fault):
        run(tmp_path, name, rows, *options)


@pytest.mark.parametrize(
    ("name", "options", "fault"),
    [
        ("alp", [], r"alp\.beta: Field required.*\nRemedy: set the keys named above with --set"),
        ("alp", ["--set", "beta=1", "--set", "betta=1"], r"alp\.betta: Extra inputs"),
        ("alp", ["--set", "beta=-1"], r"alp\.beta: .*greater than 0"),
        ("alp", ["--set", "beta"], "is no KEY=VALUE"),
        ("alp", ["--set", "beta=1", "--set", "beta=2"], "stands twice"),
        ("alpha", [], "no reward is called 'alpha'\nRemedy: name one of alp"),
        ("correctness", ["--estimator", "mean"], "no advantage estimator is called 'mean'"),
        ("correctness", ["--estimator", "rloo", "--eps", "1"], "would ignore it"),
        ("correctness", ["--monitor", "rollouts.jsonl"], "this reward has no state"),
    ],
)
def test_a_wrong_setting_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: list[str], fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamsError, match=fault):
        run(tmp_path, name, [row("a", 9)], *options)


def test_errors_are_found_before_torch_is_loaded(tmp_path: Path) -> None:
    source = write(tmp_path / "rollouts.jsonl", [{"group": "a"}])
    code = (
        "import sys; from cli.main import app; from elastic.errors import ElasticError\n"
        f"try: app(['reward', 'alp', '--rollouts', {str(source)!r}, '--set', 'beta=1'])\n"
        "except ElasticError as error: print(error)\n"
        "assert not {'torch', 'polars', 'pandera'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "think_tokens: Field required" in done.stdout
