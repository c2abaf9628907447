"""What a change makes run again: exactly what it can reach, and never a sampling stage for a better grade."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from clone import Clone

pytestmark = [pytest.mark.smoke, pytest.mark.timeout(1800)]

MODELS, SPLITS = ["base", "r1", "r2"], ["validation", "test"]


def per_model(name: str, split: str, models: list[str] = MODELS) -> set[str]:
    return {f"{name}-base@{split}" if model == "base" else f"{name}@{model}-{split}" for model in models}


SCORING = per_model("score", "validation") | per_model("score", "test")
END = {"decide", "export", "report"}
NEW_ROUND = {"prev": "r2", "budget": "18+12", "steps": 1, "learning_rate": 1.0e-4}
OF_NEW_ROUND = {"train@r3"} | {f"{name}@r3-{split}" for name in ("sample", "score") for split in SPLITS}


@pytest.mark.parametrize(
    ("metric", "readers"),
    [
        ("accuracy", SCORING | {"decide", "report"}),
        ("intervals", SCORING | {"decide", "report"}),
        ("table", SCORING | {"decide"}),
        ("log_linear", {"report"}),
    ],
)
def test_a_metric_reaches_scores_and_what_follows(metric: str, readers: set[str], copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.edit(f"elastic/metrics/{metric}.py")
    assert clone.stale() == readers


def test_after_the_scores_nothing_is_sampled(reproduced: Clone) -> None:
    assert reproduced.reach(SCORING) == SCORING | END


def test_the_test_grid_never_reaches_decide(copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.set_params(sample__grids__test__think=[6, 18])
    stale = clone.stale()
    assert stale == per_model("sample", "test") | {"report"}
    assert clone.reach(stale) == stale | per_model("score", "test") | {"export"}


def test_a_new_round_reaches_itself_and_what_follows(copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.set_params(rounds__r3=NEW_ROUND)
    assert clone.stale() == OF_NEW_ROUND | END
    assert clone.reach(OF_NEW_ROUND) == OF_NEW_ROUND | END


def sampled(clone: Clone) -> dict[str, str]:
    """The md5 of every out on which models were made or sampled."""
    return {path: md5 for path, md5 in clone.outs().items() if path.startswith(("data/", "models/", "results/traces/"))}


def test_a_grader_runs_curate_and_scores_again_and_samples_nothing(
    reproduced: Clone, copy: Callable[..., Clone]
) -> None:
    """The grader's own text changes nothing that curate writes, and with it the chain to the models stops there."""
    clone = copy()
    clone.edit("elastic/answers/math.py")
    assert clone.stale() == SCORING | {"curate"}
    again = clone.reproduce("score@r1-test")
    assert again.ran == {"curate", "score@r1-test"}
    assert {"base", "probe", "train@r1", "sample@r1-test"} <= again.unchanged
    assert clone.stale() == SCORING - {"score@r1-test"}
    assert sampled(clone) == sampled(reproduced)


@pytest.mark.nightly
def test_another_interval_runs_all_scores_and_what_follows(reproduced: Clone, copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.set_params(score__confidence=0.6)
    again = clone.reproduce()
    assert again.ran == SCORING | END
    assert not again.restored
    assert sampled(clone) == sampled(reproduced)
    grids = [one.json("reports/summary.json")["grid"] for one in (reproduced, clone)]
    assert [row["accuracy"] for row in grids[0]] == [row["accuracy"] for row in grids[1]]
    wide, narrow = (sum(row["ci_high"] - row["ci_low"] for row in grid) for grid in grids)
    assert narrow < wide


@pytest.mark.nightly
def test_another_test_grid_samples_and_scores_the_test_split_only(copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.set_params(sample__grids__test__think=[6, 18])
    again = clone.reproduce()
    assert again.ran == per_model("sample", "test") | per_model("score", "test") | {"export", "report"}
    grid = clone.json("reports/summary.json")["grid"]
    assert {row["think"] for row in grid if row["split"] == "test"} == {6, 18, None}
    assert {row["think"] for row in grid if row["split"] == "validation"} == {6, 12, None}


@pytest.mark.nightly
def test_another_round_is_all_that_runs(copy: Callable[..., Clone]) -> None:
    clone = copy()
    clone.set_params(rounds__r3=NEW_ROUND)
    again = clone.reproduce()
    assert again.ran == OF_NEW_ROUND | END
    assert {row["model"] for row in clone.json("reports/summary.json")["grid"]} == {*MODELS, "r3"}
    assert "r3" in {comparison["model"] for comparison in clone.json("results/decision.json")["comparisons"]}


@pytest.mark.nightly
def test_what_was_undone_is_restored_and_not_made_again(copy: Callable[..., Clone]) -> None:
    clone = copy()
    before = (clone.folder / "params.yaml").read_bytes(), clone.outs()
    clone.set_params(probe__samples=3)
    assert "probe" in clone.reproduce("bucket").ran
    (clone.folder / "params.yaml").write_bytes(before[0])
    again = clone.reproduce()
    assert again.ran <= {"report"}
    assert {"probe", "bucket"} <= again.restored
    assert clone.outs() == before[1]
