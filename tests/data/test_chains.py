"""The laptop world: right by arithmetic, bounded, and deterministic."""

from __future__ import annotations

import re

import pytest

from elastic.contracts.chains import Chain
from elastic.data.chains import ChainsConfig, ChainsDataset
from elastic.errors import ParamsError

STEP = re.compile(r"[A-J](\d+)([+-]\d)=(\d+)")


def test_a_chain_worked_by_hand() -> None:
    chain = Chain(4, ("+3", "-7"))
    assert chain.question == "A4 B+3 C-7=?"
    assert chain.totals == [4, 7, 0]
    assert chain.steps(terse=False) == ["B4+3=7", "C7-7=0"]
    assert chain.steps(terse=True) == ["B7", "C0"]


def test_a_chain_of_extremes_worked_by_hand() -> None:
    chain = Chain(4, ("^3", "~7", "~2", "^11"))
    assert chain.question == "A4 B^3 C~7 D~2 E^11=?"
    assert chain.totals == [4, 4, 4, 2, 11]
    assert chain.steps(terse=False) == ["B4^3=4", "C4~7=4", "D4~2=2", "E2^11=11"]
    assert chain.steps(terse=True) == ["B4", "C4", "D2", "E11"]


def test_extremes_are_right_bounded_and_not_all_of_one_kind() -> None:
    rows = [ChainsDataset(ChainsConfig(size=300, family="extremes"))[i] for i in range(300)]
    steps = re.findall(r"[A-J](\d+)([\^~])(\d+)=(\d+)", " ".join(row["metadata"]["thinking"] for row in rows))
    assert {sign for _, sign, _, _ in steps} == {"^", "~"}
    for left, sign, term, right in steps:
        assert int(right) == (max if sign == "^" else min)(int(left), int(term)) <= 19
    assert all(row["metadata"]["solution"].endswith(f"\\boxed{{{row['answer']}}}") for row in rows)
    assert len({row["answer"] for row in rows}) > 12


def test_every_demonstration_is_right_bounded_and_of_the_length_asked_for() -> None:
    config = ChainsConfig(size=500, min_terms=2, max_terms=5, max_total=12)
    for row in (ChainsDataset(config)[i] for i in range(500)):
        terms = [int(word) for word in re.findall(r"[A-J]([+-]?\d+)", row["question"])]
        totals = [sum(terms[: i + 1]) for i in range(len(terms))]
        assert 2 <= len(terms) <= 5
        assert all(0 <= total <= 12 for total in totals)
        assert row["answer"] == str(totals[-1])
        assert row["metadata"]["solution"].endswith(f"\\boxed{{{totals[-1]}}}")
        for left, term, right in STEP.findall(row["metadata"]["thinking"] + row["metadata"]["solution"]):
            assert int(left) + int(term) == int(right)


def test_shares_of_0_and_1_switch_habits_off_and_on() -> None:
    quiet = ChainsDataset(ChainsConfig(size=200, checks=(1,), terse_share=0, filler_share=0, max_recomputed=0))
    loud = ChainsDataset(ChainsConfig(size=200, checks=(0, 0, 1), terse_share=0, filler_share=1))
    for i in range(200):
        assert re.fullmatch(r"([A-J]\d+[+-]\d=\d+ ?)+", quiet[i]["metadata"]["thinking"])
        assert quiet[i]["metadata"]["solution"] == f"\\boxed{{{quiet[i]['answer']}}}"
        thinking = loud[i]["metadata"]["thinking"]
        assert thinking.count("check:") == 2
        assert len(re.findall(r"so|now|then", thinking)) == len(STEP.findall(thinking))


def test_an_item_depends_on_its_seed_and_number_alone() -> None:
    assert ChainsDataset(ChainsConfig(seed=5, size=10))[3] == ChainsDataset(ChainsConfig(seed=8, size=1))[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("family", "products"),
        ("min_terms", 1),
        ("max_terms", 99),
        ("max_total", 5),
        ("checks", ()),
        ("terse_share", 2),
        ("max_recomputed", -1),
    ],
)
def test_an_impossible_world_is_refused_by_key(key: str, value: object) -> None:
    with pytest.raises(ParamsError, match="chains"):
        ChainsDataset(ChainsConfig(**{key: value}))
