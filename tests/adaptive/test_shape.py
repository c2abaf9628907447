from __future__ import annotations

import pytest

from elastic.adaptive.shape import Shape
from elastic.budget import Budget
from elastic.errors import BudgetError

GRID = [Budget(think, solution) for think in (8, 16, 32) for solution in (8, 16)]


def test_shapes_pick_their_budgets() -> None:
    assert [str(GRID[place]) for place in Shape("s=16").columns(GRID)] == ["8+16", "16+16", "32+16"]
    assert [str(GRID[place]) for place in Shape("s:t=1:2").columns(GRID)] == ["16+8", "32+16"]
    assert Shape("free").columns(GRID) == [0, 1, 2, 3, 4, 5]


def test_a_shape_without_a_choice_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"has 0 budget\(s\) of the shape s=12"):
        Shape("s=12").columns(GRID)


@pytest.mark.parametrize("text", ["s=", "t=8", "free ", "s:t=1"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BudgetError, match="names no budgets"):
        Shape(text)
