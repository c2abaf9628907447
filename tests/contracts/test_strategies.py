"""A strategy and its line of text: one gives the other, and what is misspelt is refused with what is known."""

from __future__ import annotations

import pytest

from elastic.budget import Budget
from elastic.contracts.params.common import Strict, validate
from elastic.contracts.params.strategies import (
    S1R1,
    EarlyStop,
    Fractured,
    Grid,
    L1Exact,
    Nested,
    S1Original,
    Strategy,
    StrategyText,
    Swap,
    parse_strategy,
)
from elastic.errors import ParamsError

PAIRS = [
    ("nested", Nested()),
    ("fractured:depths=8,last=4", Fractured(depths=8, last=4)),
    ("early_stop:first=16,every=8", EarlyStop(first=16, every=8)),
    ("l1_exact:targets=[24,48]", L1Exact(targets=(24, 48))),
    ("swap:solver=r1", Swap(solver="r1")),
    (r"s1_r1:cue=\boxed{", S1R1(cue=r"\boxed{")),
    (r's1_original:cue="\nso, then",wait=check:,waits=2', S1Original(cue="\nso, then", wait="check:", waits=2)),
    (r's1_original:cue=" \"x\" "', S1Original(cue=' "x" ')),
]


@pytest.mark.parametrize(("text", "strategy"), PAIRS)
def test_text_and_strategy_give_each_other(text: str, strategy: Strategy) -> None:
    assert parse_strategy(text) == strategy
    assert strategy.run == text


def test_the_canonical_text_leaves_defaults_out_and_orders_settings() -> None:
    assert parse_strategy(" fractured:draws=2,depths=16,rounding=floor").run == "fractured:draws=2"
    assert parse_strategy(r's1_r1:cue="\n\n**Final Answer:**\n\n"').run == "s1_r1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fracture", r"no strategy 'fracture'.*\n.*nested, .*fractured, "),
        ("fractured:depth=4", r"fractured has no setting 'depth'.*\n.*depths, draws, last, rounding"),
        ("nested:limit=4", r"nested has no setting 'limit'.*\n.*name it alone"),
        ("fractured:depths=many", "depths: .*valid integer"),
        ("fractured:depths=4,last=5", "last 5 is over depths 4"),
        ("fractured:depths=4,depths=5", "depths is set twice"),
        ("fractured:depths", "'depths' sets nothing"),
        ("early_stop:repeats=1", "repeats: .*greater than or equal to 2"),
        ("l1_exact:suffix= Think.", "suffix: "),
        ("swap", "solver: Field required"),
        ('s1_r1:cue="so', "cue is not valid JSON"),
        ('s1_r1:cue="so"then', "'then' follows the value of cue"),
    ],
)
def test_what_is_misspelt_is_refused_with_what_is_known(text: str, message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        parse_strategy(text)


class Block(Strict):
    strategies: list[StrategyText]


def test_a_params_block_names_strategies_by_their_text() -> None:
    block = validate(Block, {"strategies": ["nested", "fractured:depths=4"]}, where="evaluate")
    assert block.strategies == [Nested(), Fractured(depths=4)]
    assert validate(Block, block.model_dump(mode="json"), where="evaluate") == block
    with pytest.raises(ParamsError, match=r"evaluate\.strategies\.1: .*no strategy 'nest'"):
        validate(Block, {"strategies": ["nested", "nest"]}, where="evaluate")


def test_a_grid_knows_its_largest_budgets_and_misses_its_limit_when_it_is_needed() -> None:
    grid = Grid(budgets=["24+20", "48+8"])
    assert (grid.think, grid.solution) == (48, 20)
    assert Grid(budgets=(Budget(1, 2),), limit=9).limit_for("fractured") == 9
    with pytest.raises(ParamsError, match="fractured thinks up to the limit"):
        grid.limit_for("fractured")
    with pytest.raises(ParamsError, match="name one budget twice"):
        validate(Grid, {"budgets": ["1+2", "1+2"]}, where="grid")
