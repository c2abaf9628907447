"""Every section on the made lab, whose figures can be counted by hand (made_lab.py says by which law).

Of 18 problems three each have 2, 3, 4, 5, 6 and 7 terms. `base` thinks 10, 20, 30, 40, 50 or 60 tokens and needs all of
them, `r1` thinks 5 to 30 and needs four fifths. Samples are wrong by bad luck in every tenth place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise, product

import made_lab
import polars as pl
import pytest
from made_lab import PROBLEMS

from elastic.errors import DataError
from elastic.metrics.adaptation import adaptation_ratio
from lab.analysis import Analysis, Entry, Measured, Section, Table
from lab.evidence import Evidence
from lab.sections import allocation, grid, lengths

Sections = Mapping[str, Section]


def value(entry: Entry) -> float:
    assert entry is not None
    assert not isinstance(entry, str)
    return entry.value if isinstance(entry, Measured) else float(entry)


def table(section: Section, title: str) -> Table:
    return next(found for found in section.tables if found.title.startswith(title))


def rows(found: Table, *key: Entry) -> list[dict[str, Entry]]:
    """Rows that begin with `key`, by the names of the columns."""
    names = [column.name for column in found.columns]
    return [dict(zip(names, row, strict=True)) for row in found.rows if tuple(row[: len(key)]) == key]


def share(model: str, solver: str, think: int, samples: int = made_lab.SAMPLES) -> float:
    """Share of right answers when `model` thinks up to a budget and `solver` solves, counted one by one."""
    right = [
        min(think, made_lab.length(model, n)) >= made_lab.NEEDED[solver] * made_lab.length(solver, n)
        and not made_lab.unlucky(n, s)
        for n, s in product(range(PROBLEMS), range(samples))
    ]
    return sum(right) / len(right)


def test_there_is_a_section_a_question_and_each_answers_in_a_sentence(analysis: Analysis) -> None:
    keys = [section.key for section in analysis.sections]
    assert len(set(keys)) == len(keys) == 16
    for section in analysis.sections:
        assert section.question.endswith("?")
        assert re.fullmatch(r"\S.*\.", section.finding), section.finding
        assert "  " not in section.finding


def test_the_headline_names_what_every_model_solves(analysis: Analysis) -> None:
    for model in made_lab.MODELS:
        assert f"{model} solves {share(model, model, 16):.0%}" in analysis.headline


@pytest.mark.parametrize("model", made_lab.MODELS)
def test_grid(sections: Sections, model: str) -> None:
    everything = table(sections["grid"], "Every budget")
    [row] = rows(everything, model, "separate budgets", "16+16")
    assert value(row["accuracy"]) == pytest.approx(share(model, model, 16))
    used = [min(16, made_lab.length(model, n)) + made_lab.ANSWER for n in range(PROBLEMS)]
    assert value(row["tokens"]) == pytest.approx(sum(used) / PROBLEMS)
    forced = [made_lab.length(model, n) > 16 for n in range(PROBLEMS)]
    assert value(row["forced"]) == pytest.approx(sum(forced) / PROBLEMS)
    assert (value(row["problems"]), value(row["samples"])) == (PROBLEMS, made_lab.SAMPLES)
    [cut] = rows(everything, model, "separate budgets", "16+4")
    assert (value(cut["accuracy"]), value(cut["truncated"]), value(cut["no answer"])) == (0, 1, 1)
    [difference] = rows(table(sections["grid"], "Separate budgeting"), model, "S1 for R1")
    assert value(difference["t = 16"]) == 0  # S1 follows the law of separate budgets here
    assert isinstance(difference["t = 16"], Measured)
    assert difference["t = 16"].holds is False


def test_swap(sections: Sections) -> None:
    [row] = rows(table(sections["swap"], "Gain over base"), "32+16")
    base, both = share("base", "base", 32), share("r1", "r1", 32)
    thinking, solution = share("r1", "base", 32), share("base", "r1", 32)
    assert value(row["both"]) == pytest.approx(both - base)
    assert value(row["thinking only"]) == pytest.approx(thinking - base)
    assert value(row["solution only"]) == pytest.approx(solution - base)
    assert value(row["only together"]) == pytest.approx(both - thinking - solution + base)
    assert "The published finding holds" in sections["swap"].finding
    published = table(sections["swap"], "Published")
    assert [row[1] for row in published.rows] == [0.021, 0.035, 0.108, 0.135]


def test_fractured(sections: Sections) -> None:
    points = rows(table(sections["fractured"], "Every point"), "base", 1, 1, 1)
    [row] = points
    whole = sum(made_lab.length("base", n) for n in range(PROBLEMS)) / PROBLEMS
    assert value(row["B"]) == pytest.approx(whole + made_lab.ANSWER)
    assert value(row["pass@k"]) == pytest.approx(share("base", "base", 100, samples=4))
    [four] = rows(table(sections["fractured"], "Every point"), "base", 1, 4, 1)
    assert value(four["B"]) == pytest.approx(whole + 4 * made_lab.ANSWER)
    assert value(four["pass@k"]) == pytest.approx(value(row["pass@k"]))  # base needs all of its thinking
    assert "worse in" in sections["fractured"].finding


def test_voting(sections: Sections) -> None:
    found = table(sections["voting"], "Majority")
    [plain] = rows(found, "base", "last depth, m = 1")
    [deep] = rows(found, "base", "all 4 depths, m = 1")
    assert value(plain["majority"]) == 1  # one unlucky sample of four is outvoted
    assert value(plain["best of N"]) == 1  # and scored below
    # Three of four depths agree on the wrong answer.
    assert value(deep["majority"]) == 0
    assert value(deep["best of N"]) == 1
    assert plain["− plain"] is None
    assert "majority of base, worse in" in sections["voting"].finding


def test_early_stopping_counts_its_probes(sections: Sections) -> None:
    [base] = rows(table(sections["early-stopping"], "Early"), "base")
    [r1] = rows(table(sections["early-stopping"], "Early"), "r1")
    assert value(base["accuracy"]) == pytest.approx(-share("base", "base", 100))
    assert value(r1["accuracy"]) == 0
    saved = [made_lab.length("r1", n) - math.ceil(made_lab.length("r1", n) * 4 / 5) for n in range(PROBLEMS)]
    assert value(r1["tokens"]) == pytest.approx(2 * made_lab.ANSWER - sum(saved) / PROBLEMS)


def test_adaptive_budgets_learn_the_length_of_a_chain(sections: Sections) -> None:
    used = table(sections["adaptive"], "Adaptive budgets over the allowances, tokens used")
    found = {str(row["policy"]): row for row in rows(used, "base", "s=16")}
    assert set(found) == {"agreement", "log-linear", "features", "oracle"}
    assert value(found["oracle"]["skill"]) == 1
    assert value(found["oracle"]["− uniform"]) >= value(found["features"]["− uniform"]) > 0
    assert "adaptive policies beat both controls" in sections["adaptive"].finding
    assert isinstance(found["oracle"]["− blind"], Measured)
    assert found["oracle"]["− blind"].holds is None  # a bound is no policy, and is in no correction
    assert isinstance(found["features"]["− blind"], Measured)
    assert found["features"]["− blind"].holds is not None


def test_allocation(sections: Sections) -> None:
    [row] = rows(table(sections["allocation"], "Allocation"), "base")
    tokens = [made_lab.length("base", n) + made_lab.ANSWER for n in range(PROBLEMS)]
    rates = [
        sum(min(t, made_lab.length("base", n)) == made_lab.length("base", n) for t in made_lab.THINK)
        * sum(not made_lab.unlucky(n, s) for s in range(0, made_lab.SAMPLES, 2))  # the half that says what is hard
        for n in range(PROBLEMS)
    ]
    assert value(row["adaptation 30% / 30%"]) == pytest.approx(adaptation_ratio(tokens, rates))  # type: ignore[arg-type]
    assert value(row["efficiency"]) > 0.5
    [levels] = rows(table(sections["allocation"], "Mean tokens"), "base")
    assert [value(levels[str(n)]) for n in range(2, 8)] == [17, 27, 37, 47, 57, 67]


def test_tokens_are_measured_on_other_samples_than_those_that_say_what_is_hard(evidence: Evidence) -> None:
    def ratio(answers: pl.DataFrame) -> float:
        changed = replace(evidence, models=["base"], _read={("answers", "base", "test"): answers})
        [row] = rows(table(allocation.section(changed), "Allocation"), "base")
        return value(row["adaptation 30% / 30%"])

    answers = evidence.answers("base", "test")
    even, odd = (pl.col("sample") % 2 == rest for rest in (0, 1))
    assert ratio(answers.with_columns(n_think=pl.when(even).then(1).otherwise("n_think"))) == ratio(answers)
    assert ratio(answers.with_columns(n_think=pl.when(odd).then(1).otherwise("n_think"))) != ratio(answers)
    with pytest.raises(DataError, match="one sample a problem"):
        ratio(answers.filter(even))


def test_a_strategy_that_gives_the_answers_of_another_is_tested_once(evidence: Evidence) -> None:
    answers = evidence.answers("base", "test")
    same = answers.filter(pl.col("run") == "s1_r1")
    twin = same.with_columns(run=pl.lit("s1_original"), method=pl.lit("s1_original"))
    changed = replace(evidence, models=["base"], _read={("answers", "base", "test"): pl.concat([answers, twin])})
    once = grid.section(replace(evidence, models=["base"]))
    twice = grid.section(changed)
    assert twice.finding == once.finding
    assert "S1 for R1 gave the very answers of S1 here" in twice.notes[-1]
    [first, second] = [rows(table(twice, "Separate budgeting"), "base", name) for name in ("S1", "S1 for R1")]
    assert [row["t = 16"] for row in first] == [row["t = 16"] for row in second]


def test_mixtures_rise_with_the_share_of_hard_problems(sections: Sections) -> None:
    found = rows(table(sections["mixtures"], "Every mixture"), "base", 100)
    assert [value(row["hard"]) for row in found] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    tokens = [value(row["tokens"]) for row in found]
    steps = [after - before for before, after in pairwise(tokens)]
    assert min(steps) > 0
    assert steps == pytest.approx([steps[0]] * 6)  # an expectation is straight in the share


def test_lengths(sections: Sections) -> None:
    [row] = rows(table(sections["lengths"], "Tokens of an answer"), "base", "16+16", "correct")
    short = [n for n in range(PROBLEMS) if made_lab.length("base", n) <= 16]
    lucky = [n for n, s in product(short, range(made_lab.SAMPLES)) if not made_lab.unlucky(n, s)]
    assert value(row["answers"]) == len(lucky)
    assert value(row["mean"]) == 10 + made_lab.ANSWER
    [samples] = rows(table(sections["lengths"], "Mean@2"), "r1", "48")
    assert value(samples["Mean@2"]) == pytest.approx(share("r1", "r1", 48))
    lucky_once = [any(not made_lab.unlucky(n, s) for s in range(made_lab.SAMPLES)) for n in range(PROBLEMS)]
    assert value(samples["Pass@2"]) == pytest.approx(sum(lucky_once) / PROBLEMS)


def test_models_without_right_answers_in_common_are_not_compared_by_length(evidence: Evidence) -> None:
    wrong: dict[tuple[str, ...], pl.DataFrame] = {
        ("answers", model, "test"): evidence.answers(model, "test").with_columns(verdict=pl.lit("wrong"))
        for model in made_lab.MODELS
    }
    assert "r1 has none" in lengths.section(replace(evidence, _read=wrong)).finding


def test_mistakes(sections: Sections) -> None:
    shares = table(sections["mistakes"], "Shares")
    classes = [column.name for column in shares.columns[2:10]]
    for row in rows(shares):
        assert sum(value(row[name]) for name in classes) == pytest.approx(1)
    [free] = rows(shares, "base", "none")
    # Every step is right and the last is there, but another number is boxed: bad luck.
    assert value(free["wrong box"]) == pytest.approx(1 - share("base", "base", 100))
    assert value(free["correct"]) == pytest.approx(share("base", "base", 100))


def test_behaviours(sections: Sections) -> None:
    found = table(sections["behaviours"], "Behaviours")
    [row] = rows(found, "base", "verification")
    checks = sum(made_lab.terms(n) - 1 for n in range(PROBLEMS)) / PROBLEMS
    assert value(row["a response"]) == pytest.approx(checks)
    [filler] = rows(found, "r1", "filler")
    assert value(filler["a response"]) == pytest.approx(3 * checks)
    assert value(filler["− base"]) == pytest.approx((3 - 8) * checks)


def test_transfer(sections: Sections) -> None:
    found = rows(table(sections["transfer"], "Change"), "r1")
    assert {(row["problems of the"], row["budget"]) for row in found} == set(
        product(("trained family", "second family"), ("at 16+16", "no budget"))
    )
    at_main = next(row for row in found if row["budget"] == "at 16+16")
    assert value(at_main["accuracy"]) == pytest.approx(share("r1", "r1", 16) - share("base", "base", 16))


def test_log_linear(sections: Sections) -> None:
    [half] = rows(table(sections["log-linear"], "What a wanted"), "base", 0.5)
    [most] = rows(table(sections["log-linear"], "What a wanted"), "base", 0.99)
    assert 22 < value(half["tokens used"]) < 50
    assert half["otherwise"] == ""
    assert most["tokens used"] is None
    assert "beyond it says nothing" in str(most["otherwise"])
    missed = [value(row["above the line"]) for row in rows(table(sections["log-linear"], "Every budget"), "base")]
    assert sum(missed) == pytest.approx(0, abs=1e-9)
    [fit] = rows(table(sections["log-linear"], "accuracy = a"), "base")
    assert value(fit["largest residual"]) == max(missed, key=abs)
    assert "8+16" in {row["budget"] for row in rows(table(sections["log-linear"], "Every budget"), "base")}


def test_cost(sections: Sections) -> None:
    [row] = [row for row in rows(table(sections["cost"], "What every run"), "base", "test") if row["run"] == "s1_r1"]
    thought = [
        sum(min(t, made_lab.length("base", n)) for t in made_lab.THINK) * len(made_lab.SOLUTION)
        for n in range(PROBLEMS)
    ]
    written = len(made_lab.THINK) * sum(min(s, made_lab.ANSWER) for s in made_lab.SOLUTION)
    assert value(row["B"]) == pytest.approx(made_lab.SAMPLES * (sum(thought) / PROBLEMS + written))
    assert value(row["seconds, p50"]) == 0.5
    assert value(row["prefilled"]) == 3
    # 3 tokens read anew, the prompt sent again with every forced answer, sampled ones at the price of output.
    assert value(row["USD for 1,000 problems"]) > 1000 * value(row["sampled"]) * 2.19 / 1e6


def test_variation(sections: Sections) -> None:
    found = rows(table(sections["variation"], "Variation"), "r1", "none")
    assert value(found[0]["runs"]) == made_lab.SAMPLES
    assert value(found[0]["accuracy"]) == pytest.approx(share("r1", "r1", 100))
    assert value(found[0]["another run"]) > 0


def test_published_figures_of_other_problems_do_not_compare_and_say_why(sections: Sections) -> None:
    [found] = sections["published"].tables
    verdicts = {row["verdict"] for row in rows(found)}
    assert verdicts == {"not comparable"}
    assert all("other problems: chains here" in str(row["why"]) for row in rows(found))
    assert sections["published"].finding.startswith("0 of ")
    beside = {str(row["published"]): str(row["ours"]) for row in rows(found)}
    trained = [name for name in beside if " + ALP" in name or "after 640 steps" in name]
    assert len(trained) > 1
    assert {beside[name].split(",")[0] for name in trained} == {"r1"}
    assert {beside[name].split(",")[0] for name in beside if "before" in name and "Qwen3" in name} == {"base"}


def test_every_table_of_accuracies_says_how_answers_ended(analysis: Analysis) -> None:
    ended = {"forced", "truncated", "no answer", "timeout", "error", "problems", "samples"}
    # These give no accuracy of answers as they were sampled, and the answers' endings stand in the table after them.
    without = ("Published", "What a wanted", "Planned", "pass@k = c", "Every allowance", "Every mixture")
    for section in analysis.sections:
        for found in section.tables:
            names = {column.name for column in found.columns}
            accuracies = {"accuracy", "majority", "pass@k", f"Mean@{made_lab.SAMPLES}"} & {
                column.name for column in found.columns if column.unit == "share"
            }
            if accuracies and not found.title.startswith(without):
                assert ended <= names, f"{section.key}: {found.title}"
