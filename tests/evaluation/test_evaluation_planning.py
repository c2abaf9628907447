"""What is left to sample of the runs that are wanted, and what names a run."""

from __future__ import annotations

from typing import Any

import pytest

from elastic.budget import Budget
from elastic.contracts.evaluation_records import EvaluationRecord, Grading, Intervals, Named, Protocol, RunRecord
from elastic.contracts.params.strategies import Grid, parse_strategy
from elastic.errors import DataError, ParamsError
from elastic.evaluation.planning import Beside, Run, file_stem, left

GRADING = Grading(grader="exact 2", golds="g")
EVALUATION = EvaluationRecord(
    model=Named(name="base", sha256="m"),
    problems=Named(name="sums", sha256="p"),
    protocol=Protocol(benchmark="sums", template="{question}", temperature=0.6, samples=4, seed=1),
    engine="transformers",
    versions={"torch": "2"},
    grading=GRADING,
    intervals=Intervals(),
)


def grid(*budgets: str, limit: int | None = 64) -> Grid:
    return Grid(budgets=tuple(Budget.parse(text) for text in budgets), limit=limit)


def there(text: str, *budgets: str, limit: int | None = 64, beside: dict[str, str] | None = None) -> RunRecord:
    return RunRecord(
        run=text,
        strategy=text,
        budgets=budgets,
        limit=limit,
        beside=beside or {},
        fingerprint="f",
        grading=GRADING,
        problems=1,
        answers=1,
        sampled_tokens=1,
        prefilled_tokens=1,
    )


def wanted(text: str, of: Grid, *records: RunRecord) -> tuple[str, list[str]] | None:
    run = left(parse_strategy(text), of, {}, records, where="out")
    return run and (run.name, [str(budget) for budget in run.grid.budgets])


def test_only_budgets_that_are_not_there_are_sampled() -> None:
    assert wanted("nested", grid("8+4", "16+4")) == ("nested", ["8+4", "16+4"])
    assert wanted("nested", grid("8+4"), there("nested", "8+4", "16+4")) is None
    assert wanted("nested", grid("8+4", "24+4"), there("nested", "8+4")) == ("nested at 24+4 <= 64", ["24+4"])
    assert wanted("s1_r1", grid("8+4", limit=None), there("nested", "8+4")) == ("s1_r1", ["8+4"])


def test_a_run_is_told_apart_by_what_it_depends_on_and_by_nothing_else() -> None:
    """Thinking budgets mean nothing to a strategy that thinks up to the limit, and the limit nothing to forcing."""
    assert wanted("nested", grid("8+4", limit=32), there("nested", "8+4"))
    assert wanted("s1_r1", grid("8+4", limit=32), there("s1_r1", "8+4")) is None
    for text in ("fractured:depths=4", "early_stop"):
        assert wanted(text, grid("24+4"), there(text, "8+4")) is None
        assert wanted(text, grid("24+8"), there(text, "8+4"))
        assert wanted(text, grid("8+4", limit=32), there(text, "8+4"))
    assert wanted("l1_exact:targets=[9]", grid("24+8"), there("l1_exact:targets=[9]", "8+4")) is None
    assert wanted("l1_exact", grid("8+4", "4+8"), there("l1_exact", "8+4")) is None
    assert wanted("l1_exact", grid("8+4", "5+8"), there("l1_exact", "8+4")) == ("l1_exact at 5+8 <= 64", ["5+8"])
    assert wanted("s1_exact", grid("8+9"), there("s1_exact", "8+4")) is None


def test_another_model_of_the_same_name_is_refused() -> None:
    swap = parse_strategy("swap:solver=r1")
    before = there("swap:solver=r1", "8+4", beside={"r1": "old"})
    assert left(swap, grid("8+4"), {"r1": "old"}, [before], where="out") is None
    with pytest.raises(DataError, match="with another r1"):
        left(swap, grid("8+4"), {"r1": "new"}, [before], where="out")
    with pytest.raises(ParamsError, match="was not given"):
        Beside().of(swap)


def test_an_assignment_is_known_by_its_budgets() -> None:
    strategy = parse_strategy("assigned:budgets=mine")
    one, other = (Beside({}, {"mine": {"p": Budget(think, 4)}}).of(strategy) for think in (8, 9))
    assert one.keys() == other.keys() == {"mine"}
    assert one != other


@pytest.mark.parametrize(
    "change",
    [
        {"model": Named(name="base", sha256="other")},
        {"problems": Named(name="sums", sha256="other")},
        {"engine": "vllm"},
        {"versions": {"torch": "3"}},
        *(
            {"protocol": {key: value}}
            for key, value in {"temperature": 0.7, "samples": 5, "seed": 2, "top_p": 0.9}.items()
        ),
    ],
)
def test_whatever_decides_what_is_sampled_changes_the_fingerprint(change: dict[str, Any]) -> None:
    run = Run("nested", parse_strategy("nested"), grid("8+4"), {})
    if "protocol" in change:
        change = {"protocol": EVALUATION.protocol.model_copy(update=change["protocol"])}
    assert run.fingerprint(EVALUATION.model_copy(update=change)) != run.fingerprint(EVALUATION)


def test_graders_golds_and_names_do_not_change_the_fingerprint() -> None:
    run = Run("nested", parse_strategy("nested"), grid("8+4"), {})
    same = EVALUATION.model_copy(
        update={"grading": Grading(grader="math", golds="other"), "model": Named(name="renamed", sha256="m")}
    )
    assert run.fingerprint(same) == run.fingerprint(EVALUATION)
    assert Run("nested", run.strategy, grid("8+4", limit=65), {}).fingerprint(EVALUATION) != run.fingerprint(same)
    assert Run("nested", run.strategy, run.grid, {"r1": "a"}).fingerprint(EVALUATION) != run.fingerprint(same)


def test_a_readable_file_name_tells_a_run_from_every_other() -> None:
    runs = ["s1_r1:cue=a,b", "s1_r1:cue=a_b", "s1_r1:cue=a b", "swap:solver=r1", 's1_r1:cue="\\nso"', "nested at 1+2"]
    stems = [file_stem(run) for run in runs]
    assert len(set(stems)) == len(runs)
    assert (stems[3], stems[5]) == ("swap_solver-r1", "nested_at_1+2")
    assert not any("=" in stem or "/" in stem for stem in stems)
    assert len(file_stem("l1_exact:targets=[" + ",".join(["1024"] * 99) + "]")) < 100
