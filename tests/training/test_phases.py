"""The turn from length adaptation to refinement is where made curves have it."""

from __future__ import annotations

import numpy as np

from elastic.training.phases import turning_step

STEPS = list(range(1, 101))


def test_a_fall_that_ends_at_step_30_turns_there() -> None:
    lengths = [max(100 - 2 * step, 40) for step in STEPS]
    assert turning_step(STEPS, lengths) == 30


def test_noise_moves_the_turn_by_a_few_steps_only() -> None:
    noise = np.random.default_rng(0).normal(0, 2, len(STEPS))
    found = turning_step(STEPS, [max(100 - 2 * step, 40) + e for step, e in zip(STEPS, noise, strict=True)])
    assert found is not None
    assert abs(found - 30) <= 4


def test_a_straight_course_has_no_turn() -> None:
    noise = np.random.default_rng(1).normal(0, 2, len(STEPS))
    assert turning_step(STEPS, [100 - 0.5 * step for step in STEPS]) is None
    assert turning_step(STEPS, [50 + e for e in noise]) is None
    assert turning_step(STEPS[:5], [5, 4, 3, 3, 3]) is None
